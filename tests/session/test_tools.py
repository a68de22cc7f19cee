"""Tools of a session: each does what it says, safely, and can be undone, done again, saved and replayed."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.cli.playing import replay_script
from crumple.contact import find_intersections
from crumple.developable.engine import developable_sheet
from crumple.geometry.hinge import dihedral_angles
from crumple.mesh import validate_mesh
from crumple.model.derived import Derived
from crumple.recording import Recording, state_digest
from crumple.recording.verify import verify_recording
from crumple.runtime.errors import InputError, SimulationError
from crumple.scenes import scene_from_tables
from crumple.session import lines
from crumple.session.lines import routed, simplified
from crumple.session.session import Session
from crumple.session.simulation import Simulation

FRAME = 1.0 / 60.0
SIDE = 0.1


def sheet(*, floor: bool = True, size: float = 0.02, crease: bool = False, **more: object) -> Simulation:
    table = {
        "material": "paper80",
        "shape": {"kind": "rectangle", "width": SIDE, "height": SIDE, "size": size},
        "transform": {"translate": [0, 0, 0.002]},
    }
    if crease:
        table["creases"] = [{"name": "hinge", "line": [[0.05, 0], [0.05, SIDE]], "angle": 90, "drive": "spring"}]
    tables = {
        "run": {"frame_time": FRAME, "duration": 60.0},
        "solver": {"integrator": "implicit-euler"},
        "sheets": [table],
        "obstacles": [{"name": "floor", "shape": {"kind": "plane", "width": 0.4, "height": 0.4}}] if floor else [],
        **more,
    }
    return Simulation(scene_from_tables(tables, source="sheet"))


def advance(sim: Session, frames: int) -> None:
    for _ in range(frames):
        sim.advance(FRAME, keep=False)


def intersections(sim: Session) -> int:
    surface = Derived(sim.model, sim.state).surface(sim.time)
    assert surface is not None
    return len(find_intersections(surface, np.concatenate([sim.state.x, sim.state.obstacle_x])))


def rest_angles(sim: Session) -> np.ndarray:
    """Largest angle of the plastic embedding."""
    return np.abs(dihedral_angles(sim.state.y, sim.state.mesh.hinges.nodes))


def wave(points: int = 60) -> np.ndarray:
    t = np.linspace(0.0, 1.0, points)
    return np.stack([SIDE * t, 0.05 + 0.008 * np.sin(2 * np.pi * t)], axis=1)


def test_a_pressed_crease_folds_the_sheet_along_the_line():
    sim = sheet()
    sim.press([(0.05, -0.01), (0.05, 0.11)], angle=1.5)
    on_line = np.abs(sim.state.mesh.u[:, 0] - 0.05) < 1e-9
    assert on_line.sum() >= 6, "the mesh has nodes along the line"
    assert rest_angles(sim).max() == pytest.approx(1.5, abs=0.05)
    assert sim.state.damage.max() > 0.0
    advance(sim, 30)
    ridge = sim.state.mesh.vertex_node[on_line]
    assert sim.state.x[ridge, 2].mean() > np.delete(sim.state.x[:, 2], ridge).mean() + 5e-3, "a mountain: it stands up"
    assert intersections(sim) == 0


def test_a_line_drawn_by_hand_is_followed_as_far_as_the_mesh_resolves_it():
    sim = sheet()
    before = sim.state.mesh.face_count
    sim.press(wave(), angle=1.0)
    mesh = sim.state.mesh
    assert mesh.face_count < 2 * before
    assert not validate_mesh(mesh, sim.state.x)
    angle = np.abs(dihedral_angles(sim.state.y, mesh.hinges.nodes))
    marked = mesh.hinges.nodes[angle > 0.5][:, :2].ravel()
    u = np.zeros((mesh.node_count, 2))
    u[mesh.vertex_node] = mesh.u
    line = wave(500)
    off = np.array([np.linalg.norm(line - u[node], axis=1).min() for node in np.unique(marked)])
    assert off.max() < 0.35 * 0.02


def test_a_cut_from_border_to_border_makes_two_pieces_that_part():
    sim = sheet()
    sim.cut([(-0.01, 0.05), (0.11, 0.05)])
    assert intersections(sim) == 0
    assert not validate_mesh(sim.state.mesh, sim.state.x)
    hand = sim.grab((0.05, 0.09))
    start = sim.hand_position(hand)
    for k in range(1, 25):
        sim.move(hand, start + np.array([0.0, 0.003 * k, 0.002 * k]))
        sim.advance(FRAME, keep=False)
    low = sim.state.x[sim.state.mesh.vertex_node[sim.state.mesh.u[:, 1] < 0.049]]
    assert low[:, 2].max() < 0.01, "the other piece stays on the floor"
    assert sim.state.x[:, 2].max() > 0.03
    assert intersections(sim) == 0


def test_a_closed_cut_lets_a_piece_fall_out():
    angle = np.linspace(0.0, 2.0 * np.pi, 40)
    ring = np.stack([0.05 + 0.025 * np.cos(angle), 0.05 + 0.025 * np.sin(angle)], axis=1)
    ring[-1] = ring[0]
    sim = sheet(floor=False)
    hands = [sim.grab(corner) for corner in ((0.002, 0.002), (0.098, 0.002), (0.002, 0.098), (0.098, 0.098))]
    sim.cut(ring)
    advance(sim, 20)
    middle = np.linalg.norm(sim.state.mesh.u - 0.05, axis=1).argmin()
    assert sim.state.x[sim.state.mesh.vertex_node[middle], 2] < -0.1
    assert sim.hands == tuple(hands)
    assert sim.state.x[sim.state.pins.node, 2].min() > -0.05
    assert intersections(sim) == 0


def test_flattening_takes_back_what_has_yielded():
    sim = sheet()
    sim.press([(0.0, 0.05), (0.1, 0.05)], angle=2.0)
    advance(sim, 20)
    tall, bent, damage = np.ptp(sim.state.x[:, 2]), rest_angles(sim).max(), sim.state.damage.max()
    sim.flatten(0.5)
    assert rest_angles(sim).max() == pytest.approx(0.5 * bent, rel=0.15)
    assert sim.state.damage.max() == pytest.approx(0.5 * damage)
    sim.flatten()
    assert not sim.state.plastic_curvature.any()
    assert not sim.state.crease.any()
    assert np.allclose(sim.state.y, sim.state.mesh.node_rest)
    advance(sim, 40)
    assert np.ptp(sim.state.x[:, 2]) < 0.3 * tall


def test_wind_blows_from_when_it_is_set_until_it_is_not():
    sim = sheet(floor=False)
    sim.set_gravity((0, 0, 0))
    sim.set_wind((0, 0, 5.0))
    advance(sim, 5)
    rising = sim.state.v[:, 2].mean()
    assert rising > 0.5
    sim.set_wind((0, 0, 0))
    advance(sim, 5)
    assert sim.state.v[:, 2].mean() < 0.8 * rising, "still air slows it down"


@pytest.mark.parametrize("has_floor", [True, False])
def test_a_floor_comes_and_goes(has_floor):
    sim = sheet(floor=has_floor)
    sim.set_floor(None)
    assert sim.floor is None
    advance(sim, 6)
    assert sim.state.x[:, 2].max() < 0.0
    with pytest.raises(InputError, match="reach down"):
        sim.set_floor(0.0)
    sim.set_floor(-0.1)
    advance(sim, 20)
    assert sim.floor == -0.1
    assert -0.1 < sim.state.x[:, 2].min() < -0.09
    assert intersections(sim) == 0


def test_a_driven_crease_goes_where_it_is_told():
    sim = sheet(floor=False, crease=True)
    sim.set_gravity((0, 0, 0))
    assert sim.drives() == {"hinge": 100.0}
    sim.drive("hinge", 0.0)
    assert sim.drives() == {"hinge": 100.0}
    advance(sim, 20)
    assert sim.drives() == {"hinge": 0.0}
    sim.drive("hinge", 50.0)
    advance(sim, 8)
    assert 20.0 < sim.drives()["hinge"] <= 50.0
    advance(sim, 60)
    crease = sim.model.creases[0]
    assert crease.angle_at(sim.time) == pytest.approx(0.5 * crease.angles[0])
    angle = dihedral_angles(sim.state.x, sim.state.mesh.hinges.nodes)[sim.state.mesh.edge_label.ravel()[
        sim.state.mesh.hinges.corners[:, 0]] > 0]  # fmt: skip
    assert np.degrees(angle).mean() == pytest.approx(45.0, abs=10.0)


def test_a_hand_turns_what_it_holds():
    """Quaternion, matrix and rotation vector mean the same, and the point that was grabbed stays."""
    turn = 0.6
    ways = [
        (0.0, 0.0, turn),
        (0.0, 0.0, np.sin(0.5 * turn), np.cos(0.5 * turn)),
        [[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]],
    ]
    ends = []
    for rotation in ways:
        sim = sheet(floor=False)
        sim.set_gravity((0, 0, 0))
        hand = sim.grab((0.05, 0.05), radius=0.03)
        point, before = sim.hand_position(hand), sim.state.pins.anchor.copy()
        sim.move(hand, rotation=rotation)
        sim.advance(FRAME)
        np.testing.assert_allclose(sim.hand_position(hand), point, atol=1e-12)
        ends.append(sim.state.pins.anchor.copy())
    flat = before - before.mean(axis=0)
    cosine = np.einsum("ni,ni->n", flat, ends[0] - ends[0].mean(axis=0)) / np.einsum("ni,ni->n", flat, flat)
    np.testing.assert_allclose(cosine[np.linalg.norm(flat, axis=1) > 1e-6], np.cos(turn), atol=1e-6)
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=1e-9)


def everything(sim: Simulation) -> None:
    """A session in which all tools are used."""
    hand = sim.grab((0.098, 0.098))
    sim.move(hand, sim.hand_position(hand) + np.array([0, 0, 0.01]), rotation=(0, 0, 0, 1))
    advance(sim, 2)
    sim.press([(0.0, 0.03), (0.1, 0.035)], angle=-1.5)
    advance(sim, 2)
    sim.cut([(0.05, 0.11), (0.052, 0.06)])
    sim.set_wind((0.5, 0, 0))
    advance(sim, 2)
    sim.flatten(0.3)
    sim.release(hand)
    sim.set_floor(-0.01)
    sim.set_gravity((0, 0, -5.0))
    sim.drive("hinge", 40.0)
    sim.set_obstacle("floor", (0, 0, -0.012), (0, 0, 0.1))
    advance(sim, 2)


def test_all_of_it_is_undone_redone_replayed_and_saved_to_the_bit(tmp_path):
    sim = sheet(crease=True)
    everything(sim)
    there, done = state_digest(sim.state), sim.script()
    count = sim.undo_count
    sim.undo(count)
    assert state_digest(sim.state) == state_digest(sheet(crease=True).state)
    assert sim.floor == 0.0
    sim.redo(count)
    assert state_digest(sim.state) == there
    again = sheet(crease=True)
    again.record(tmp_path / "again")
    again.play(done)
    assert state_digest(again.state) == there
    again.close()
    assert verify_recording(Recording(tmp_path / "again")).passed
    assert state_digest(sheet(crease=True).play(sim.script())) == there, "with all that was undone and redone"
    sim.save(tmp_path / "saved")
    resumed = Simulation.resume(tmp_path / "saved")
    advance(sim, 1)
    advance(resumed, 1)
    assert state_digest(resumed.state) == state_digest(sim.state)
    assert resumed.drives() == sim.drives()
    resumed.close()


def test_a_tool_that_fails_changes_nothing(monkeypatch):
    """It is in the script: it fails there, too."""
    sim = sheet()
    before, count = sim.state, sim.undo_count
    monkeypatch.setattr(lines, "is_safe", lambda *_: False)
    for tool in (lambda: sim.cut([(0.0, 0.05), (0.1, 0.05)]), lambda: sim.press([(0.0, 0.05), (0.1, 0.05)])):
        with pytest.raises(SimulationError, match="no room"):
            tool()
    assert sim.state is before
    assert sim.undo_count == count
    again = sheet()
    again.play(sim.script())
    assert [event.kind for event in again.events()] == ["trouble", "trouble"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda sim: sim.flatten(1.5), "between 0 and 1"),
        (lambda sim: sim.press([(0.0, 0.05)]), "two different points"),
        (lambda sim: sim.press([(0.0, 0.05), (0.1, 0.05)], angle=4.0), "in rad"),
        (lambda sim: sim.press([(0.5, 0.5), (0.6, 0.5)]), "no part of the line"),
        (lambda sim: sim.press([(0.0, 0.05), (0.1, 0.05)], sheet=2), "sheets 0 to 0"),
        (lambda sim: sim.press([(np.nan, 0.05), (0.1, 0.05)]), "two different points"),
        (lambda sim: sim.press("line"), "two different points"),
        (lambda sim: sim.cut([(0.05, 0.05), (0.0501, 0.05)]), "so short a line"),
        (lambda sim: sim.cut([(0.3, 0.3), (0.4, 0.4)]), "no part of the line"),
        (lambda sim: sim.set_wind((1, 2)), "three finite"),
        (lambda sim: sim.set_floor(np.inf), "finite"),
        (lambda sim: sim.set_floor(0.05), "reach down"),
        (lambda sim: sim.drive("lid", 10.0), "no driven creases"),
        (lambda sim: sim.move(sim.grab((0.05, 0.05)), rotation=(1, 0, 0, 1)), "quaternion"),
        (lambda sim: sim.set_obstacle("floor", rotation=[[1, 0, 0], [0, 1, 0], [0, 0, -1]]), "rotation"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_and_not_kept(call, message):
    sim = sheet(size=0.05)
    before = sim.state
    with pytest.raises(InputError, match=message):
        call(sim)
    assert sim.state.mesh is before.mesh
    assert all(action.method == "grab" for action in sim.script().actions)


def test_a_recording_that_began_without_a_floor_has_none(tmp_path):
    sim = sheet(floor=False)
    sim.record(tmp_path / "r")
    with pytest.raises(InputError, match="before record"):
        sim.set_floor(-1.0)
    sim.close()


def test_a_replay_records_floors_that_come_later(tmp_path):
    """The recording has a floor that nothing touches from its start; it comes to where it came by hand."""
    sim = sheet(floor=False, size=0.05)
    hand = sim.grab((0.05, 0.05))
    sim.move(hand, sim.hand_position(hand) + np.array([0.02, 0.0, 0.0]))
    advance(sim, 2)
    sim.release(hand)
    sim.set_floor(float(sim.state.x[:, 2].min()) - 0.002)
    advance(sim, 4)
    sim.script().save(tmp_path / "script.json")
    assert sim.scene is not None
    replay_script(sim.scene, tmp_path / "script.json", tmp_path / "r", force=False)
    recording = Recording(tmp_path / "r")
    assert verify_recording(recording).passed
    np.testing.assert_array_equal(recording.load().x, sim.state.x)
    np.testing.assert_array_equal(recording.load().obstacle_x, sim.state.obstacle_x)
    Simulation.resume(tmp_path / "r", frame=1).close()


def test_an_engine_that_cannot_says_so():
    session = Session(developable_sheet(0.1, 0.1))
    for tool in (
        session.flatten,
        lambda: session.cut([(0, 0.05), (0.1, 0.05)]),
        lambda: session.press([(0, 0), (1, 1)]),
    ):
        with pytest.raises(InputError, match="structure"):
            tool()
    session.set_wind((0, 0, 1))
    session.set_floor(-0.05)
    session.advance(FRAME)
    assert session.script().actions[0].method == "set_wind"


def test_lines_are_simplified_and_led_through_nodes_that_stay():
    line = simplified(wave(200), 0.02)
    assert len(line) < 12
    straight = simplified(np.stack([np.linspace(0, 0.1, 300), np.full(300, 0.05)], axis=1), 0.02)
    assert len(straight) == 2
    mesh = sheet().state.mesh
    inner = np.flatnonzero(~mesh.boundary_nodes[mesh.vertex_node])[0]
    place = mesh.u[inner]
    fixed = np.zeros(mesh.node_count, bool)
    fixed[mesh.vertex_node[inner]] = True
    led = routed(mesh, np.array([[-0.01, place[1] + 1e-4], [0.11, place[1] + 1e-4]]), 0, fixed)
    assert (led == place).all(axis=1).any()


@pytest.mark.parametrize("tool", ["cut", "press"])
def test_lines_on_a_bent_sheet_do_not_stretch_it(tool):
    sim = sheet(size=0.015)
    hands = [sim.grab(u) for u in ((0.005, 0.005), (0.095, 0.095), (0.05, 0.05))]
    first = [sim.hand_position(hand) for hand in hands]
    for k in range(30):
        for hand, place, side in zip(hands, first, (1.0, -1.0, 0.0), strict=True):
            sim.move(hand, place + np.array([side * 0.0002, side * 0.0002, abs(side) * 0.0008]) * k)
        sim.advance(FRAME, keep=False)

    def stretched() -> float:
        (term,) = [term for kind, term in Derived(sim.model, sim.state).terms if kind.name == "membrane"]
        return float(term.measure(sim.state))

    most = 0.0
    for place in np.linspace(0.03, 0.07, 5):
        line = [(place, -0.01), (0.1 - place, 0.11)]
        sim.cut(line) if tool == "cut" else sim.press(line, angle=0.5)
        most = max(most, stretched())
        assert not intersections(sim)
        sim.undo()
    assert most < 5e-5, "it was 5e-4 J when nodes moved onto the line wherever they were"


def test_creases_become_sharp_within_a_budget_of_faces():
    budget = 160
    sim = sheet(size=0.015, remeshing={"size_min": 0.003, "size_max": 0.03, "face_budget": budget, "interval": 3})
    sim.press([(0.0, 0.0), (0.1, 0.1)], angle=2.0)
    counts = []
    for _ in range(9):
        before = sim.state.mesh
        sim.advance(FRAME, keep=False)
        assert sim.state.mesh is before or sim.state.frame % 3 == 0
        counts.append(sim.state.mesh.face_count)
    assert 0.4 * budget < counts[-1] <= budget
    mesh, across = sim.state.mesh, np.array([1.0, -1.0]) / np.sqrt(2.0)
    off = np.abs(mesh.u[mesh.faces].mean(axis=1) @ across)
    near, far = off < 0.01, off > 0.035
    assert np.median(mesh.face_area[near]) < np.median(mesh.face_area[far]), "fine where the crease is"
    assert intersections(sim) == 0
