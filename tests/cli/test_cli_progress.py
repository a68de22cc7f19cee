"""A frame that costs far more than others says so while it goes on."""

from __future__ import annotations

import io
import time
from dataclasses import replace

import numpy as np
import pytest
from recording_samples import frame_report, step_report
from rich.console import Console

from crumple.cli import costs, progress, waiting
from crumple.cli.costs import FrameCost
from crumple.cli.progress import RunProgress
from crumple.runtime.timing import PhaseTimer
from crumple.scenes import build, load_scene
from crumple.session.session import run

SCENE = """
[run]
frame_time = 0.02
duration = 0.04
[[sheets]]
shape = {{ kind = "rectangle", width = 0.1, height = 0.08, size = {size} }}
material = "cotton"
"""


def scene_state(folder, size: float):
    path = folder / f"scene-{size}.toml"
    path.write_text(SCENE.format(size=size))
    return build(load_scene(path))[:2]


@pytest.fixture(scope="module")
def coarse(tmp_path_factory):
    return scene_state(tmp_path_factory.mktemp("scenes"), 0.02)


def test_the_phase_that_is_going_on():
    timer = PhaseTimer()
    assert timer.phase == ""
    with timer("remeshing"):
        with timer("collision"):
            assert timer.phase == "collision"
        assert timer.phase == "remeshing"
    assert timer.phase == ""


def test_a_mesh_that_explodes_is_told_of_with_its_cause(coarse, tmp_path):
    model, state = coarse
    _, fine = scene_state(tmp_path, 0.0015)
    assert fine.mesh.face_count > costs.MANY_FACES
    cost = FrameCost()
    cost.on_frame_start(model, state)
    assert "size_min" in cost.on_mesh(fine)
    stretched = fine.replaced(x=fine.x * np.array([1.5, 1.0, 1.0]))
    assert "strained by up to 50 %" in cost.on_mesh(stretched)
    cost.on_frame_start(model, fine)
    assert cost.on_mesh(fine) == ""


def test_many_iterations_are_told_of_once_per_frame(coarse):
    model, state = coarse
    cost = FrameCost()
    cost.on_frame_start(model, state)
    hard = replace(step_report(0.0), iterations=400, step=1e-6, trouble="Newton's method did not converge")
    said = [cost.on_step(state, hard) for _ in range(5)]
    assert [bool(text) for text in said] == [False, False, True, False, False]
    assert "1200 Newton iterations" in said[2]
    assert "steps of 1e-06 s (Newton's method did not converge)" in said[2]
    cost.on_frame_start(model, state)
    dense = replace(hard, step=0.02, contacts=10 * state.mesh.face_count, iterations=1001)
    assert "pressed together" in cost.on_step(state, dense)


def test_long_seconds_are_told_of(coarse, monkeypatch):
    model, state = coarse
    monkeypatch.setattr(costs, "MANY_SECONDS", 0.0)
    cost = FrameCost()
    cost.on_frame_start(model, state)
    assert cost.on_step(state, step_report(0.0)) == ""  # nothing to compare with
    cost.on_frame(replace(frame_report(state), seconds=1e-6))
    cost.on_frame_start(model, state)
    time.sleep(0.001)
    assert "takes long" in cost.on_step(state, step_report(0.0))


def test_a_log_file_gets_a_line_while_a_frame_goes_on(coarse, monkeypatch):
    model, state = coarse
    monkeypatch.setattr(progress, "HEARTBEAT", 0.5)
    monkeypatch.setattr(progress, "LONG_FRAME", 0.1)
    text = io.StringIO()
    shown = RunProgress(Console(file=text, force_terminal=False, width=200), 2)
    timer = PhaseTimer()
    shown.on_start(model, state)
    shown.on_frame_start(model, state, timer)
    with timer("factorisation"):
        limit = time.monotonic() + 10.0
        while "factorisation" not in text.getvalue() and time.monotonic() < limit:
            time.sleep(0.05)
    shown.on_end(model, state)
    assert "frame 1: " in text.getvalue()
    assert "in factorisation; 0 steps and 0 Newton iterations so far" in text.getvalue()


def test_a_run_tells_observers_when_frames_begin(coarse):
    model, state = coarse
    text = io.StringIO()
    run(model, state, [RunProgress(Console(file=text, force_terminal=True, width=160), 2)])
    assert "frame 2/2" in text.getvalue()


@pytest.mark.parametrize(("seconds", "told"), [(0.0, 0), (0.3, 3)])
def test_what_takes_long_is_told(monkeypatch, seconds, told):
    monkeypatch.setattr(waiting, "PATIENCE", 0.1)
    monkeypatch.setattr(waiting, "HEARTBEAT", 0.07)
    console = Console(file=io.StringIO(), force_terminal=False)
    with waiting.told_when_long(console, "checking a.fold"):
        time.sleep(seconds)
    lines = console.file.getvalue().splitlines()
    assert (len(lines) >= told) if told else not lines
    assert all(line.startswith("checking a.fold, 0 s so far") for line in lines)
