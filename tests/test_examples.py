"""Every example runs and its own assertion holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LONG = ("crumple_and_release", "cylinder_grid", "fold_in_half")
"""Examples that take minutes; `pytest -m long` runs them."""
EXAMPLES = [
    pytest.param(path, marks=pytest.mark.long if path.stem in LONG else (), id=path.stem)
    for path in sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
]


@pytest.mark.parametrize("path", EXAMPLES)
def test_example(path, tmp_path):
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example tells what it found"
