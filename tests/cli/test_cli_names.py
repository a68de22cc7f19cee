"""Names that look like markup, or that are no text: shown as they are, wherever they come from."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from recording_samples import make_recording
from typer.testing import CliRunner

import crumple
from crumple.cli.app import app

SOURCES = Path(crumple.__file__).parent


def test_info_of_a_log_with_markup(tmp_path):
    folder = make_recording(tmp_path / "r[/x]")
    end = {"seconds": 1.0, "faces": 2, "phases": {"[/x]": 1.0, "[bold": 0.5}, "warnings": ["[/y] [red]"]}
    with (folder / "log.jsonl").open("a") as log:
        log.write(json.dumps({"frame": 1, "energies": {"[/z]": 1.0}, "frame_end": end}) + "\n")
    result = CliRunner().invoke(app, ["info", str(folder)])
    assert result.exit_code == 0, result.output
    assert "[/x]" in result.output
    for command in (["verify"], ["analyze"], ["resume"], ["export", "--to", "ply"]):
        result = CliRunner().invoke(app, [command[0], str(folder), *command[1:]])
        assert "internal error" not in result.output
        assert "MarkupError" not in repr(result.exception)


def test_consoles_are_made_in_one_place():
    """Elsewhere nobody makes a console, or a column of a progress bar, that takes text for markup."""
    made = re.compile(r"(?<!\w)Console\(|\bTextColumn\(|from_markup|rich\.markup|rich import print")
    found = [path.name for path in SOURCES.rglob("*.py") if made.search(path.read_text(encoding="utf-8"))]
    assert found == ["consoles.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_a_folder_whose_name_is_not_text(tmp_path):
    folder = make_recording(tmp_path / "made")
    odd = os.fsencode(tmp_path) + b"/r\xff\xfe"
    os.rename(folder, odd)
    for command in (["info"], ["verify"], ["dataset", "-o", str(tmp_path / "d.h5")], ["export", "--to", "obj"]):
        run = [sys.executable, "-m", "crumple.cli", command[0], odd, *command[1:]]
        told = subprocess.run(run, capture_output=True, timeout=120, check=False)
        assert b"internal error" not in told.stderr, told.stderr
        assert b"Traceback" not in told.stderr, told.stderr


@pytest.mark.parametrize("module", ["crumple", "crumple.cli"])
def test_the_package_runs_as_a_module(module):
    """`python -m crumple` is the command line, and ends with its exit codes."""
    done = subprocess.run([sys.executable, "-m", module, "materials", "--json"], capture_output=True, check=False)
    assert done.returncode == 0
    assert "paper80" in json.dumps(json.loads(done.stdout))
    wrong = subprocess.run([sys.executable, "-m", module, "check", "no-such-scene"], capture_output=True, check=False)
    assert wrong.returncode == 2
