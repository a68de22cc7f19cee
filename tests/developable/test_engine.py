"""The engine under a session: hands, isometry, singular points, seeds, undoing, recordings and dragging at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from crumple.developable import DevelopableEngine, Hand, developable_sheet
from crumple.developable.clearance import Clearance
from crumple.developable.sessions import SCRIPTS, finger, pushed_sides, script
from crumple.developable.structure import BOUNDARY, HANDLE
from crumple.developable.view import smooth_view
from crumple.mesh.validate import validate_mesh
from crumple.recording import state_digest
from crumple.runtime.errors import InputError
from crumple.session.session import Session
from crumple.session.simulation import Simulation
from crumple.simulation.observers import Observer


def check(engine: DevelopableEngine) -> None:
    """What holds at the end of every frame."""
    paper = engine.paper
    strain = np.abs(paper.isometry.strain(engine.state.x))
    assert strain.mean() <= 1e-4
    assert strain.max() <= 1e-3
    assert Clearance(engine.model, engine.state).is_clear(engine.state.x)
    assert validate_mesh(engine.state.mesh) == []


class Checked(Observer):
    """Checks every frame, and counts events."""

    def __init__(self, engine: DevelopableEngine) -> None:
        self.engine, self.kinds, self.frames = engine, [], 0

    def on_event(self, model, state, event) -> None:
        self.kinds.append(event.kind)

    def on_frame(self, model, state, report) -> None:
        self.frames += 1
        assert report.frame == state.frame
        assert report.faces == state.mesh.face_count


@pytest.fixture(scope="module")
def pinched() -> DevelopableEngine:
    """Figure 17, up to just after its singular point, with every frame checked."""
    engine = pushed_sides().engine(seed=1)
    watcher = Checked(engine)
    for _ in range(90):
        engine.advance_frame(watcher)
        check(engine)
    assert watcher.frames == 90
    assert watcher.kinds == ["bend", "singular"]
    return engine


def test_two_bends_make_one_singular_point(pinched: DevelopableEngine) -> None:
    structure = pinched.paper.structure
    (key,) = structure.singular
    assert 0.012 < structure.u(key)[0] < 0.02
    assert 0.005 < structure.u(key)[1] < 0.095


def test_folds_at_the_singular_point_are_remembered(pinched: DevelopableEngine) -> None:
    paper = pinched.paper
    (key,) = paper.structure.singular
    count = sum(key in edge for edge in paper.structure.chords)
    assert len(paper.memory) == count
    assert max(abs(angle) for angle in paper.memory.values()) >= np.pi / (8 * count)


def test_the_view_is_smooth_and_isometric(pinched: DevelopableEngine) -> None:
    view = smooth_view(pinched.paper)
    assert validate_mesh(view.mesh) == []
    assert view.mesh.face_area.sum() == pytest.approx(0.01)
    assert view.mesh.face_count > 120
    tail, head = view.mesh.edges.T
    rest = np.linalg.norm(view.mesh.u[head] - view.mesh.u[tail], axis=1)
    strain = np.abs(np.linalg.norm(view.x[head] - view.x[tail], axis=1) / rest - 1.0)
    assert strain.mean() <= 1e-4
    assert strain.max() <= 1e-3
    assert np.allclose(np.linalg.norm(view.normal, axis=2), 1.0)
    assert view.state(pinched.state).mesh is view.mesh


def test_the_same_seed_gives_the_same_bits(pinched: DevelopableEngine) -> None:
    engine = pushed_sides().engine(seed=1)
    for _ in range(90):
        engine.advance_frame()
    assert state_digest(engine.state) == state_digest(pinched.state)
    places = [pushed_sides().engine(seed=seed).paper.random().uniform() for seed in (1, 1, 2)]
    assert places[0] == places[1] != places[2]


def test_a_session_goes_back_and_on_again_in_the_same_bits() -> None:
    session = Session(pushed_sides().engine())
    for _ in range(12):  # the sheet has become curved
        session.advance_frame()
    end = state_digest(session.state)
    session.undo(8)
    assert not session.engine.paper.structure.curves  # type: ignore[attr-defined]
    for _ in range(8):
        session.advance_frame()
    assert state_digest(session.state) == end


def test_a_finger_holds_the_middle_and_lets_go() -> None:
    engine = developable_sheet(idle_hands=1, gravity=(0.0, 0.0, 0.0))
    session = Session(engine)
    assert session.grasp("hand 0", (0.05, 0.05, 0.0), reach=0.02)
    session.advance_frame()
    kinds = [vertex.kind for vertex in engine.paper.structure.vertices.values() if vertex.is_held]
    assert kinds == [HANDLE]
    session.release("hand 0")
    session.advance_frame()
    assert all(vertex.kind == BOUNDARY for vertex in engine.paper.structure.vertices.values())
    assert not any(vertex.is_held for vertex in engine.paper.structure.vertices.values())


def test_a_finger_in_a_cylinder_makes_one_dent_under_it() -> None:
    engine = finger().engine()
    engine.advance_frame()
    (u,) = (vertex.u for vertex in engine.paper.structure.vertices.values() if vertex.kind == HANDLE)
    for _ in range(84):
        engine.advance_frame()
        check(engine)
    structure = engine.paper.structure
    (key,) = structure.singular
    assert np.linalg.norm(structure.u(key) - u) <= 5e-3
    assert structure.vertices[key].is_held


def test_frames_are_recorded_whatever_the_mesh(tmp_path: Path) -> None:
    session = Session(pushed_sides().engine())
    recording = session.record(tmp_path / "run")
    for _ in range(10):
        session.advance_frame()
    session.close()
    assert recording.frames == list(range(11))
    assert recording.load(0).mesh.face_count != recording.load(10).mesh.face_count
    assert state_digest(recording.load(10)) == state_digest(session.state)


def test_a_recording_is_not_resumed_without_its_structure(tmp_path: Path) -> None:
    with Session(pushed_sides().engine()) as session:
        session.record(tmp_path / "run")
        session.advance_frame()
    with pytest.raises(InputError, match=r"engine developable.*--replay"):
        Simulation.resume(tmp_path / "run")


def test_a_bent_sheet_is_an_elastica_with_even_ends() -> None:
    """Between clamps the length L of a sheet spans 2E/K − 1 of it and rises by k L/K, with the modulus k; ten flat
    strips that are clamped at the corners of the sheet only rise by 4 % more."""
    engine = pushed_sides(0.1, 0.0).engine()
    for _ in range(90):
        engine.advance_frame()
    (curve,) = engine.paper.structure.curves.values()
    first, second = (np.array([engine.paper.x(ruling[end]) for ruling in curve.rulings]) for end in (0, 1))
    assert np.abs(first[:, [0, 2]] - second[:, [0, 2]]).max() < 1e-4  # it was 1.5 mm with equal hinges
    place = np.array([engine.paper.structure.u(ruling[0])[0] for ruling in curve.rulings])
    length, span = np.ptp(place), np.ptp(first[:, 0])
    m = brentq(lambda m: 2.0 * ellipe(m) / ellipk(m) - 1.0 - span / length, 1e-6, 0.9)
    assert np.ptp(first[:, 2]) == pytest.approx(np.sqrt(m) * length / ellipk(m), rel=0.06)


def test_what_is_not_the_engines_is_refused() -> None:
    engine = developable_sheet()
    other = developable_sheet(0.08, 0.08)
    with pytest.raises(InputError, match="mesh"):
        engine.change(engine.model, other.state)
    with pytest.raises(InputError, match="radius"):
        developable_sheet(hands=[Hand((0.5, 0.5))])
    with pytest.raises(InputError, match="figure 17"):
        script("figure 99")


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_scripts_run_with_every_frame_checked(name: str) -> None:
    chosen = script(name)
    engine = chosen.engine()
    for _ in range(chosen.frames):
        engine.advance_frame()
        check(engine)
