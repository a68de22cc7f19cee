"""The built-in scenes tear: a short and coarse run of each, without an intersection, and with a ledger."""

import pytest

from crumple.analysis import analyze_recording
from crumple.recording import Recording, create_recording
from crumple.recording.verify import verify_recording
from crumple.scenes import build, load_scene
from crumple.session.session import run

COARSE = ("remeshing.size_min=0.012", "remeshing.size_max=0.06", "solver.max_step=0.04", "run.duration=0.24")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tear-flat", "tear-light"])
def test_a_sheet_tears_without_intersections(name, tmp_path):
    scene = load_scene(name, COARSE)
    run(*build(scene)[:2], observers=[create_recording(tmp_path / "out", scene)])
    recording = Recording(tmp_path / "out")
    assert verify_recording(recording).passed
    tears = analyze_recording(recording).tears
    assert len(tears.cracks) == 1
    assert tears.length > 0.01
    path = tears.cracks[0].path
    assert path[-1, 1] > path[0, 1] + 0.005, "away from the slit"
    sound = 6e3
    assert sound / 4.01 <= tears.mean_energy <= 1.01 * sound, "creases make it easier, at most by the factor of creases"
    assert {curve.name for curve in tears.curves} == {"left", "right"}


@pytest.mark.slow
def test_the_strength_criterion_tears_the_same_scene(tmp_path):
    scene = load_scene("tear-flat", [*COARSE, "tearing.criterion=strength", "sheets[0].material.tensile_strength=6e7"])
    run(*build(scene)[:2], observers=[create_recording(tmp_path / "out", scene)])
    recording = Recording(tmp_path / "out")
    assert verify_recording(recording).passed
    tears = analyze_recording(recording).tears
    assert tears.length > 0.01
    assert all(crack.path[-1, 1] > 0.03 for crack in tears.cracks), "away from the slit"
