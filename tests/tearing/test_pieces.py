"""Pieces that have come apart touch at their full thickness once they are clear of each other."""

from __future__ import annotations

import numpy as np

from crumple.contact import active_pairs, find_candidates
from crumple.model.derived import contact_surface
from crumple.shapes import rectangle
from crumple.state import State, initial_state
from crumple.studies.validation.torn_sheet import tearing_material, tearing_model
from crumple.tearing.pieces import part_pieces
from crumple.tearing.slits import slit_open

MODEL = tearing_model(tearing_material())


def halves(gap: float) -> State:
    """A flat sheet cut through, its left half `gap` [m] above the right one."""
    mesh, x = rectangle(0.06, 0.06, 0.006, kind="alternating")
    state = slit_open(initial_state(mesh, x), np.array([[0.03, -0.01], [0.03, 0.07]]))
    middle = state.mesh.u[state.mesh.faces].mean(axis=1)[:, 0] < 0.03
    x = state.x.copy()
    x[np.unique(state.mesh.face_nodes[middle]), 2] += gap
    return state.replaced(x=x)


def contacts(state: State) -> int:
    surface = contact_surface(MODEL, state, 0.0)
    pairs = find_candidates(surface, state.x, state.x, surface.reach)
    return len(active_pairs(surface, pairs, state.x, 1e5).stencil)


def pressed(state: State, gap: float) -> State:
    """The left half laid over the right one, `gap` [m] above it."""
    left = np.unique(state.mesh.face_nodes[state.mesh.u[state.mesh.faces].mean(axis=1)[:, 0] < 0.03])
    x = state.x.copy()
    x[left] = state.mesh.node_rest[left] * [1.0, 1.0, 0.0] + [0.003, 0.0, gap]
    return state.replaced(x=x)


def test_a_piece_that_is_clear_of_the_rest_gets_its_full_thickness() -> None:
    state = halves(0.02)
    parted = part_pieces(MODEL, state)
    assert parted is not state
    assert contacts(parted) == 0
    reach = contact_surface(MODEL, state, 0.0).reach
    moved = parted.mesh.node_rest[:, 2] - state.mesh.node_rest[:, 2]
    assert len(np.unique(np.round(moved, 9))) == 2
    assert moved.max() > 4.0 * reach
    assert part_pieces(MODEL, parted) is parted
    # at 0.9 of the reach above each other the halves touch all along the cut, not only far from it
    edge = np.abs(state.mesh.u[:, 0] - 0.03) < 0.0072

    def touched(one: State) -> int:
        surface = contact_surface(MODEL, one, 0.0)
        pairs = active_pairs(surface, find_candidates(surface, one.x, one.x, surface.reach), one.x, 1e5)
        found = np.unique(pairs.stencil)
        return int(np.isin(found, state.mesh.vertex_node[edge]).sum())

    assert touched(pressed(parted, 0.9 * reach)) > touched(pressed(state, 0.9 * reach))


def test_a_piece_that_lies_where_it_was_stays_as_it_is() -> None:
    state = halves(0.0)
    assert part_pieces(MODEL, state) is state


def test_a_sheet_in_one_piece_stays_as_it_is() -> None:
    mesh, x = rectangle(0.06, 0.06, 0.006, kind="alternating")
    state = slit_open(initial_state(mesh, x), np.array([[0.03, -0.01], [0.03, 0.04]]))
    assert part_pieces(MODEL, state) is state
