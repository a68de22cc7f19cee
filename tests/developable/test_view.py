"""What is shown of a developable sheet: normals, isometry, folds, and no jump when its structure changes."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.developable import DevelopableEngine
from crumple.developable import engine as engine_module
from crumple.developable.fading import sample
from crumple.developable.paper import Paper
from crumple.developable.refinement import refine
from crumple.developable.sessions import pushed_sides, script
from crumple.developable.view import SmoothView, smooth_view
from crumple.developable.viewer import Viewer, crossing_depth
from crumple.mesh.validate import validate_mesh
from crumple.session.session import Session
from crumple.simulation.surface_view import JUNCTION, SINGULAR

JUMP = 0.5e-3
"""Largest jump at a fixed point of the pattern [m]."""


@pytest.fixture(scope="module")
def pinched() -> DevelopableEngine:
    """Figure 17, just after its singular point."""
    engine = pushed_sides().engine(seed=1)
    for _ in range(90):
        engine.advance_frame()
    return engine


def places(engine: DevelopableEngine) -> np.ndarray:
    """A grid of points of the pattern."""
    corners = engine.paper.structure.outline.corners
    low, size = corners.min(axis=0), np.ptp(corners, axis=0)
    grid = np.stack(np.meshgrid(*[np.linspace(0.003, 0.997, 33)] * 2), axis=-1).reshape(-1, 2)
    return np.asarray(low + grid * size)


def at(view: SmoothView, u: np.ndarray) -> np.ndarray:
    return sample(view, view.x[view.mesh.face_nodes], u)


def jumps(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch, frames: int | None = None
) -> tuple[list[float], list[float]]:
    """At each change of the structure, the largest jump of what is shown, and what it were without fading [m]."""
    moved: list[Paper] = []

    def finish(paper: Paper, real=engine_module.finish_frame) -> Paper:
        moved.append(paper)
        return real(paper)

    monkeypatch.setattr(engine_module, "finish_frame", finish)
    engine, shown, bare = script(name).engine(seed=seed), [], []
    u, watcher = places(engine), Viewer()
    engine.shown()
    watcher.show(engine.paper)
    for _ in range(frames or script(name).frames):
        engine.advance_frame()
        before, after = moved[-1], engine.paper
        if after.layout is not before.layout:
            shown.append(float(np.linalg.norm(at(watcher.show(before), u) - at(engine.shown(), u), axis=1).max()))
            bare.append(float(np.linalg.norm(at(smooth_view(before), u) - at(smooth_view(after), u), axis=1).max()))
            watcher.follow(before, after)
            assert crossing_depth(engine.model, engine.shown_state()) <= 1e-3
    return shown, bare


@pytest.mark.slow
def test_nothing_jumps_when_the_structure_changes(monkeypatch):
    shown, bare = jumps("figure 17", 2, monkeypatch, 95)
    assert len(shown) >= 2
    assert max(bare) > 2 * JUMP  # it would, if it did not fade
    assert max(shown) < JUMP


@pytest.mark.long
@pytest.mark.parametrize("name", ["figure 1", "figure 18 top", "figure 18 bottom", "figure 22"])
def test_jumps_of_all_figures_are_rare(name, monkeypatch):
    """Where the old map would intersect on the new mesh it is left at once: in figure 22 for two points of 34."""
    shown = jumps(name, 0, monkeypatch)[0]
    assert np.mean(np.array(shown) > JUMP) <= 0.1


def test_the_view_fades_to_what_it_is_without_a_change(pinched):
    engine = pushed_sides().engine(seed=1)
    session = Session(engine)
    session.view()
    while not engine.paper.structure.curves:
        session.advance_frame()
    assert not np.allclose(at(engine.shown(), places(engine)), at(smooth_view(engine.paper), places(engine)), atol=1e-5)
    for _ in range(6):
        layout = engine.paper.layout
        session.advance_frame()
        assert engine.paper.layout is layout
    np.testing.assert_array_equal(engine.shown().x, smooth_view(engine.paper).x)
    session.undo()
    np.testing.assert_array_equal(engine.shown().x, smooth_view(engine.paper).x)


def test_what_is_shown_does_not_change_what_is_simulated(pinched):
    engine = pushed_sides().engine(seed=1)
    for _ in range(90):
        engine.advance_frame()
        engine.shown()
    np.testing.assert_array_equal(engine.state.x, pinched.state.x)


def test_normals_are_constant_along_rulings_and_many_at_an_apex(pinched):
    view, structure = smooth_view(pinched.paper), pinched.paper.structure
    surface = view.surface()
    assert surface.is_smooth
    assert surface.overlay is not None
    apex = surface.overlay.points[surface.overlay.kinds == SINGULAR]
    (node,) = surface.node[apex]
    normals = surface.normal[surface.node == node]
    assert len(np.unique(normals.round(9), axis=0)) > 8  # one for each ruling of its cones
    for a, b in surface.overlay.lines:
        group = [set(map(tuple, surface.normal[surface.node == surface.node[end]].round(12))) for end in (a, b)]
        assert group[0] & group[1]  # there is a normal that both ends have
    assert set(surface.overlay.line_region) == set(range(1, len(structure.curves) + 1))
    assert set(surface.overlay.region) <= set(range(len(structure.curves) + 1))
    assert (surface.overlay.kinds == JUNCTION).any()


def test_normals_are_those_of_a_cylinder():
    """Sides pushed together: normals lie across the rulings, and turn a little at each of those between them."""
    engine = pushed_sides(0.1, 0.0).engine(seed=0)
    for _ in range(60):
        engine.advance_frame()
    view = smooth_view(engine.paper)
    ruled = np.unique(view.corner[view.overlay.region > 0])
    normal = view.vertex_normal[ruled[np.argsort(view.mesh.u[view.node[ruled], 0])]]
    assert len(normal) > 60
    assert np.abs(normal[:, 1]).max() < 0.02  # rulings are along y
    assert np.linalg.norm(np.diff(normal, axis=0), axis=1).max() < 0.25


def test_a_mesh_is_cut_until_it_is_fine_enough(pinched):
    view = smooth_view(pinched.paper)
    u = view.mesh.u[view.node]
    label = view.mesh.edge_label
    cut = refine(view.mesh.face_nodes, view.corner, label, u, lambda a, b: np.linalg.norm(b - a, axis=1) > 0.01)
    fine_u = cut.at_nodes(view.mesh.u)
    edges = np.linalg.norm(fine_u[cut.face_nodes] - fine_u[np.roll(cut.face_nodes, -1, axis=1)], axis=2)
    assert edges.max() <= 0.01
    e, f = (
        fine_u[cut.face_nodes[:, 1]] - fine_u[cut.face_nodes[:, 0]],
        fine_u[cut.face_nodes[:, 2]] - fine_u[cut.face_nodes[:, 0]],
    )
    area = 0.5 * (e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0])
    assert area.min() > 0.0
    assert area.sum() == pytest.approx(0.01)
    np.testing.assert_allclose(cut.at_vertices(u)[cut.faces], fine_u[cut.face_nodes], atol=1e-15)
    edge = fine_u[np.roll(cut.face_nodes, -1, axis=1)] - fine_u[cut.face_nodes]
    whole = view.mesh.u[np.roll(view.mesh.faces, -1, axis=1)] - view.mesh.u[view.mesh.faces]
    lengths = [np.linalg.norm(way[marks == 1], axis=1).sum() for way, marks in ((edge, cut.label), (whole, label))]
    assert lengths[0] == pytest.approx(lengths[1])  # rulings are marked from end to end
    by_parent = np.bincount(cut.parent, area, view.mesh.face_count)
    np.testing.assert_allclose(by_parent, view.mesh.face_area, rtol=1e-9)


def test_changes_of_structure_are_heard():
    session = Session(pushed_sides().engine(seed=1))
    for _ in range(80):
        session.advance_frame()
    heard = [event for event in session.events() if event.kind in ("bend", "singular")]
    assert {event.kind for event in heard} == {"bend", "singular"}
    assert all(1e-9 < event.energy < 1e-2 for event in heard if event.kind == "singular")


def test_a_fading_view_is_a_valid_mesh(pinched):
    engine = pushed_sides().engine(seed=1)
    engine.shown()
    while not engine.paper.structure.curves:
        engine.advance_frame()
    view = engine.shown()
    assert view.mesh.face_count > smooth_view(engine.paper).mesh.face_count
    assert validate_mesh(view.mesh) == []
    assert view.state(engine.state).mesh is view.mesh
