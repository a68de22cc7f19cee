"""Hands in scenes that the studio simulates."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("aiohttp")

from crumple.recording import Recording, state_digest
from crumple.runtime.errors import InputError
from crumple.scenes import load_scene, scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studio.holding import MOST_HANDS, Holding, checked_hold
from crumple.studio.runs import SceneRun, StudioRun

SCENE = """
[run]
frame_time = 0.02
duration = 1000.0
[environment]
gravity = [0.0, 0.0, 0.0]
[[sheets]]
shape = { kind = "rectangle", width = 0.1, height = 0.1, size = 0.05 }
material = "cotton"
"""


def grab(hand: int = 0, page: int = 1, x: float = 0.0) -> dict:
    return {"do": "grab", "page": page, "hand": hand, "origin": [x, 0, 1], "direction": [0, 0, -1]}


def move(height: float, hand: int = 0, page: int = 1) -> dict:
    return {"do": "move", "page": page, "hand": hand, "position": [0, 0, height]}


@pytest.mark.parametrize(
    "command",
    [
        {"do": "explode", "hand": 0},
        {"do": "grab", "hand": 0},
        {"do": "move", "hand": 0, "position": [0, 0, float("nan")]},
        {"do": "move", "hand": 0, "position": [0, 0, "high"]},
        {"do": "release", "hand": -1},
        {"do": "release"},
    ],
)
def test_nonsense_is_refused(command):
    with pytest.raises(InputError):
        checked_hold({"page": 1, **command})


def test_hands_take_move_and_let_go(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    sim = Simulation(tmp_path / "scene.toml")
    holding = Holding(sim)
    for command in (grab(), grab(), move(0.05), move(0.05, hand=3), {"do": "release", "page": 1, "hand": 7}):
        holding.obey(checked_hold(command))
    assert len(sim.hands) == 1
    holding.send()
    assert sim.advance(0.02)
    assert sim.state.x[:, 2].max() > 0.01
    holding.obey({"do": "leave", "page": 1})
    assert not sim.hands
    sim.advance(0.02)
    for hand in range(MOST_HANDS + 2):
        holding.obey(checked_hold(grab(hand, x=0.008 * (hand - 5))))
    assert 1 <= len(sim.hands) <= MOST_HANDS


def wait(check, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
def test_a_running_scene_feels_a_hand_and_can_be_resumed(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    folder: Path = tmp_path / "run"
    run = StudioRun(folder, SceneRun(load_scene(tmp_path / "scene.toml"), folder, False))
    with pytest.raises(InputError, match="only one that runs"):
        run.hold(grab())
    run.start()
    try:
        wait(lambda: run.refresh()["count"] > 1, 120)
        run.hold(grab())
        run.hold(move(0.2))
        highest = lambda: float(Recording(folder).load(Recording(folder).frames[-1]).x[:, 2].max())  # noqa: E731
        wait(lambda: highest() > 0.05)
        run.forget_page(1)
        run.command("stop")
        wait(lambda: run.simulation.progress().is_over)
    finally:
        run.close()
    recording = Recording(folder)
    last = recording.load(recording.frames[-1])
    with Simulation.resume(folder) as sim:
        assert state_digest(sim.state) == state_digest(last)
        sim.advance_frame()
        assert np.isfinite(sim.state.x).all()


def test_a_recording_cannot_be_taken(recorded):
    with pytest.raises(InputError, match="is a recording"):
        StudioRun(recorded).hold(grab())


def test_a_run_with_something_between_its_frames_is_no_script():
    tables = {
        "run": {"frame_time": 0.01, "duration": 0.03},
        "sheets": [{"shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.05}, "material": "cotton"}],
    }
    sim, calls = Simulation(scene_from_tables(tables, source="test")), []
    sim.run(between=lambda: calls.append(sim.state.frame))
    assert calls == [0, 1, 2]
    with pytest.raises(InputError, match="script"):
        sim.script()
