"""The surroundings of a crack's tip over which its driving force is summed up."""

from __future__ import annotations

from math import inf

import numpy as np

from crumple.mesh import BOUNDARY, SheetMesh
from crumple.runtime.compiled import device, kernel
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
    return _weights(
        mesh.faces, mesh.face_nodes, mesh.vertex_node, mesh.u, mesh.boundary_nodes, mesh.twin,
        node, node_vertex(mesh, node), np.ascontiguousarray(heading), size, lips, core, reach, still,
    )  # fmt: skip


def connected_within(mesh: SheetMesh, vertex: int, near: Bools) -> Bools:
    """Which of the vertices that are `near` (vertex_count,) are connected to `vertex` by such, (vertex_count,)."""
    return _connected(mesh.faces, vertex, near)


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
    left, right = _lips(
        mesh.faces, mesh.face_nodes, mesh.u, mesh.twin, node, np.ascontiguousarray(heading), near
    )  # fmt: skip
    return left, right


@kernel
def _weights(
    faces, face_nodes, vertex_node, u, boundary_nodes, twin,
    node, vertex, heading, size, lips, core, reach, still,
):  # fmt: skip
    """See `tip_weights`."""
    longest = 0.0
    for f in range(faces.shape[0]):
        if faces[f, 0] == vertex or faces[f, 1] == vertex or faces[f, 2] == vertex:
            for k in range(3):
                longest = max(longest, np.hypot(u[faces[f, k], 0] - u[vertex, 0], u[faces[f, k], 1] - u[vertex, 1]))
    farthest = max(reach * size, COARSE * longest)
    distance = np.empty(u.shape[0])
    near = np.empty(u.shape[0], np.bool_)
    for v in range(u.shape[0]):
        distance[v] = np.hypot(u[v, 0] - u[vertex, 0], u[v, 1] - u[vertex, 1])
        near[v] = distance[v] < farthest
    chosen = _connected(faces, vertex, near)
    weight = np.zeros(boundary_nodes.shape[0])
    away = np.zeros(boundary_nodes.shape[0])
    for v in range(u.shape[0]):
        away[vertex_node[v]] = distance[v]
        if chosen[v]:
            weight[vertex_node[v]] = min(1.0, (farthest - distance[v]) / (farthest - core * size))
    moving = weight > 0.0
    first, second = _lips(faces, face_nodes, u, twin, node, heading, moving)
    is_lip = np.zeros(weight.shape[0], np.bool_)
    is_lip[first] = True
    is_lip[second] = True
    for n in range(weight.shape[0]):
        if is_lip[n]:
            most = 1.0 if lips == inf else max(0.0, 1.0 - away[n] / (lips * size))
            weight[n] = min(weight[n], most)
        elif boundary_nodes[n]:
            weight[n] = 0.0
    for k in range(still.shape[0]):
        if still[k] != node:
            weight[still[k]] = 0.0
    return weight


@kernel
def _connected(faces, vertex, near):
    """See `connected_within`: faces are gone through until nothing is added."""
    chosen = np.zeros(near.shape[0], np.bool_)
    chosen[vertex] = True
    grows = True
    while grows:
        grows = False
        for f in range(faces.shape[0]):
            a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
            if chosen[a] or chosen[b] or chosen[c]:
                for v in (a, b, c):
                    if near[v] and not chosen[v]:
                        chosen[v] = True
                        grows = True
    return chosen


@kernel
def _lips(faces, face_nodes, u, twin, node, heading, near):
    """See `lip_nodes`."""
    border = np.flatnonzero(twin == BOUNDARY)
    seen = np.zeros(near.shape[0], np.bool_)
    seen[node] = True
    return (
        _one_lip(faces, face_nodes, u, border, node, heading, near, seen, 0),
        _one_lip(faces, face_nodes, u, border, node, heading, near, seen, 1),
    )


@device
def _one_lip(faces, face_nodes, u, border, node, heading, near, seen, side):
    """The nodes of the lip that leaves a tip along border edges (`side` 0), or against them (1)."""
    found = np.empty(border.shape[0] + 1, np.int32)
    found[0] = node
    count, place = 1, node
    along, across = -heading[0], -heading[1]
    while near[place]:
        edges, last = 0, -1
        for corner in border:
            k = corner % 3 if side == 0 else (corner + 1) % 3
            if face_nodes[corner // 3, k] == place:
                edges, last = edges + 1, corner
        if edges != 1:
            break
        face, here = last // 3, last % 3 if side == 0 else (last + 1) % 3
        there = (last + 1) % 3 if side == 0 else last % 3
        a, b = faces[face, here], faces[face, there]
        dx, dy = u[b, 0] - u[a, 0], u[b, 1] - u[a, 1]
        length = np.hypot(dx, dy)
        if (dx * along + dy * across) / length < LIP_TURN:
            break
        place, along, across = face_nodes[face, there], dx / length, dy / length
        if seen[place]:
            break
        seen[place] = True
        found[count] = place
        count += 1
    return found[:count].copy()
