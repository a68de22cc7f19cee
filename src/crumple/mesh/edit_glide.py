"""Glide a vertex through the pattern inside the ring of its faces, nothing else changes.

The node takes the place that the sheet has there already: it lies between the corners of the face that it enters. At
the tip of a crack both lips share the vertex, so the pattern on either side of the crack stays what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.mesh.refusal import Refusal
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats, Ints

LEAST_HEIGHT = 0.25
"""Height of a face over the side opposite to the vertex that gliding leaves, as a fraction of that side: thinner faces
are not made, and those that are thinner do not get thinner still."""
_KEPT = ("face_nodes", "twin", "edge_corners", "edges", "hinges", "boundary_nodes", "node_sheet")
"""What is known of a mesh and does not depend on the pattern."""


@dataclass(frozen=True)
class Glide:
    """`vertex` moves to `target` (2,) [m], which lies between the `corners` (3,), vertices, with the `weights` (3,)."""

    vertex: int
    target: Floats
    corners: Ints
    weights: Floats


def ring_faces(mesh: SheetMesh, vertex: int) -> Ints:
    """The faces around a vertex, ascending."""
    return np.flatnonzero((mesh.faces == vertex).any(axis=1)).astype(np.int32)


def opposite_sides(mesh: SheetMesh, vertex: int, faces: Ints) -> Ints:
    """The sides a → b opposite to `vertex` in `faces` (n,), in their orientation, (n, 2) vertices."""
    corner = np.argmax(mesh.faces[faces] == vertex, axis=1)
    return np.stack([mesh.faces[faces, (corner + 1) % 3], mesh.faces[faces, (corner + 2) % 3]], axis=1)


def glide_room(mesh: SheetMesh, vertex: int, direction: Floats) -> float:
    """How far a vertex can glide along the unit `direction` (2,) before one of its faces becomes too thin [m]."""
    start, side = _sides(mesh, vertex)
    length = np.linalg.norm(side, axis=1)
    inward = np.stack([-side[:, 1], side[:, 0]], axis=1) / length[:, None]
    height = np.einsum("fa,fa->f", mesh.u[vertex] - start, inward)
    approach = -inward @ direction
    limits = (height - LEAST_HEIGHT * length)[approach > 1e-12] / approach[approach > 1e-12]
    return max(0.0, float(limits.min(initial=np.inf)))


def plan_glide(mesh: SheetMesh, vertex: int, target: Floats) -> Glide | Refusal:
    """The glide of `vertex` to `target` (2,) [m], or why it cannot be made."""
    faces = ring_faces(mesh, vertex)
    start, side = _sides(mesh, vertex)
    area = side[:, 0] * (target[1] - start[:, 1]) - side[:, 1] * (target[0] - start[:, 0])
    if not np.all(area > 1e-9 * np.einsum("fa,fa->f", side, side)):
        return Refusal.INVERTED
    weights = _barycentric(mesh.u[mesh.faces[faces]], target)
    entered = int(np.argmax(weights.min(axis=1)))
    if weights[entered].min() < -1e-9:
        return Refusal.INVERTED
    share = np.maximum(weights[entered], 0.0)
    return Glide(vertex, np.asarray(target, np.float64), mesh.faces[faces[entered]], share / share.sum())


def apply_glide(mesh: SheetMesh, glide: Glide) -> SheetMesh:
    """The mesh with the vertex of a plan moved; what does not depend on the pattern is shared with the old one."""
    u, rest = mesh.u.copy(), mesh.node_rest.copy()
    u[glide.vertex] = glide.target
    rest[mesh.vertex_node[glide.vertex]] = glide.weights @ mesh.node_rest[mesh.vertex_node[glide.corners]]
    moved = replace(mesh, u=u, node_rest=rest)
    vars(moved).update({name: value for name, value in vars(mesh).items() if name in _KEPT})
    return moved


def _sides(mesh: SheetMesh, vertex: int) -> tuple[Floats, Floats]:
    """The sides opposite to a vertex: where they start, and their vectors, (n, 2) each [m]."""
    sides = opposite_sides(mesh, vertex, ring_faces(mesh, vertex))
    return mesh.u[sides[:, 0]], mesh.u[sides[:, 1]] - mesh.u[sides[:, 0]]


def _barycentric(corners: Floats, point: Floats) -> Floats:
    """Weights (n, 3) of a point (2,) in triangles (n, 3, 2)."""
    a = corners[:, 0]
    e, f, d = corners[:, 1] - a, corners[:, 2] - a, point - a
    double = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
    second = (d[:, 0] * f[:, 1] - d[:, 1] * f[:, 0]) / double
    third = (e[:, 0] * d[:, 1] - e[:, 1] * d[:, 0]) / double
    return np.stack([1.0 - second - third, second, third], axis=1)
