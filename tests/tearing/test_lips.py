"""Lips of cracks gain thickness where that does not make them touch."""

from __future__ import annotations

import numpy as np

from crumple.contact import active_pairs, find_candidates
from crumple.model.derived import contact_surface
from crumple.shapes import rectangle
from crumple.state import State, initial_state
from crumple.studies.validation.torn_sheet import tearing_material, tearing_model
from crumple.tearing.lips import grow_lips
from crumple.tearing.slits import slit_open

MODEL = tearing_model(tearing_material())


def opened(gap: float) -> State:
    """A flat sheet with a slit, its left half `gap` [m] above the right one where the slit is open."""
    mesh, x = rectangle(0.06, 0.06, 0.006, kind="alternating")
    state = slit_open(initial_state(mesh, x), np.array([[0.03, 0.0], [0.03, 0.04]]))
    middle = np.zeros(state.mesh.node_count)
    np.add.at(middle, state.mesh.face_nodes.ravel(), np.repeat(state.mesh.u[state.mesh.faces].mean(axis=1)[:, 0], 3))
    left = middle / np.bincount(state.mesh.face_nodes.ravel(), minlength=state.mesh.node_count) < 0.03
    x = state.x.copy()
    x[left, 2] += gap * np.clip((0.04 - x[left, 1]) / 0.04, 0.0, 1.0)
    return state.replaced(x=x)


def heights(state: State) -> np.ndarray:
    return np.abs(state.mesh.node_rest[:, 2])


def contacts(state: State) -> int:
    surface = contact_surface(MODEL, state, 0.0)
    pairs = find_candidates(surface, state.x, state.x, surface.reach)
    return len(active_pairs(surface, pairs, state.x, 1e5).stencil)


def test_lips_that_stand_open_grow_to_their_thickness_and_nothing_acts() -> None:
    state = opened(0.02)
    for _ in range(10):
        state = grow_lips(MODEL, state)
        assert contacts(state) == 0
    assert heights(state).max() > 3e-4
    assert heights(state)[state.tips.node].max() == 0.0


def test_lips_that_lie_beside_each_other_stay_as_they_are() -> None:
    state = opened(0.0)
    assert heights(grow_lips(MODEL, state)).max() <= 4.0 * heights(state).max()
    for _ in range(10):
        state = grow_lips(MODEL, state)
        assert contacts(state) == 0
    assert heights(state).max() < 1e-5
