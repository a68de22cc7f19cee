"""A view cut finer: edges are halved until each is fine enough.

Faces have corners at nodes, and at vertices, of which there may be several at a node; the first ones stay what they
were, and a new one is the middle of two before it. So any values go over to the finer mesh.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crumple.runtime.typing import Bools, Floats, Ints

PASSES = 8
"""Most times that edges are halved."""


@dataclass(frozen=True)
class Refinement:
    """`face_nodes`, `faces` (m, 3): nodes and vertices of the corners, and the face `parent` (m,) that each comes from;
    `label` (m, 3): of the edges from corner k to k + 1, 0 of new ones within faces;  `node_ends`, `vertex_ends`: for
    every pass the pairs (k, 2) whose middles are added."""

    face_nodes: Ints
    faces: Ints
    parent: Ints
    label: Ints
    node_ends: tuple[Ints, ...]
    vertex_ends: tuple[Ints, ...]

    def at_nodes(self, values: Floats) -> Floats:
        """Values at the nodes of the finer mesh."""
        return _halved(values, self.node_ends)

    def at_vertices(self, values: Floats) -> Floats:
        """Values at the vertices of the finer mesh."""
        return _halved(values, self.vertex_ends)


def refine(
    face_nodes: Ints, faces: Ints, label: Ints, u: Floats, is_coarse: Callable[[Floats, Floats], Bools]
) -> Refinement:
    """The refinement of `faces` (n, 3) of vertices with the pattern `u` (vertex_count, 2) [m]; `face_nodes`, `label`
    (n, 3): the nodes of the same corners, and the labels of edges.

    `is_coarse`: whether edges between two points (k, 2) [m] each are to be halved, whichever comes first.
    """
    parent: Ints = np.arange(len(faces), dtype=np.int32)
    node_count, node_ends, vertex_ends = int(face_nodes.max()) + 1, [], []
    for _ in range(PASSES):
        is_long = is_coarse(u[faces].reshape(-1, 2), u[np.roll(faces, -1, axis=1)].reshape(-1, 2)).reshape(-1, 3)
        if not is_long.any():
            break
        mid_node, ends = _middles(face_nodes, is_long, node_count)
        node_ends.append(ends)
        node_count += len(ends)
        mid_vertex, ends = _middles(faces, is_long, len(u))
        vertex_ends.append(ends)
        u = np.concatenate([u, 0.5 * (u[ends[:, 0]] + u[ends[:, 1]])])
        face_nodes, _, _ = _cut(face_nodes, mid_node, is_long, label)
        faces, label, own = _cut(faces, mid_vertex, is_long, label)
        parent = parent[own]
    return Refinement(face_nodes, faces, parent, label, tuple(node_ends), tuple(vertex_ends))


def _halved(values: Floats, passes: tuple[Ints, ...]) -> Floats:
    for ends in passes:
        values = np.concatenate([values, 0.5 * (values[ends[:, 0]] + values[ends[:, 1]])])
    return values


def _middles(corners: Ints, is_long: Bools, first: int) -> tuple[Ints, Ints]:
    """The number of the middle of each long edge, (n, 3), counted from `first`, and the ends of each (k, 2)."""
    pairs = np.sort(np.stack([corners, np.roll(corners, -1, axis=1)], axis=2), axis=2)[is_long]
    ends, number = np.unique(pairs, axis=0, return_inverse=True)
    middle = np.full(corners.shape, -1, np.int32)
    middle[is_long] = first + number.ravel()
    return middle, ends.astype(np.int32)


def _cut(corners: Ints, middle: Ints, is_long: Bools, label: Ints) -> tuple[Ints, Ints, Ints]:
    """The faces cut at the middles of their long edges, the labels of their edges, and which face each comes from."""
    count = is_long.sum(axis=1)
    # Turned so that a single long edge comes first, or two of them.
    turn = np.where(count == 1, is_long.argmax(axis=1), np.where(count == 2, (~is_long).argmax(axis=1) + 1, 0))
    order = (turn[:, None] + np.arange(3)) % 3
    (a, b, c), (m, n, o), (p, q, r) = (np.take_along_axis(array, order, 1).T for array in (corners, middle, label))
    z = np.zeros_like(p)
    shapes = {
        0: (((a, b, c), (p, q, r)),),
        1: (((a, m, c), (p, z, r)), ((m, b, c), (p, q, z))),
        2: (((m, b, n), (p, q, z)), ((a, m, n), (p, z, z)), ((a, n, c), (z, q, r))),
        3: (((a, m, o), (p, z, r)), ((m, b, n), (p, q, z)), ((o, n, c), (z, q, r)), ((m, n, o), (z, z, z))),
    }
    faces, labels, own = [], [], []
    for number, parts in shapes.items():
        of = np.flatnonzero(count == number)
        for part, marks in parts:
            faces.append(np.stack(part, axis=1)[of])
            labels.append(np.stack(marks, axis=1)[of])
            own.append(of)
    return np.concatenate(faces).astype(np.int32), np.concatenate(labels).astype(np.int32), np.concatenate(own)
