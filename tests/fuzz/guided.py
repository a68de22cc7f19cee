"""A target under atheris: `python guided.py TARGET [libFuzzer options] FOLDER...`; called by fuzz.py."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["crumple.scenes", "crumple.mesh.io.obj", "crumple.materials", "tomllib"]):
    import fuzz_cases

TARGET = sys.argv.pop(1)
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))


def feed(data: bytes) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    fuzz_cases.FEEDS[TARGET](data, FOLDER)


atheris.Setup(sys.argv, feed)
atheris.Fuzz()
