"""What drives a tip is the energy that the sheet sets free when its tip is elsewhere and its lips stay."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.model.derived import Derived
from crumple.runtime.typing import Floats
from crumple.shapes import rectangle
from crumple.state import Pins, State, initial_state, transfer
from crumple.stepping.step import measure_energies
from crumple.studies.validation.strip import reaction, settle
from crumple.studies.validation.torn_sheet import tearing_material, tearing_model
from crumple.tearing.path import followed, glide_change, node_vertex
from crumple.tearing.slits import slit_open
from crumple.tearing.tip_load import tip_force

SIDE, SIZE, SLIT = 0.06, 2e-3, 0.03
MODEL = tearing_model(tearing_material(1e9), contact=False)


def pushed(push: tuple[float, float], behind: float, size: float = SIZE) -> State:
    """A square, held at three sides and slit from the fourth, its left lip pushed by `push` [m] at a place `behind` the
    tip [m]; at rest."""
    mesh, x = rectangle(SIDE, SIDE, size, kind="delaunay", seed=0)
    state = slit_open(initial_state(mesh, x, step_size=1.0), np.array([[0.5 * SIDE, 0.0], [0.5 * SIDE, SLIT]]))
    mesh, u = state.mesh, state.mesh.u
    held = np.flatnonzero((u[:, 0] < 1e-9) | (u[:, 0] > SIDE - 1e-9) | (u[:, 1] > SIDE - 1e-9))
    farthest = np.full(mesh.vertex_count, -np.inf)
    np.maximum.at(farthest, mesh.faces.ravel(), np.repeat(u[mesh.faces].mean(axis=1)[:, 0], 3))
    lip = np.flatnonzero((np.abs(u[:, 0] - 0.5 * SIDE) < 1e-6) & (farthest < 0.5 * SIDE))
    chosen = lip[np.argmin(np.abs(u[lip, 1] - (SLIT - behind)))]
    node = mesh.vertex_node[np.append(held, chosen)].astype(np.int32)
    anchor = mesh.node_rest[node] * [1.0, 1.0, 0.0]
    anchor[-1, :2] += push
    handle = np.append(np.zeros(len(held), np.int32), np.int32(1))
    flat = np.ascontiguousarray(state.x * [1.0, 1.0, 0.0])
    return settle(MODEL, state.replaced(x=flat, pins=Pins(node, handle, np.ascontiguousarray(anchor))), frames=1)


def set_free(state: State, way: Floats) -> float:
    """Energy that is set free per length [N] when the tip alone is moved along `way` (2,) and the sheet comes to rest
    again."""
    vertex = node_vertex(state.mesh, int(state.tips.node[0]))
    reach = 0.05 * SIZE
    energy = []
    for sign in (-1.0, 1.0):
        change = glide_change(state.mesh, vertex, state.mesh.u[vertex] + sign * reach * way)
        assert change is not None
        moved = transfer(state, followed(change, change.node_operator @ state.x)).replaced(tips=state.tips)
        moved = settle(MODEL, moved, frames=1)
        energy.append(sum(measure_energies(moved, Derived(MODEL, moved)).values()))
    return (energy[0] - energy[1]) / (2.0 * reach)


@pytest.mark.parametrize(("push", "behind"), [((-2e-5, 0.0), 4.5e-3), ((-2e-5, 2e-5), 0.012)])
def test_a_push_against_a_lip_turns_the_crack_as_moving_its_tip_aside_sets_energy_free(push, behind):
    state = pushed(push, behind)
    heading = state.tips.heading[0]
    normal = np.array([-heading[1], heading[0]])
    across = tip_force(state, Derived(MODEL, state), 0, SIZE) @ normal
    along = set_free(state, heading)
    assert along > 0.0
    assert across == pytest.approx(set_free(state, normal), abs=0.3 * along)


def test_a_lip_held_two_edges_behind_a_tip_drives_it_as_on_a_finer_mesh():
    found = []
    for size in (SIZE, 0.5 * SIZE):
        state = pushed((-2e-5, 0.0), 4.5e-3, size)
        force = tip_force(state, Derived(MODEL, state), 0, size) @ state.tips.heading[0]
        found.append(force / float(np.linalg.norm(reaction(MODEL, state, 1))) ** 2)  # what a point bears depends on ℓ
    assert found[0] == pytest.approx(found[1], rel=0.35)
