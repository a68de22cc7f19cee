"""Cracks run through the mesh: cuts ahead of tips, in any direction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crumple.contact import has_intersections, make_surface
from crumple.geometry.overlap import vertex_charts
from crumple.mesh import SheetMesh, validate_mesh
from crumple.shapes import cylinder, rectangle
from crumple.state import Pins, State, initial_state, transfer
from crumple.tearing.opening import open_kerf
from crumple.tearing.path import FIRST, Opening, compose, glide_change, is_bound, node_vertex, open_ahead, open_inside
from crumple.tearing.slits import slit_open
from crumple.tearing.tip import has_lips, tip_weights

SIZE = 0.01


def slit(seed: int) -> State:
    """A sheet of 10 cm with a slit from its left side to its middle."""
    mesh, x = rectangle(0.1, 0.1, SIZE, kind="delaunay", seed=seed)
    state = slit_open(initial_state(mesh, x), np.array([[0.0, 0.05], [0.05, 0.05]]))
    rng = np.random.default_rng(seed)
    return state.replaced(damage=rng.uniform(0.0, 1.0, state.mesh.face_count))


def free(mesh: SheetMesh) -> np.ndarray:
    return np.zeros(mesh.node_count, bool)


def opened(state: State, opening: Opening) -> State:
    """The state after a cut, its lips set apart."""
    after = transfer(state, opening.change)
    mesh, x = open_kerf(after.mesh, after.x, opening.copies, opening.heading)
    return after.replaced(mesh=mesh, x=x)


@pytest.mark.parametrize("seed", range(4))
def test_a_wandering_crack_leaves_a_valid_sheet_that_does_not_touch_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = slit(seed)
    area, damage = state.mesh.face_area.sum(), state.mesh.face_area @ state.damage
    node, angle, cuts = int(state.tips.node[0]), 0.0, 0
    while node >= 0 and cuts < 60:
        angle += rng.uniform(-0.5, 0.5)
        way = np.array([np.cos(angle), np.sin(angle)])
        opening = open_ahead(state.mesh, node, way, first=FIRST * SIZE, kept=free(state.mesh))
        assert opening is not None
        if opening.length > 0.02 * SIZE:  # sides are not split near their ends
            assert opening.heading @ way > np.cos(np.radians(10.1))
        state, node, cuts = opened(state, opening), opening.tip, cuts + 1
        if node < 0:
            break
        vertex = node_vertex(state.mesh, node)
        assert has_lips(state.mesh, node, opening.heading)
        change = glide_change(state.mesh, vertex, state.mesh.u[vertex] + 0.3 * SIZE * opening.heading)
        if change is not None:
            state = transfer(state, change)
    assert cuts > 5
    assert not validate_mesh(state.mesh, state.x)
    assert state.mesh.face_area.sum() == pytest.approx(area, rel=1e-9)
    assert state.mesh.face_area @ state.damage == pytest.approx(damage, rel=1e-9)
    surface = make_surface(state.mesh.face_nodes, state.mesh.node_rest, part_thickness=1e-4, dhat=1e-3)
    assert not has_intersections(surface, state.x)


def test_a_crack_that_reaches_the_border_has_no_tip() -> None:
    state = slit(1)
    node = int(state.tips.node[0])
    for _ in range(40):
        opening = open_ahead(state.mesh, node, np.array([1.0, 0.0]), first=3.0 * SIZE, kept=free(state.mesh))
        assert opening is not None
        state, node = opened(state, opening), opening.tip
        if node < 0:
            break
    assert node == -1
    assert vertex_charts(state.mesh).max() == 1  # two pieces


def test_copies_of_held_nodes_are_held() -> None:
    state = slit(2)
    node = int(state.tips.node[0])
    held = Pins(np.array([node], np.int32), np.zeros(1, np.int32), state.x[[node]].copy())
    opening = open_ahead(state.mesh, node, np.array([1.0, 0.0]), first=FIRST * SIZE, kept=free(state.mesh))
    assert opening is not None
    after = transfer(state.replaced(pins=held), opening.change)
    np.testing.assert_array_equal(after.pins.node, opening.copies[0])


def test_a_slit_inside_the_sheet_has_two_tips() -> None:
    state = slit(0)
    mesh = state.mesh
    node = int(np.argmin(np.linalg.norm(mesh.u - [0.075, 0.075], axis=1)))
    opening = open_inside(mesh, node, np.array([0.0, 1.0]), first=FIRST * SIZE, kept=free(mesh))
    assert opening is not None
    assert min(opening.tip, opening.start) >= 0
    assert len(opening.copies) == 1
    assert not validate_mesh(opening.change.mesh, opening.change.node_operator @ state.x)


def test_changes_after_each_other_are_one_change() -> None:
    state = slit(3)
    node = int(state.tips.node[0])
    first = open_ahead(state.mesh, node, np.array([1.0, 0.0]), first=FIRST * SIZE, kept=free(state.mesh))
    assert first is not None
    vertex = node_vertex(first.change.mesh, first.tip)
    second = glide_change(first.change.mesh, vertex, first.path[-1] + [0.2 * SIZE, 0.0])
    assert second is not None
    both = transfer(state, compose(first.change, second))
    steps = transfer(transfer(state, first.change), second)
    np.testing.assert_allclose(both.x, steps.x, atol=1e-15)
    area = both.mesh.face_area
    assert area @ both.damage == pytest.approx(area @ steps.damage, rel=1e-12)


def test_only_the_lips_move_along_with_a_tip() -> None:
    state = slit(1)
    node, heading = int(state.tips.node[0]), state.tips.heading[0]
    weight = tip_weights(state.mesh, node, heading, SIZE)
    assert weight[node] == 1.0
    lips = np.flatnonzero(state.mesh.boundary_nodes & (weight > 0.0))
    np.testing.assert_allclose(state.mesh.node_rest[lips, 1], 0.05, atol=1e-6)
    assert len(lips) >= 5
    near = tip_weights(state.mesh, node, heading, SIZE, lips=1.5)
    inner = ~state.mesh.boundary_nodes
    np.testing.assert_array_equal(near[inner], weight[inner])
    away = np.abs(state.mesh.node_rest[lips, 0] - state.mesh.node_rest[node, 0])
    np.testing.assert_allclose(near[lips], np.maximum(0.0, 1.0 - away / (1.5 * SIZE)), atol=1e-6)


def test_a_cut_is_as_long_as_it_is_asked_for_and_kept_nodes_stay() -> None:
    state = slit(3)
    node = int(state.tips.node[0])
    vertex = node_vertex(state.mesh, node)
    around = np.unique(state.mesh.faces[(state.mesh.faces == vertex).any(axis=1)])
    ahead = around[np.argmax(state.mesh.u[around, 0])]  # the end of the edge that the crack will take
    along = state.mesh.u[ahead] - state.mesh.u[vertex]
    length = float(np.linalg.norm(along))
    kept = free(state.mesh)
    kept[state.mesh.vertex_node[ahead]] = True
    for share in (0.1, 0.5):
        for nodes in (free(state.mesh), kept):
            opening = open_ahead(state.mesh, node, along / length, first=share * length, kept=nodes)
            assert opening is not None
            assert opening.length == pytest.approx(share * length, rel=1e-6)
            assert not opening.is_fixed
            if nodes is kept:
                np.testing.assert_allclose(opening.change.mesh.u[ahead], state.mesh.u[ahead])
    whole = open_ahead(state.mesh, node, along / length, first=0.9 * length, kept=kept)
    assert whole is not None
    assert whole.length == pytest.approx(length)
    assert whole.is_fixed


def test_a_tip_on_a_labelled_line_may_glide_along_it_only() -> None:
    mesh, _ = rectangle(0.1, 0.1, SIZE, kind="alternating")
    on = np.abs(mesh.u[mesh.faces][..., 1] - 0.05) < 1e-9
    mesh = replace(mesh, edge_label=np.where(on & np.roll(on, -1, axis=1), 3, 0).astype(np.int32))
    assert mesh.edge_label.any()
    node = int(np.argmin(np.linalg.norm(mesh.u - [0.05, 0.05], axis=1)))
    assert not is_bound(mesh, node, np.array([1.0, 0.0]))
    assert is_bound(mesh, node, np.array([0.0, 1.0]))
    assert not is_bound(mesh, int(np.argmin(np.linalg.norm(mesh.u - [0.05, 0.08], axis=1))), np.array([0.0, 1.0]))


def test_a_tip_on_a_seam_does_not_glide() -> None:
    """Its node has several vertices, so no place of its own on the pattern."""
    mesh, _ = cylinder(0.1, 0.1, 0.02)
    seam = int(np.flatnonzero(np.bincount(mesh.vertex_node) > 1)[0])
    assert node_vertex(mesh, seam) == -1
    assert glide_change(mesh, node_vertex(mesh, seam), np.array([0.05, 0.05])) is None
