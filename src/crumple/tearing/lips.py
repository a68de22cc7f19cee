"""Lips of cracks gain thickness: once per frame they part in `node_rest`, where contact does not begin by that.

A fresh cut is hardly wider than nothing (`tearing.opening`), so contact between its lips begins when they all but
touch.
As they part, the distance in `node_rest` that tells them apart may grow to the reach of contact, so that they meet
later
at their full thickness. Raising all nodes at once would make pairs near the tip act, so nodes of such pairs stay as
they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.contact import Surface, active_pairs, find_candidates
from crumple.mesh import SheetMesh
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.runtime.typing import Bools, Floats
from crumple.state import State
from crumple.tearing.tuning import TUNING

GROWTH = TUNING.lip_growth.value
HEIGHT_FRACTION = TUNING.lip_opening.value
ROUNDS = TUNING.lip_rounds.value


def grow_lips(model: Model, state: State) -> State:
    """The state with its lips farther apart in `node_rest`; the same object when there is nothing to change.

    Only sheets whose `node_rest` is their flat pattern have lips that can be told from the rest.
    """
    mesh = state.mesh
    if not model.contact.enabled or not len(state.torn.points):
        return state
    height = mesh.node_rest[:, 2]
    surface = contact_surface(model, state, state.time)
    wanted = np.sign(height) * np.minimum(GROWTH * np.abs(height), _limits(mesh, surface))
    grown = _lips(mesh) & (np.abs(wanted) > 1.01 * np.abs(height))
    grown[state.tips.node] = False
    x = np.concatenate([state.x, state.obstacle_x])
    for _ in range(ROUNDS):
        if not grown.any():
            return state
        rest = mesh.node_rest.copy()
        rest[grown, 2] = wanted[grown]
        tried = replace(surface, node_rest=np.concatenate([rest, surface.node_rest[len(rest) :]]))
        pairs = active_pairs(tried, find_candidates(tried, x, x, tried.reach), x, model.contact.stiffness)
        touched = np.unique(pairs.stencil)
        touched = touched[touched < len(grown)]
        if not grown[touched].any():
            return state.replaced(mesh=replace(mesh, node_rest=rest))
        grown[touched] = False
    return state


def _lips(mesh: SheetMesh) -> Bools:
    """Border nodes that a cut has moved out of the plane of a flat pattern, (node_count,)."""
    flat = np.ones(mesh.node_count, bool)
    off = np.any(np.abs(mesh.node_rest[mesh.vertex_node, :2] - mesh.u) > 1e-9, axis=1)
    flat[mesh.vertex_node[off]] = False
    return mesh.boundary_nodes & flat & (mesh.node_rest[:, 2] != 0.0)


def _limits(mesh: SheetMesh, surface: Surface) -> Floats:
    """How far from the middle each node may be at most [m], (node_count,)."""
    longest = mesh.corner_length.reshape(-1, 3).max(axis=1)
    least = np.full(mesh.node_count, np.inf)
    np.minimum.at(least, mesh.face_nodes.ravel(), np.repeat(2.0 * np.abs(mesh.face_area) / longest, 3))
    return np.minimum(HEIGHT_FRACTION * least, surface.reach)
