"""The surroundings of a crack's tip over which its driving force is summed up."""

from __future__ import annotations

from math import inf

import numpy as np

from crumple.mesh import BOUNDARY, SheetMesh
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.tearing.path import node_vertex
from crumple.tearing.tuning import TUNING

REACH = TUNING.tip_reach.value
COARSE = TUNING.tip_reach_coarse.value
LIP_TURN = TUNING.lip_turn.value
NONE: Ints = np.zeros(0, np.int32)


def tip_weights(
    mesh: SheetMesh,
    node: int,
    heading: Floats,
    size: float,
    *,
    lips: float = inf,
    core: float = 0.0,
    reach: float = REACH,
    still: Ints = NONE,
) -> Floats:
    """How much each node takes part in a motion of the tip at `node`, 1 up to `core` ℓ from it, 0 from `reach` ℓ on,
    (node_count,).

    `heading` (2,) of the crack;  `size` ℓ [m]. The border of the sheet stays where it is, and so do the nodes `still`;
    the lips of the crack move along, only up to `lips` ℓ from the tip if that is given. Only what is connected to the
    tip within the reach counts.
    """
    vertex = node_vertex(mesh, node)
    around = np.unique(mesh.faces[(mesh.faces == vertex).any(axis=1)])
    longest = float(np.linalg.norm(mesh.u[around] - mesh.u[vertex], axis=1).max(initial=0.0))
    farthest = max(reach * size, COARSE * longest)
    distance = np.linalg.norm(mesh.u - mesh.u[vertex], axis=1)
    chosen = connected_within(mesh, vertex, distance < farthest)
    weight, place = np.zeros(mesh.node_count), np.zeros((mesh.node_count, 2))
    place[mesh.vertex_node] = mesh.u
    weight[mesh.vertex_node[chosen]] = np.minimum(1.0, (farthest - distance[chosen]) / (farthest - core * size))
    border = np.flatnonzero(mesh.boundary_nodes & (weight > 0.0))
    moved = np.unique(np.concatenate(lip_nodes(mesh, node, heading, weight > 0.0)))
    weight[np.setdiff1d(border, moved)] = 0.0
    away = np.linalg.norm(place[moved] - mesh.u[vertex], axis=1)
    weight[moved] = np.minimum(weight[moved], np.maximum(0.0, 1.0 - away / (lips * size)) if lips < inf else 1.0)
    weight[still[still != node]] = 0.0
    return weight


def connected_within(mesh: SheetMesh, vertex: int, near: Bools) -> Bools:
    """Which of the vertices that are `near` (vertex_count,) are connected to `vertex` by such, (vertex_count,)."""
    chosen = np.zeros(mesh.vertex_count, bool)
    chosen[vertex] = True
    faces = mesh.faces[near[mesh.faces].any(axis=1)]
    while True:
        grown = faces[chosen[faces].any(axis=1)]
        fresh = np.unique(grown[near[grown] & ~chosen[grown]])
        if not len(fresh):
            return chosen
        chosen[fresh] = True


def has_lips(mesh: SheetMesh, node: int, heading: Floats) -> bool:
    """Whether both border edges at a tip run straight back against its `heading` (2,): only then may it glide."""
    directions = _border_directions(mesh, node)
    return len(directions) == 2 and bool(np.all(directions @ heading < -1.0 + 1e-9))


def _border_directions(mesh: SheetMesh, node: int) -> Floats:
    """Unit vectors (n, 2) along the border edges that leave a node."""
    tail, head = mesh.faces.ravel(), np.roll(mesh.faces, -1, axis=1).ravel()
    is_border = mesh.twin == BOUNDARY
    out = is_border & (mesh.face_nodes.ravel() == node)
    back = is_border & (np.roll(mesh.face_nodes, -1, axis=1).ravel() == node)
    directions = np.concatenate([mesh.u[head[out]] - mesh.u[tail[out]], mesh.u[tail[back]] - mesh.u[head[back]]])
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def lip_nodes(mesh: SheetMesh, node: int, heading: Floats, near: Bools) -> tuple[Ints, Ints]:
    """The nodes of both lips behind the tip at `node` that are `near` (node_count,), and the first that are not, from
    the tip on, which is the first of each."""
    corner = np.flatnonzero(mesh.twin == BOUNDARY)
    tail, head = mesh.face_nodes.ravel()[corner], np.roll(mesh.face_nodes, -1, axis=1).ravel()[corner]
    start, end = mesh.faces.ravel()[corner], np.roll(mesh.faces, -1, axis=1).ravel()[corner]
    step = mesh.u[end] - mesh.u[start]
    step = step / np.linalg.norm(step, axis=1, keepdims=True)
    lips, seen = [], {node}
    for here, there, directions in ((tail, head, step), (head, tail, -step)):
        place, direction, found = node, -heading, [node]
        while near[place]:
            edges = np.flatnonzero(here == place)
            if len(edges) != 1 or float(directions[edges[0]] @ direction) < LIP_TURN:
                break
            place, direction = int(there[edges[0]]), directions[edges[0]]
            if place in seen:
                break
            found.append(place)
            seen.add(place)
        lips.append(np.array(found, np.int32))
    return lips[0], lips[1]
