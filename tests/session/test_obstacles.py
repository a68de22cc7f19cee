"""Obstacles that are moved by one's own program: they push sheets, feel them, and are recorded and resumed."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.contact import find_intersections
from crumple.model.derived import contact_surface
from crumple.recording import Recording, state_digest
from crumple.recording.verify import verify_recording
from crumple.runtime.errors import InputError
from crumple.scenes.toml import scene_from_tables
from crumple.session.simulation import Simulation

FRAME = 0.02


def hanging(**others) -> Simulation:
    """A sheet that hangs from its upper side, and a ball before it."""
    sheet = {
        "name": "sheet",
        "material": {"stretch": 1e4, "bend": 1e-5, "thickness": 1e-4, "density": 0.08, "damping": 5e-3},
        "shape": {"kind": "rectangle", "width": 0.06, "height": 0.1, "size": 0.015},
        "transform": {"rotate": {"angle": 90, "axis": [1, 0, 0]}},
    }
    handle = {"name": "hand", "sheet": "sheet", "select": {"kind": "side", "side": "top"}}
    ball = {"name": "ball", "shape": {"kind": "sphere", "radius": 0.015, "center": [0.0, -0.02, 0.0]}}
    tables = {
        "name": "pushed",
        "run": {"frame_time": FRAME, "duration": 1.0},
        "contact": {"friction": 0.3},
        "sheets": [sheet],
        "handles": [handle],
        "obstacles": [ball],
    }
    return Simulation(scene_from_tables(tables | others, source="pushed.toml"))


def crossings(sim: Simulation) -> int:
    """Intersections of sheets and obstacles."""
    surface = contact_surface(sim.model, sim.state, sim.time)
    return len(find_intersections(surface, np.concatenate([sim.state.x, sim.state.obstacle_x])))


def test_an_obstacle_pushes_a_sheet_and_feels_it(tmp_path):
    with hanging() as sim:
        sim.record(tmp_path / "run")
        start = sim.obstacle_position("ball")
        np.testing.assert_allclose(start, [0.0, -0.02, 0.0], atol=1e-9)
        np.testing.assert_array_equal(sim.forces("ball"), np.zeros(3))
        for k in range(1, 9):
            sim.set_obstacle("ball", start + np.array([0.0, 0.005 * k, 0.0]))
            sim.step(0.5 * FRAME)
            assert crossings(sim) == 0
        np.testing.assert_allclose(sim.obstacle_position("ball"), start + np.array([0.0, 0.04, 0.0]), atol=1e-12)
        np.testing.assert_allclose(sim.state.obstacle_x.mean(axis=0), start + np.array([0.0, 0.04, 0.0]), atol=1e-9)
        assert sim.state.x[:, 1].max() > 0.02, "the sheet gave way"
        assert sim.forces("ball")[1] < 0.0, "it pushes back"
        report = sim.step(0.5 * FRAME)
        np.testing.assert_allclose(sim.forces("ball"), -np.array(report.obstacles["ball"].force), atol=1e-12)
        where = sim.state.obstacle_x.copy()
        sim.step(1.5 * FRAME)
        np.testing.assert_allclose(sim.state.obstacle_x, where, atol=1e-12)
    recording = Recording(tmp_path / "run")
    assert verify_recording(recording).passed
    assert len(recording.obstacle_frames) == 5, "as long as it moved"


def test_friction_is_felt():
    """A ball that is drawn down along the sheet which it has pushed feels it along its way, too."""
    sim = hanging()
    sim.move_obstacle("ball", [0.0, 0.02, 0.0])
    sim.step(0.1)
    felt = []
    for _ in range(14):  # it swings away at first
        sim.move_obstacle("ball", [0.0, 0.0, -0.002])
        sim.step(FRAME)
        felt.append(sim.forces("ball"))
    pushed = [force for force in felt if force[1] < -5e-4]
    assert len(pushed) > 1
    assert all(abs(force[2]) < 0.8 * abs(force[1]) for force in pushed)  # the ball is round
    assert any(abs(force[2]) > 0.1 * abs(force[1]) for force in pushed)
    assert crossings(sim) == 0


def test_rotations_count_from_the_start_about_the_middle():
    box = {"name": "box", "shape": {"kind": "box", "extent": [0.02, 0.01, 0.04], "center": [0.2, 0.1, 0.0]}}
    sim = hanging(obstacles=[box])
    first, middle = sim.state.obstacle_x - sim.obstacle_position("box"), sim.obstacle_position("box")
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for _ in range(2):
        sim.set_obstacle("box", rotation=[0.0, 0.0, 0.5 * np.pi])
        sim.step(FRAME)
        np.testing.assert_allclose(sim.state.obstacle_x, first @ quarter.T + middle, atol=1e-9)
    sim.set_obstacle("box", position=[0.2, 0.2, 0.1], rotation=[0.0, 0.0, 0.0])
    sim.advance_frame()
    np.testing.assert_allclose(sim.state.obstacle_x, first + np.array([0.2, 0.2, 0.1]), atol=1e-9)


def test_the_scenes_own_motion_ends():
    tables = {
        "obstacles": [
            {"name": "ball", "shape": {"kind": "sphere", "radius": 0.01, "center": [0.0, -0.2, 0.0]}, "motion": "away"}
        ],
        "motions": {"away": {"rate": {"velocity": [0.0, -1.0, 0.0]}}},
    }
    sim = hanging(**tables)
    sim.step(FRAME)
    np.testing.assert_allclose(sim.obstacle_position("ball"), [0.0, -0.2 - FRAME, 0.0], atol=1e-9)
    sim.set_obstacle("ball", [0.0, -0.3, 0.0])
    sim.step(FRAME)
    sim.step(FRAME)
    np.testing.assert_allclose(sim.obstacle_position("ball"), [0.0, -0.3, 0.0], atol=1e-9)
    sim.reset()
    sim.step(FRAME)
    np.testing.assert_allclose(sim.obstacle_position("ball"), [0.0, -0.2 - FRAME, 0.0], atol=1e-9)


def test_an_obstacle_without_room_waits():
    """A ball that is sent through a sheet on a wall stops before it, and nothing is cut."""
    wall = {"name": "wall", "shape": {"kind": "box", "extent": [0.2, 0.02, 0.2], "center": [0.0, 0.012, 0.0]}}
    ball = {"name": "ball", "shape": {"kind": "sphere", "radius": 0.015, "center": [0.0, -0.02, 0.0]}}
    sim = hanging(obstacles=[ball, wall])
    sim.set_obstacle("ball", [0.0, 0.005, 0.0])
    sim.step(2 * FRAME)
    ball_x = sim.state.obstacle_x[: sim.model.obstacles[0].node_count]
    assert ball_x.mean(axis=0)[1] < 0.0
    assert sim.state.obstacle_lag[0] > 0.0
    assert any("held back 'ball'" in event.message for event in sim.events())
    assert crossings(sim) == 0
    sim.step(FRAME)
    assert crossings(sim) == 0
    np.testing.assert_allclose(
        sim.obstacle_position("ball"), [0.0, 0.005, 0.0], atol=1e-12, err_msg="still wanted there"
    )


def test_resuming_finds_obstacles_where_they_were(tmp_path):
    """Resumed from the last frame the same bits follow; from one before, the ball is where it was then."""
    with hanging() as sim:
        sim.record(tmp_path / "run")
        places = []
        for _ in range(3):
            sim.move_obstacle("ball", [0.0, 0.01, 0.0])
            sim.step(FRAME)
            places.append(sim.state.obstacle_x)
    sim.step(FRAME)
    with Simulation.resume(tmp_path / "run") as again:
        np.testing.assert_array_equal(again.model.obstacle_positions(again.time), places[2])
        again.step(FRAME)
        assert state_digest(again.state) == state_digest(sim.state)
    with Simulation.resume(tmp_path / "run", frame=1) as again:
        again.step(FRAME)
        np.testing.assert_allclose(again.state.obstacle_x, places[0], atol=1e-12)


def test_undo_brings_an_obstacle_back():
    sim = hanging()
    before, first = sim.obstacle_position("ball"), state_digest(sim.state)
    sim.move_obstacle("ball", [0.0, 0.02, 0.0])
    sim.step(FRAME)
    after = state_digest(sim.state)
    assert state_digest(sim.undo()) == first
    np.testing.assert_array_equal(sim.obstacle_position("ball"), before)
    sim.move_obstacle("ball", [0.0, 0.02, 0.0])
    sim.step(FRAME)
    assert state_digest(sim.state) == after
    with pytest.raises(InputError, match="the scene has ball"):
        sim.move_obstacle("hand", [0.0, 0.0, 0.0])
