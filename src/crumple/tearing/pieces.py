"""Pieces that have come off a sheet are told apart in `node_rest`, once they are clear of each other.

Contact within a sheet acts below half the distance in `node_rest`, which is next to nothing across a cut. When a piece
has no link to the rest any more, its `node_rest` moves out of the plane by several times the reach of contact: from
then on the two touch at their full thickness, like two sheets. While they are nearer to each other than that, nothing
happens: they would be pushed apart at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from crumple.contact import Surface, active_pairs, find_candidates
from crumple.mesh import SheetMesh
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import State
from crumple.tearing.tuning import TUNING

LEVEL = TUNING.piece_distance.value


def part_pieces(model: Model, state: State) -> State:
    """The state with pieces that are clear of all others moved apart in `node_rest`; the same object when none is."""
    if not model.contact.enabled:
        return state
    surface = contact_surface(model, state, state.time)
    for piece in _pieces(state.mesh, 0.5 * LEVEL * surface.reach):
        mesh = state.mesh
        rest = mesh.node_rest.copy()
        rest[piece, 2] += LEVEL * surface.reach + float(np.ptp(rest[:, 2]))
        tried = replace(surface, node_rest=np.concatenate([rest, surface.node_rest[len(rest) :]]))
        if _touching(tried, model, state) <= _touching(surface, model, state):
            state, surface = state.replaced(mesh=replace(mesh, node_rest=rest)), tried
    return state


def _touching(surface: Surface, model: Model, state: State) -> int:
    """How many pairs act."""
    x: Floats = np.concatenate([state.x, state.obstacle_x])
    return len(active_pairs(surface, find_candidates(surface, x, x, surface.reach), x, model.contact.stiffness).stencil)


def _pieces(mesh: SheetMesh, apart: float) -> list[Bools]:
    """Pieces of sheets, (node_count,) each, that are less than `apart` [m] out of the plane of another one; the largest
    of a sheet stays where it is."""
    label = _components(mesh)
    size = np.bincount(label)
    height = np.bincount(label, mesh.node_rest[:, 2]) / size
    found = []
    for sheet in np.unique(mesh.node_sheet).tolist():
        numbers = np.unique(label[mesh.node_sheet == sheet])
        for number in numbers[np.argsort(-size[numbers], kind="stable")][1:].tolist():
            others = numbers[numbers != number]
            if (np.abs(height[others] - height[number]) < apart).any():
                found.append(label == number)
    return found


def _components(mesh: SheetMesh) -> Ints:
    """The number of the connected piece that each node belongs to, (node_count,)."""
    tail, head = mesh.face_nodes.ravel(), np.roll(mesh.face_nodes, -1, axis=1).ravel()
    graph = coo_matrix((np.ones(len(tail), np.int8), (tail, head)), shape=(mesh.node_count, mesh.node_count))
    return connected_components(graph, directed=False)[1].astype(np.int32)
