"""Simulations under one's own control: steps, handles, forces, starting again, recordings."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.recording import Recording
from crumple.recording.frame import state_digest
from crumple.recording.verify import verify_recording
from crumple.runtime.errors import InputError
from crumple.scenes import build, load_scene
from crumple.scenes.toml import scene_from_tables
from crumple.session.simulation import Simulation, simulate

FRAME = 0.02
RIGHT, FORTH = np.array([0.01, 0.0, 0.0]), np.array([0.0, 0.005, 0.0])
WEIGHT = 0.1 * 0.06 * 0.08 * 9.81
"""Of the sheet [N]."""


def hanging(**others):
    """The tables of a sheet that hangs from a handle at its upper side, in its own plane."""
    material = {"stretch": 1e4, "bend": 1e-5, "thickness": 1e-4, "density": 0.08, "damping": 5e-3}
    sheet = {
        "name": "sheet",
        "material": material,
        "shape": {"kind": "rectangle", "width": 0.06, "height": 0.1, "size": 0.02},
        "transform": {"rotate": {"angle": 90, "axis": [1, 0, 0]}},
    }
    handle = {"name": "hand", "sheet": "sheet", "select": {"kind": "side", "side": "top"}}
    return {
        "name": "hanging",
        "run": {"frame_time": FRAME, "duration": 0.1},
        "sheets": [sheet],
        "handles": [handle],
    } | others


def make(**others) -> Simulation:
    return Simulation(scene_from_tables(hanging(**others), source="hanging.toml"))


def test_steps_have_the_length_asked_for_and_frames_are_kept():
    """One long step passes the ends of frames; each counts, so the simulation can go on frame by frame."""
    sim = make()
    sim.step(0.013)
    assert sim.time == pytest.approx(0.013, abs=1e-12)
    assert sim.state.frame == 0
    sim.step(0.037)
    assert sim.time == pytest.approx(0.05, abs=1e-12)
    assert sim.state.frame == 2
    sim.advance_frame()
    assert sim.time == pytest.approx(0.06, abs=1e-12)
    assert sim.run(4).frame == 4
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="must be > 0"):
            sim.step(wrong)


def test_a_handle_goes_where_it_is_sent_and_stays():
    sim = make()
    start = sim.handle_position("hand")
    sim.set_handle("hand", start + RIGHT)
    sim.step(0.02)
    sim.step(0.02)
    np.testing.assert_allclose(sim.handle_position("hand"), start + RIGHT, atol=1e-12)
    sim.move_handle("hand", FORTH)
    sim.run(3)  # in the next frame
    np.testing.assert_allclose(sim.handle_position("hand"), start + RIGHT + FORTH, atol=1e-12)
    held = sim.state.pins.node
    np.testing.assert_allclose(sim.state.x[held].mean(axis=0), start + RIGHT + FORTH, atol=1e-4)
    with pytest.raises(InputError, match="the scene has hand"):
        sim.set_handle("foot", start)
    with pytest.raises(InputError, match="three finite numbers"):
        sim.set_handle("hand", [0.0, np.nan, 0.0])


@pytest.mark.parametrize("between", ["step", "advance_frame"])
def test_rotations_count_from_the_start(between):
    """Twice the same rotation is that rotation, whatever happens in between."""
    sim = make()
    held = sim.state.pins.node
    along = np.ptp(sim.state.x[held], axis=0)
    for _ in range(2):
        sim.set_handle("hand", rotation=[0.0, 0.0, 0.5 * np.pi])
        sim.step(FRAME) if between == "step" else sim.advance_frame()
    target = sim.model.handles[0].target(sim.time, sim.state.pins.anchor)
    np.testing.assert_allclose(np.ptp(target, axis=0), along[[1, 0, 2]], atol=1e-9)


def test_forces_of_a_handle_are_the_weight():
    sim = make(solver={"mode": "static", "tolerance": 1e-8, "speed_tolerance": 1e-5})
    sim.step(FRAME)
    np.testing.assert_allclose(sim.forces("hand"), [0.0, 0.0, -WEIGHT], atol=1e-3 * WEIGHT)
    with pytest.raises(InputError, match="there are hand"):
        sim.forces("table")


def test_an_obstacle_feels_the_weight():
    table = {"name": "table", "shape": {"kind": "plane", "width": 1.0, "height": 1.0, "center": [0.0, 0.0, -1e-3]}}
    tables = hanging(obstacles=[table], handles=[], contact={"activation": 1e-3})
    tables["sheets"][0]["transform"] = {"translate": [0.0, 0.0, 0.0]}
    sim = Simulation(scene_from_tables(tables, source="lying.toml"))
    for _ in range(20):
        sim.step(FRAME)
    np.testing.assert_allclose(sim.forces("table"), [0.0, 0.0, -WEIGHT], atol=0.05 * WEIGHT)


def test_a_released_sheet_falls():
    sim = make()
    sim.release("hand")
    before = sim.state.x.mean(axis=0)
    for _ in range(5):
        sim.step(FRAME)
    assert not len(sim.state.pins.node)
    # TR-BDF2 starts with a step of implicit Euler, hence the millimetre
    fallen = before - sim.state.x.mean(axis=0)
    np.testing.assert_allclose(fallen, [0.0, 0.0, 0.5 * 9.81 * 0.1**2], atol=1e-3)
    with pytest.raises(InputError, match="holds no node"):
        sim.handle_position("hand")


def test_a_sheet_that_was_let_go_is_caught_again(tmp_path):
    sim = make()
    sim.release("hand")
    sim.step(0.05)
    corner = sim.state.x[(sim.state.x[:, 2] - sim.state.x[:, 0]).argmax()].copy()
    assert not sim.grasp("hand", corner + 0.1)
    assert not len(sim.state.pins.node)
    assert sim.grasp("hand", corner + 1e-3)
    assert len(sim.state.pins.node) == 1
    np.testing.assert_allclose(sim.handle_position("hand"), corner, atol=1e-9)
    assert sim.grasp("hand", corner, reach=0.03), "the next one, as this one is held"
    assert len(np.unique(sim.state.pins.node)) == 2
    with sim:
        sim.record(tmp_path / "run")
        for _ in range(3):
            sim.move_handle("hand", FORTH)
            sim.step(FRAME)
    held = sim.state.x[sim.state.pins.node].mean(axis=0)
    np.testing.assert_allclose(held, sim.handle_position("hand"), atol=2e-3)
    assert held[2] - sim.state.x[:, 2].min() > 0.05, "the rest hangs down"
    assert verify_recording(Recording(tmp_path / "run")).passed
    with pytest.raises(InputError, match="three finite numbers"):
        sim.grasp("hand", [0.0, np.nan, 0.0])
    with pytest.raises(InputError, match="the scene has hand"):
        sim.grasp("foot", corner)


def test_reset_gives_the_same_bits_again():
    sim = make()
    first = state_digest(sim.state)
    sim.set_handle("hand", rotation=[0.0, 0.3, 0.0])
    sim.step(FRAME)
    once = state_digest(sim.state)
    assert state_digest(sim.reset()) == first
    sim.set_handle("hand", rotation=[0.0, 0.3, 0.0])
    sim.step(FRAME)
    assert state_digest(sim.state) == once
    with pytest.raises(InputError, match="no jitter"):
        sim.reset(seed=3)


def test_seeds_are_other_starts():
    tables = hanging()
    tables["sheets"][0]["jitter"] = {"amplitude": 1e-4, "seed": 1}
    sim = Simulation(scene_from_tables(tables, source="jittered.toml"))
    first = sim.state.x.copy()
    np.testing.assert_array_equal(sim.reset(seed=1).x, first)
    assert not np.array_equal(sim.reset(seed=2).x, first)


def test_what_is_recorded_and_saved(tmp_path):
    sim = make()
    with sim:
        sim.record(tmp_path / "run")
        sim.step(0.5 * FRAME)
        sim.step(1.5 * FRAME)
        sim.save(tmp_path / "now")
        sim.advance_frame()
    recording = Recording(tmp_path / "run")
    assert recording.frames == [0, 1, 2, 3]
    assert state_digest(recording.load(3)) == state_digest(sim.state)
    saved = Recording(tmp_path / "now")
    assert saved.frames == [2]
    assert state_digest(saved.load(2)) == state_digest(recording.load(2))


def test_simulate_runs_to_the_end(tmp_path):
    scene = scene_from_tables(hanging(), source="hanging.toml")
    done = simulate(scene, out=tmp_path / "run", frames=2)
    assert done.state.frame == 2
    assert Recording(tmp_path / "run").frames == [0, 1, 2]
    other = simulate(scene, overrides=["run.frame_time=0.01"], frames=1)
    assert other.time == pytest.approx(0.01)


def test_a_scene_or_a_model_with_its_state():
    scene = scene_from_tables(hanging(), source="hanging.toml")
    model, state, _ = build(scene)
    assert Simulation(model=model, state=state).time == 0.0
    for wrong in ({}, {"model": model}, {"scene": scene, "model": model, "state": state}):
        with pytest.raises(InputError, match="either a scene, or a model and a state"):
            Simulation(**wrong)


def test_overrides_apply_to_scenes_that_are_objects():
    scene = load_scene("drape")
    assert build(scene, ["run.frame_time=0.01"]).model.frame_time == 0.01
    assert build(scene).model.frame_time == 0.04, "the scene itself is not changed"
    with pytest.raises(InputError, match="quick"):  # the variants of a scene are in its file
        build(scene, quick=True)
