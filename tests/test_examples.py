"""Every example runs and its own assertion holds."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from crumple.recording import Recording, create_recording, resume_recording
from crumple.recording.frame import state_digest
from crumple.recording.verify import verify_recording
from crumple.session.session import run

LONG = ("crumple_and_release", "cylinder_grid", "fold_in_half")
"""Examples that take minutes; `pytest -m long` runs them."""
NEEDED = {"scripted_policies": ("gymnasium", "learn")}
"""Packages of extras that examples need."""
EXAMPLES = [
    pytest.param(path, marks=pytest.mark.long if path.stem in LONG else (), id=path.stem)
    for path in sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
]


@pytest.mark.parametrize("path", EXAMPLES)
def test_example(path, tmp_path):
    if path.stem in NEEDED:
        package, extra = NEEDED[path.stem]
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'crumple[{extra}]'")
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example tells what it found"


OWN = sorted((Path(__file__).parent.parent / "examples").glob("own_*.py"))
"""Examples of parts of one's own: a field, an energy, a term, a plastic rule, a sizing criterion."""


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_parts_of_ones_own_survive_remeshing_resume_and_verify(path, tmp_path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model, state = module.make()
    whole = run(model, state, frames=2)
    with create_recording(tmp_path / "run", "") as recorder:
        run(model, state, [recorder], frames=1)
    taken_up, recorder = resume_recording(tmp_path / "run")
    with recorder:
        last = run(model, taken_up, [recorder], frames=2)
    assert state_digest(last) == state_digest(whole)
    assert last.mesh.face_count != state.mesh.face_count
    assert set(last.own) == set(state.own)
    assert verify_recording(Recording(tmp_path / "run")).passed
    assert sum(bool(line.strip()) for line in path.read_text().splitlines()) < 30, "shown in less than 30 lines"
