"""A session over an engine: the same bits however it is advanced, going back, events, recordings, bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from crumple.boundary.handles import Handle
from crumple.cli.app import app
from crumple.model.model import Model
from crumple.recording import Recording, state_digest
from crumple.recording.verify import verify_recording
from crumple.runtime.errors import InputError, SimulationError
from crumple.scenes import build, dump_scene, scene_from_tables
from crumple.session.session import Session, run
from crumple.session.simulation import Simulation
from crumple.simulation import engine as engines
from crumple.simulation.engine import Engine, PhysicsEngine
from crumple.simulation.observers import Event, Observer, Statistics, StopRun

FRAME = 0.02
FRAMES = 4


def creasing() -> dict[str, object]:
    """The tables of a small sheet that is bent over a bar so far that it yields and is remeshed in every frame."""
    return {
        "name": "creasing",
        "run": {"frame_time": FRAME, "duration": FRAMES * FRAME},
        "contact": {"friction": 0.3},
        "remeshing": {"size_min": 0.006, "size_max": 0.03},
        "sheets": [
            {
                "name": "sheet",
                "material": {"preset": "paper80", "yield_curvature": 20},
                "shape": {"kind": "rectangle", "width": 0.08, "height": 0.04, "size": 0.02},
                "transform": {"translate": [0.0, 0.0, 0.0125]},
            }
        ],
        "handles": [
            {"name": "left", "sheet": "sheet", "select": {"kind": "side", "side": "left"}, "motion": "down"},
            {"name": "right", "sheet": "sheet", "select": {"kind": "side", "side": "right"}, "motion": "down"},
        ],
        "motions": {"down": {"rate": {"velocity": [0.0, 0.0, -0.2]}}},
        "obstacles": [
            {
                "name": "bar",
                "shape": {"kind": "cylinder", "radius": 0.01, "height": 0.1, "center": [0, 0, 0]},
                "transform": {"rotate": {"angle": 90, "axis": [1, 0, 0]}},
            }
        ],
    }


@pytest.fixture(scope="module")
def scene():
    return scene_from_tables(creasing(), source="creasing.toml")


@pytest.fixture(scope="module")
def digests(scene):
    """What every frame of the scene is, run by an engine in frames."""
    engine, found = PhysicsEngine(*build(scene)[:2]), []
    for _ in range(FRAMES):
        engine.advance_frame()
        found.append(state_digest(engine.state))
    assert np.abs(engine.state.plastic_curvature).max() > 0.0
    assert engine.state.mesh.face_count > build(scene).state.mesh.face_count
    return found


class Log(Observer):
    """The names of all that an observer is told, and the digests of frames."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.digests: list[str] = []
        self.frames: list[object] = []

    def on_start(self, model, state):
        self.calls.append("start")

    def on_frame_start(self, model, state, timer):
        self.calls.append("frame start")

    def on_mesh(self, model, state):
        self.calls.append("mesh")

    def on_step(self, model, state, report):
        self.calls.append("step")

    def on_frame(self, model, state, report):
        self.calls.append("frame")
        self.digests.append(state_digest(state))
        self.frames.append(report)

    def on_end(self, model, state):
        self.calls.append("end")


def test_the_same_bits_by_every_way(scene, digests, tmp_path):
    """A run, steps that end with frames, frames, the command line and the function `run` end in the same bits."""
    whole = Log()
    Session(PhysicsEngine(*build(scene)[:2])).run(observers=[whole])
    assert whole.digests == digests
    pieces, log = Simulation(scene), Log()
    pieces.observers.append(log)
    pieces.step(2 * FRAME)
    pieces.advance_frame()
    pieces.step(FRAME)
    assert log.digests == digests
    assert log.calls == whole.calls[1:-1], "observers are told the same"
    for one, other in zip(log.frames, whole.frames, strict=True):
        assert (one.steps, one.iterations, one.warnings, one.linear_solver, one.energies) == (
            other.steps, other.iterations, other.warnings, other.linear_solver, other.energies
        )  # fmt: skip
        assert one.phases.keys() == other.phases.keys()
        assert one.seconds > 0.0
    assert state_digest(run(*build(scene)[:2])) == digests[-1]
    (tmp_path / "creasing.toml").write_text(dump_scene(scene), encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(tmp_path / "creasing.toml"), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    recording = Recording(tmp_path / "out")
    assert [state_digest(recording.load(frame)) for frame in range(1, FRAMES + 1)] == digests


def test_steps_in_the_log_are_those_of_a_run(scene, tmp_path):
    """A frame that was stepped is recorded like one of a run."""
    with Simulation(scene) as sim:
        sim.record(tmp_path / "stepped")
        sim.step(0.7 * FRAME)
        sim.step(0.3 * FRAME)
    with Simulation(scene) as sim:
        sim.record(tmp_path / "run")
        sim.run(1)
    ends = []
    for name in ("stepped", "run"):
        lines = [line for line in Recording(tmp_path / name).log().lines if "frame_end" in line]
        assert len(lines) == 1
        ends.append(lines[0]["frame_end"])
    assert ends[0].keys() == ends[1].keys()
    assert ends[0]["phases"].keys() == ends[1]["phases"].keys()
    assert ends[0]["phases"]["preparation"] > 0.0
    assert ends[0]["linear_solver"] == ends[1]["linear_solver"] != ""


def test_undo_and_redo_give_back_the_same_bits(scene, digests):
    sim = Simulation(scene)
    first = state_digest(sim.state)
    for _ in range(FRAMES):
        sim.advance_frame()
    assert (sim.undo_count, sim.redo_count) == (FRAMES, 0)
    assert state_digest(sim.undo()) == digests[-2]
    assert state_digest(sim.undo(3)) == first
    assert state_digest(sim.redo(2)) == digests[1]
    sim.step(FRAME)
    assert state_digest(sim.state) == digests[2], "the same follows again"
    assert (sim.undo_count, sim.redo_count) == (3, 0), "what was undone is gone"
    assert state_digest(sim.undo()) == digests[1]
    with pytest.raises(InputError, match=r"undo: count = 3 \(must be 1 to 2"):
        sim.undo(3)
    with pytest.raises(InputError, match="must be a whole number"):
        sim.undo("a")
    assert state_digest(sim.reset()) == first
    assert sim.undo_count == 0


def test_undo_within_a_frame_keeps_its_reports(scene):
    sim, log = Simulation(scene), Statistics()
    sim.observers.append(log)
    sim.step(0.4 * FRAME)
    middle, steps = state_digest(sim.state), len(log.steps)
    sim.step(0.4 * FRAME)
    assert state_digest(sim.undo()) == middle
    later = len(log.steps)
    assert sim.advance_frame().steps == steps + len(log.steps) - later


def test_undo_takes_back_what_hands_did(scene):
    sim = Simulation(scene)
    sim.release("left")
    assert not np.any(sim.state.pins.handle == 0)
    sim.set_handle("right", rotation=[0.0, 0.5, 0.0])
    sim.step(FRAME)
    turned = sim.model.handles[1].target(sim.time, sim.state.pins.anchor)
    sim.undo(2)
    assert np.any(sim.state.pins.handle == 0)
    sim.redo()
    sim.set_handle("right", rotation=[0.0, 0.5, 0.0])
    sim.step(FRAME)
    again = sim.model.handles[1].target(sim.time, sim.state.pins.anchor)
    np.testing.assert_array_equal(again, turned, "rotations count from the start, also after going back")


def test_a_recording_goes_back_too(scene, digests, tmp_path):
    with Simulation(scene) as sim:
        sim.record(tmp_path / "run")
        for _ in range(3):
            sim.advance_frame()
        sim.undo(2)
        recording = Recording(tmp_path / "run")
        assert recording.frames == [0, 1]
        sim.redo()
        assert recording.frames == [0, 1, 2]
        sim.run()
    assert recording.frames == list(range(FRAMES + 1))
    assert [state_digest(recording.load(frame)) for frame in range(1, FRAMES + 1)] == digests
    assert sorted({line["frame"] for line in recording.log().lines}) == [1, 3, 4], "frame 2 came from redo"
    with Simulation(scene) as sim:
        sim.record(tmp_path / "gap")
        sim.advance_frame()
        sim.run(3)  # two frames at once
        sim.step(0.4 * FRAME)
        sim.undo(2)
        sim.undo()
        sim.redo(3)
        recording = Recording(tmp_path / "gap")
        assert recording.frames == [0, 1, 2, 3], "no frame is missing, also of those that were taken at once"
        assert [state_digest(recording.load(frame)) for frame in (1, 2, 3)] == digests[:3]
        sim.undo(3)
        for path in (tmp_path / "gap" / "set-aside").iterdir():
            path.unlink()
        with pytest.raises(InputError, match="set-aside"):
            sim.redo(3)
        assert recording.frames == [0]
        sim.redo()
        assert verify_recording(recording).passed
    with Simulation(scene) as sim:
        sim.advance_frame()
        sim.record(tmp_path / "late")
        with pytest.raises(InputError, match="begins with frame 1"):
            sim.undo()
        assert sim.state.frame == 1


def test_what_is_kept_is_bounded(scene, monkeypatch):
    sim = Simulation(scene)
    monkeypatch.setattr("crumple.session.history.KEPT_FACES", 3 * sim.state.mesh.face_count)
    for _ in range(5):
        sim.release("left")
    assert sim.undo_count == 3
    monkeypatch.setattr("crumple.session.history.KEPT_FACES", 1)
    sim.release("left")
    assert sim.undo_count == 1, "the last one always"


def test_stopping_finishes_the_frame(scene):
    class Stop(Observer):
        def on_step(self, model, state, report):
            raise StopRun

    log = Log()
    session = Session(PhysicsEngine(*build(scene)[:2]), observers=[log])
    assert session.run(observers=[Stop()]).frame == 1
    assert log.calls[-2:] == ["frame", "end"]


def test_a_step_that_fails_leaves_the_last_safe_state(scene, digests, monkeypatch):
    """The session goes on from there, with the same bits as if nothing had been."""
    sim = Simulation(scene)
    sim.advance_frame()
    real, left = engines.advance_once, [1]

    def fail(state, derived, end):
        if left.pop() == 0:
            raise SimulationError("no way")
        left.append(0)
        return real(state, derived, end)

    monkeypatch.setattr(engines, "advance_once", fail)
    sim.set_handle("left", rotation=[0.0, 0.4, 0.0])
    with pytest.raises(SimulationError, match="no way"):
        sim.step(FRAME)
    monkeypatch.undo()
    middle = sim.time
    assert FRAME < middle < 2 * FRAME
    wanted = sim.handle_position("left")
    sim.step(0.1 * FRAME)
    np.testing.assert_array_equal(sim.handle_position("left"), wanted, "it stays where it was when the step failed")
    sim.undo(2)
    sim.advance_frame()
    assert state_digest(sim.state) == digests[1]


def test_events_of_a_tear():
    """A sheet with a slit that is pulled apart: all of the work of fracture is told of, once."""
    sheet = {
        "material": "paper80",
        "shape": {"kind": "rectangle", "width": 0.06, "height": 0.05, "size": 0.01},
        "cuts": [{"line": [[0.03, -0.01], [0.03, 0.02]]}],
    }
    low = [
        {"name": name, "select": {"kind": "box", "low": [x - 0.005, -1, -1], "high": [x + 0.005, -0.014, 1]}}
        | {"motion": name, "stiffness": 1e5}
        for name, x in (("left", -0.03), ("right", 0.03))
    ]
    tables = {
        "run": {"frame_time": FRAME, "duration": 0.5},
        "environment": {"gravity": [0, 0, 0]},
        "solver": {"mode": "static", "max_step": 0.01},
        "tearing": {"initiation": False},
        "sheets": [sheet],
        "handles": low,
        "motions": {
            "left": {"rate": {"velocity": [-0.02, 0, 0]}},
            "right": {"rate": {"velocity": [0.02, 0, 0]}},
        },
    }
    sim = Simulation(scene_from_tables(tables, source="tear.toml"))
    sim.state = sim.state.replaced(x=sim.state.x - sim.state.x.mean(axis=0))
    events: list[Event] = []
    while sim.state.fracture_work == 0.0 or len(events) < 2:
        sim.advance_frame()
        events += [event for event in sim.events() if event.kind == "tear"]
        assert sim.state.frame < 25
    assert sum(event.energy for event in events) == pytest.approx(sim.state.fracture_work, rel=1e-12)
    assert all(0.0 < event.time <= sim.time and event.energy > 0.0 for event in events)


def test_events_of_a_mesh_that_may_not_grow(scene):
    model, state, _ = build(scene)
    limited = replace(model, remeshing=replace(model.remeshing, max_faces=state.mesh.face_count + 1))
    session, log = Session(PhysicsEngine(limited, state)), Statistics()
    session.run(2, observers=[log])
    found = [event for event in session.events() if event.kind == "warning"]
    assert [event.message for event in found] == [text for frame in log.frames for text in frame.warnings]
    assert any("max_faces" in event.message for event in found)


@pytest.mark.parametrize("dt", ["a", None, np.nan, np.inf, 0, -1.0, 1e-300, 1e-12, 1e300, [0.1], 10**400])
def test_steps_that_are_none(scene, dt):
    sim = Simulation(scene)
    with pytest.raises(InputError, match="step: dt"):
        sim.step(dt)
    assert sim.undo_count == 0


def test_other_bad_input(scene):
    sim = Simulation(scene)
    for frames in ("a", -1, 1.5, True):
        with pytest.raises(InputError, match="run: frames"):
            sim.run(frames)
    with pytest.raises(InputError, match="the scene has left, right"):
        sim.release("middle")
    with pytest.raises(InputError, match="the scene has bar"):
        sim.set_obstacle("left", [0.0, 0.0, 0.0])
    for wrong in ("abc", [1.0, 2.0], [[1.0, 2.0], [3.0]], [0.0, np.nan, 0.0], [10**400, 0, 0]):
        with pytest.raises(InputError, match="three finite numbers"):
            sim.set_obstacle("bar", wrong)
    with pytest.raises(InputError, match="reach"):
        sim.grasp("left", [0.0, 0.0, 0.0], reach=np.nan)


class Falling(Engine):
    """Another engine: everything falls with one speed, a step is a frame, and it knows something of its own."""

    def __init__(self, model: Model, state) -> None:
        self._model, self._state, self.count = model, state, 0

    @property
    def model(self):
        return self._model

    @property
    def state(self):
        return self._state

    @property
    def moment(self):
        return engines.Moment(self._model, self._state, self.count)

    def restore(self, moment):
        self._model, self._state, self.count = moment.model, moment.state, moment.inner

    def change(self, model, state):
        self._model, self._state = model, state

    def advance(self, until, observer):
        fall = (until - self.state.time) * np.array([0.0, 0.0, -1.0])
        self._state, self.count = self.state.replaced(x=self.state.x + fall, time=until), self.count + 1
        observer.on_event(self.model, self.state, Event(until, "snap", "it snaps", 1e-6))
        return None

    def close_frame(self, observer):
        self._state = self.state.replaced(frame=self.state.frame + 1)
        observer.on_frame(self.model, self.state, report := f"frame {self.state.frame}")
        return report


def test_another_engine_under_the_same_session(scene, tmp_path):
    model, state, _ = build(scene)
    engine = Falling(replace(model, handles=(Handle("left"), Handle("right"))), state)
    session = Session(engine)
    assert session.advance_frame() == "frame 1"
    session.advance(1.5 * FRAME)
    assert [event.kind for event in session.events()] == ["snap"] * 3
    assert session.events() == []
    np.testing.assert_allclose(session.state.x - state.x, np.broadcast_to([0, 0, -2.5 * FRAME], state.x.shape))
    session.move_handle("left", [0.0, 0.0, 0.01])
    session.advance(0.5 * FRAME)
    held = session.state.pins.handle == 0
    np.testing.assert_allclose(session.state.pins.anchor[held], state.pins.anchor[held] + [0.0, 0.0, 0.01])
    assert engine.count == 4
    session.undo(2)
    assert (engine.count, session.state.frame) == (1, 1)
    saved = session.save(tmp_path / "now")
    assert saved.frames == [1]
    assert state_digest(saved.load(1)) == state_digest(session.state)
