"""Ridges of creases: consecutive edges of a crease line, and the wings beside them.

A crease line is a chain of edges with one label; junctions, ends and corners of the pattern end chains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Bools, Floats, Ints

CORNER = np.sin(np.radians(15.0))
"""Sine of the angle in the pattern from which two edges are no ridge but a corner of the line."""


@dataclass(frozen=True)
class Ridges:
    """Pairs of consecutive edges of crease lines.

    `hinges` (n, 2): first and second edge;  `nodes` (n, 3): a, b, c along them;  `left`, `right` (n, 2): the nodes
    opposite to the first and to the second edge on either side;  `place` (n, 2): b in the pattern [m].
    The direction a → c is that of ascending pattern coordinates, so that it is the same on every mesh.
    """

    hinges: Ints
    nodes: Ints
    left: Ints
    right: Ints
    place: Floats


def find_ridges(mesh: SheetMesh, hinges: Ints, group: Ints) -> Ridges:
    """The ridges among the given `hinges` (m,), each of which belongs to a `group` (m,)."""
    if not len(hinges):
        none = np.zeros((0, 2), np.int32)
        return Ridges(none, np.zeros((0, 3), np.int32), none, none, np.zeros((0, 2)))
    stencil = mesh.hinges.nodes[hinges]
    node = stencil[:, :2].ravel()
    hinge, own = np.repeat(np.asarray(hinges), 2), np.repeat(np.asarray(group), 2)
    order = np.lexsort((hinge, own, node))
    node, hinge, own = node[order], hinge[order], own[order]
    same = (node[1:] == node[:-1]) & (own[1:] == own[:-1])
    count = _run_lengths(same)
    first = np.flatnonzero(same & (count[:-1] == 2))
    pairs = np.stack([hinge[first], hinge[first + 1]], axis=1).reshape(-1, 2)
    middle = node[first]
    ends = np.stack([_other_end(mesh, pairs[:, k], middle) for k in range(2)], axis=1).reshape(-1, 2)
    vertex = [_vertices(mesh, pairs[:, k], middle) for k in range(2)]
    way = [mesh.u[inner] - mesh.u[outer] for inner, outer in vertex]  # towards the middle, on each edge
    length = [np.maximum(np.linalg.norm(part, axis=1), 1e-300) for part in way]
    cross = np.abs(way[0][:, 0] * way[1][:, 1] - way[0][:, 1] * way[1][:, 0]) / (length[0] * length[1])
    along = np.einsum("ni,ni->n", way[0], way[1])
    straight = (vertex[0][0] != vertex[1][0]) | ((cross < CORNER) & (along < 0.0))
    slant = np.abs(way[0][:, 0]) > 1e-6 * length[0]
    forward = np.where(slant, way[0][:, 0] > 0.0, way[0][:, 1] > 0.0)
    pairs, ends = _ordered(pairs, forward), _ordered(ends, forward)
    left, right = np.empty_like(pairs), np.empty_like(pairs)
    for k, (tail, head) in enumerate(((ends[:, 0], middle), (middle, ends[:, 1]))):
        nodes = mesh.hinges.nodes[pairs[:, k]]
        runs = nodes[:, 0] == tail
        left[:, k] = np.where(runs, nodes[:, 2], nodes[:, 3])
        right[:, k] = np.where(runs, nodes[:, 3], nodes[:, 2])
        assert np.all(np.where(runs, nodes[:, 1], nodes[:, 0]) == head)
    chosen = np.flatnonzero(straight)
    return Ridges(
        hinges=pairs[chosen].astype(np.int32),
        nodes=np.stack([ends[:, 0], middle, ends[:, 1]], axis=1)[chosen].astype(np.int32),
        left=left[chosen].astype(np.int32),
        right=right[chosen].astype(np.int32),
        place=mesh.u[vertex[0][0]][chosen],
    )


def _run_lengths(same: Bools) -> Ints:
    """How many entries the run of equal neighbours has that each entry belongs to, (len(same) + 1,)."""
    run = np.cumsum(np.concatenate([[True], ~same])) - 1
    return np.asarray(np.bincount(run)[run])


def _other_end(mesh: SheetMesh, hinges: Ints, node: Ints) -> Ints:
    """The end of each hinge's edge that is not `node`."""
    ends = mesh.hinges.nodes[hinges]
    return np.where(ends[:, 0] == node, ends[:, 1], ends[:, 0])


def _vertices(mesh: SheetMesh, hinges: Ints, node: Ints) -> tuple[Ints, Ints]:
    """The vertices at `node` and at the other end of each hinge's edge, on its first face."""
    corner = mesh.hinges.corners[hinges, 0]
    tail, head = mesh.faces.ravel()[corner], mesh.faces.ravel()[3 * (corner // 3) + (corner + 1) % 3]
    at_tail = mesh.vertex_node[tail] == node
    return np.where(at_tail, tail, head), np.where(at_tail, head, tail)


def _ordered(pairs: Ints, forward: Bools) -> Ints:
    """Pairs (n, 2), exchanged where not `forward`."""
    return np.where(forward[:, None], pairs, pairs[:, ::-1])
