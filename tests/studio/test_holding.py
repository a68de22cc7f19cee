"""Hands in scenes that the studio simulates."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("aiohttp")

from crumple.recording import Recording, create_recording, state_digest
from crumple.recording.verify import verify_recording
from crumple.runtime.errors import InputError
from crumple.scenes import load_scene, scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studio.holding import MOST_HANDS, Holding, checked_wish
from crumple.studio.runs import SceneRun, StudioRun
from crumple.studio.worker import MOST_HEARD, Gate, Stopped

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


PATTERN = {
    "run": {"frame_time": 0.02, "duration": 1000.0},
    "solver": {"integrator": "implicit-euler"},
    "environment": {"gravity": [0.0, 0.0, 0.0]},
    "sheets": [
        {
            "material": "paper80",
            "shape": {"kind": "miura", "columns": 2, "rows": 2, "a": 0.03, "b": 0.03, "alpha": 60.0, "size": 0.03},
            "creases": [
                {
                    "name": "zigzags", "group": "zigzag", "drive": "hard",
                    "keys": [
                        {"time": 0.0, "angle": 0.0}, {"time": 2000.0, "angle": 0.0}, {"time": 2001.0, "angle": 120.0},
                    ],
                },
                {"name": "lines", "group": "straight", "drive": "free"},
            ],
        }
    ],
}  # fmt: skip
"""A Miura-ori that stays flat until somebody folds it."""


def drive(percent: object, group: object = "zigzags") -> dict:
    return {"do": "drive", "page": 1, "group": group, "percent": percent}


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
        drive(-0.1),
        drive(100.1),
        drive(float("nan")),
        drive(float("inf")),
        drive(10**400),
        drive("50"),
        drive(True),
        drive(None),
        drive(50, group=None),
        drive(50, group=["zigzags"]),
        drive(50, group=""),
        drive(50, group="z" * 201),
        {"do": "drive"},
    ],
)
def test_nonsense_is_refused(command):
    with pytest.raises(InputError):
        checked_wish({"page": 1, **command})


def test_hands_take_move_and_let_go(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    sim = Simulation(tmp_path / "scene.toml")
    holding = Holding(sim)
    for command in (grab(), grab(), move(0.05), move(0.05, hand=3), {"do": "release", "page": 1, "hand": 7}):
        holding.obey(checked_wish(command))
    assert len(sim.hands) == 1
    holding.send()
    assert sim.advance(0.02)
    assert sim.state.x[:, 2].max() > 0.01
    holding.obey({"do": "leave", "page": 1})
    assert not sim.hands
    sim.advance(0.02)
    for hand in range(MOST_HANDS + 2):
        with suppress(InputError):  # held there already, or there are too many
            holding.obey(checked_wish(grab(hand, x=0.008 * (hand - 5))))
    assert 1 <= len(sim.hands) <= MOST_HANDS


def test_what_cannot_be_done_is_refused_with_its_reason(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    sim = Simulation(tmp_path / "scene.toml")
    holding = Holding(sim)
    with pytest.raises(InputError, match="moved on"):
        holding.obey(checked_wish(grab(x=5.0)))
    holding.obey(checked_wish(grab(0)))
    with pytest.raises(InputError, match="held there already"):
        holding.obey(checked_wish(grab(1)))
    with pytest.raises(InputError, match="no driven creases"):
        holding.obey(checked_wish(drive(50)))
    assert len(sim.hands) == 1


class Pipe:
    """Gives commands in their order, and keeps what is sent."""

    def __init__(self, *commands: object) -> None:
        self.commands, self.sent = list(commands), []

    def poll(self) -> bool:
        return bool(self.commands)

    def recv(self) -> object:
        if not self.commands:
            raise EOFError
        return self.commands.pop(0)

    def send(self, news: dict) -> None:
        self.sent.append(news)


def test_a_page_is_told_what_was_refused_and_moves_of_a_pause_are_merged():
    sim = Simulation(scene_from_tables(PATTERN, source="test"))
    wishes = [drive(50, "nothing"), *(drive(k) for k in range(5000, 10000)), grab(x=5.0)]
    wishes = [one | {"percent": one["percent"] / 100} if one["do"] == "drive" else one for one in wishes]
    pipe = Pipe("pause", *map(checked_wish, wishes), "continue")
    gate = Gate(pipe)
    gate.on_start(sim.model, sim.state)
    assert len(gate._wishes._waiting) == 3
    gate.fulfil(Holding(sim))
    refused = [one["refused"] for one in pipe.sent if "refused" in one]
    assert [one.page for one in refused] == [1, 1]
    assert "zigzags" in refused[0].message
    assert "moved on" in refused[1].message
    assert [one["state"] for one in pipe.sent if "state" in one] == ["running", "paused", "running"]
    assert pipe.sent[0]["drives"] == {"zigzags": (0.0, 0.0)}
    gate.on_start(sim.model, sim.state)
    assert pipe.sent[-1]["drives"] == {"zigzags": (0.0, 100.0)}
    with pytest.raises(Stopped):
        Gate(Pipe("pause")).on_start(sim.model, sim.state)


def test_a_run_goes_on_while_pages_talk_without_a_pause():
    sim = Simulation(scene_from_tables(PATTERN, source="test"))
    asked = 0

    class Talking(Pipe):
        def poll(self) -> bool:
            return True

        def recv(self):
            nonlocal asked
            asked += 1
            return checked_wish(drive(asked % 100))

    Gate(Talking()).on_start(sim.model, sim.state)
    assert asked == MOST_HEARD


def test_a_run_that_was_driven_by_hand_goes_on_bit_by_bit(tmp_path):
    scene = scene_from_tables(PATTERN, source="test")
    whole = Simulation(scene)
    with create_recording(tmp_path / "run", scene) as recorder:
        holding, percents = Holding(whole), {2: 40.0, 4: 80.0}

        def between() -> None:
            if whole.state.frame in percents:
                holding.obey(checked_wish(drive(percents[whole.state.frame])))

        whole.run(6, observers=[recorder], between=between)
    assert whole.drives()["zigzags"] > 5.0
    assert verify_recording(Recording(tmp_path / "run")).passed
    for frame in (0, 3):
        with pytest.raises(InputError, match=r"zigzags.*go on from frame 4 or later"):
            Simulation.resume(tmp_path / "run", frame=frame)
    again = Simulation.resume(tmp_path / "run", frame=4)
    again.run(6)
    again.close()
    assert state_digest(again.state) == state_digest(whole.state)
    for sim in (again, whole):
        sim.run(9)
    assert state_digest(again.state) == state_digest(whole.state)


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


@pytest.mark.slow
def test_a_run_goes_on_while_no_page_is_open(tmp_path):
    """Nobody asks how far it is: what it says of itself must not fill the pipe."""
    tables = {
        "run": {"frame_time": 0.01, "duration": 3.0},
        "environment": {"gravity": [0.0, 0.0, 0.0]},
        "sheets": [{"shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.1}, "material": "cotton"}],
    }
    folder = tmp_path / "run"
    run = StudioRun(folder, SceneRun(scene_from_tables(tables, source="test"), folder, False))
    run.start()
    try:
        wait(lambda: len(list(folder.glob("frames/*.vtkhdf"))) == 301, 120)
        wait(lambda: run.simulation.progress().is_over)
    finally:
        said = run.close()
    assert "frames 0 to 300" in said


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
