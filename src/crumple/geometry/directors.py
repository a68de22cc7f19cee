"""Directors: a unit vector normal to every edge, which splits the angle of a hinge between its two faces.

For the corner k of a face, with the half-edge from corner k to corner k + 1 and its unit vector t̂,

    ψ_k = angle about t̂ from the normal n̂ of the face to the director of the edge,

so that the dihedral angle of a hinge is θ = ψ_A + ψ_B, and the curvature of a face follows from its three angles
(`curvature_shapes`) [Grinspun2006].

**State.** What is kept is the `half_turn` φ½ of every edge, the angle of its director from the middle of the faces:
ψ_A = θ/2 + φ½ and ψ_B = θ/2 − φ½ (ψ_A = φ½ at a free edge), A being the face of `SheetMesh.edge_corners`. Rigid motions
do not change it, and 0 is a good guess for a new edge. θ is known in (−π, π) only and jumps where the faces of a hinge
pass through each other, which contact does not allow; ψ may go beyond ±π.

**Motion.** When nodes move by dx and a director turns by dφ about its edge (otherwise carried along without twist),

    dψ_k = −Σ_p c_p n̂·dx_p/h ± dφ

with c and h as in `geometry.hinge`: three nodes and three turns per face, although φ½ itself knows the four nodes of
the hinge. So forces and stiffness are taken by (x, φ) at the present shape; a step of length α along a direction
(dx, dφ) leads to x + α dx and φ½ + α dφ½ with dφ½ = `half_turns` of dψ. That curve has the same tangent as turning the
directors by α dφ, but parts of the sheet that swing around far in one step keep their angles.

**Sheets with one side.** Where neighbours are oriented against each other (the seam of a Möbius strip), each sees θ in
its own orientation: θ_B = −θ_A, and ψ_B = θ_B/2 + φ½.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, sqrt

import numpy as np
from numba import njit, prange

from crumple.geometry.hinge import SMALLEST_SQUARE
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.runtime.compiled import spread
from crumple.runtime.typing import Bools, Floats, Ints


@dataclass(frozen=True)
class EdgeLinks:
    """Which edges the faces have, and how they run them; constant while the mesh is.

    `face_edge` (face_count, 3) edge of half-edge 3 f + k, as numbered in `SheetMesh.edges`;
    `side` (face_count, 3) ∂ψ/∂φ: 1 where the face runs the edge as `SheetMesh.edges` does, else −1;
    `beyond` (face_count, 3) the node opposite to the edge in the neighbour, −1 at a free edge;
    `face_nodes` (face_count, 3) as in the mesh;  `edge_count`.
    """

    face_edge: Ints
    side: Floats
    beyond: Ints
    face_nodes: Ints
    edge_count: int


def edge_links(mesh: SheetMesh) -> EdgeLinks:
    """The links of every face of `mesh` to its edges."""
    first = mesh.edge_corners
    second = mesh.twin[first]
    inner = second != BOUNDARY
    numbers = np.arange(len(first), dtype=np.int32)
    face_edge: Ints = np.empty(3 * mesh.face_count, np.int32)
    face_edge[first] = numbers
    face_edge[second[inner]] = numbers[inner]
    tail = mesh.face_nodes.ravel()
    side = np.ones(3 * mesh.face_count)
    side[second[inner]] = np.where(tail[second[inner]] == tail[first[inner]], 1.0, -1.0)
    opposite = np.roll(mesh.face_nodes, 1, axis=1).ravel()
    beyond = np.where(mesh.twin == BOUNDARY, -1, opposite[mesh.twin]).astype(np.int32)
    shape = (mesh.face_count, 3)
    return EdgeLinks(face_edge.reshape(shape), side.reshape(shape), beyond.reshape(shape), mesh.face_nodes, len(first))


def curvature_shapes(mesh: SheetMesh) -> Floats:
    """How the angles make the curvature: S (xx, yy, xy) of face f is Σ_k ψ_k shape[f, k] [1/m], (face_count, 3, 3).

    S = 1/A Σ_k ψ_k ℓ_k t_k t_kᵀ with the pattern's area A, edge lengths ℓ_k and edge normals t_k: the tensor of
    `geometry.curvature` with ψ in place of θ/2, exact on every mesh for the angles of a bent surface.
    """
    edge = mesh.corner_edge
    scale = 1.0 / (mesh.corner_length.reshape(-1, 3) * np.abs(mesh.face_area)[:, None])
    tensor = np.stack([edge[..., 1] ** 2, edge[..., 0] ** 2, -edge[..., 0] * edge[..., 1]], axis=2)
    return np.ascontiguousarray(tensor * scale[..., None])


def curvature_angles(mesh: SheetMesh, curvature: Floats) -> Floats:
    """The angles ψ (face_count, 3) [rad] of faces with the curvature S (face_count, 3) [1/m].

    ψ_k = −(eᵢᵀ S eⱼ) ℓ_k/(4A) with e the edges of the face: the inverse of `curvature_shapes`.
    """
    edge = mesh.corner_edge
    ahead, back = edge[:, [1, 2, 0]], edge[:, [2, 0, 1]]
    xx, yy, xy = (curvature[:, None, q] for q in range(3))
    product = xx * ahead[..., 0] * back[..., 0] + yy * ahead[..., 1] * back[..., 1]
    product += xy * (ahead[..., 0] * back[..., 1] + ahead[..., 1] * back[..., 0])
    return -product * mesh.corner_length.reshape(-1, 3) / (4.0 * np.abs(mesh.face_area)[:, None])


def split_angles(links: EdgeLinks, x: Floats, half_turn: Floats) -> Floats:
    """The angles ψ (face_count, 3) [rad] of the shape x (node_count, 3) with the half turns φ½ (edge_count,)."""
    out = np.empty((len(links.face_nodes), 3))
    _split_angles(x, half_turn, links.face_nodes, links.face_edge, links.side, links.beyond, out)
    return out


def half_turns(links: EdgeLinks, angle: Floats) -> Floats:
    """The half turns φ½ (edge_count,) [rad] of the angles ψ (face_count, 3) [rad]; linear, so also of their changes."""
    total = np.bincount(links.face_edge.ravel(), (links.side * angle).ravel(), links.edge_count)
    faces = np.bincount(links.face_edge.ravel(), minlength=links.edge_count)
    return np.asarray(total / np.maximum(faces, 1), np.float64)


def edge_directors(mesh: SheetMesh, links: EdgeLinks, x: Floats, half_turn: Floats) -> Floats:
    """The directors, unit vectors (edge_count, 3), of the shape x (node_count, 3) with the half turns (edge_count,)."""
    face, k = mesh.edge_corners // 3, mesh.edge_corners % 3
    angle = split_angles(links, x, half_turn)[face, k]
    corner = x[mesh.face_nodes[face]]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    tangent = x[mesh.edges[:, 1]] - x[mesh.edges[:, 0]]
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    return np.cos(angle)[:, None] * normal + np.sin(angle)[:, None] * np.cross(tangent, normal)


def held_faces(face_nodes: Ints, node_handle: Ints) -> Bools:
    """Faces all of whose nodes are held by one handle, (face_count,); `node_handle` (node_count,), −1 = free."""
    handle = node_handle[face_nodes]
    return (handle[:, 0] >= 0) & (handle[:, 0] == handle[:, 1]) & (handle[:, 1] == handle[:, 2])


@spread(2)
def _split_angles(x, half_turn, face_nodes, face_edge, side, beyond, out):
    for f in prange(len(face_nodes)):
        nx, ny, nz, _ = face_normal(x, face_nodes[f, 0], face_nodes[f, 1], face_nodes[f, 2])
        for k in range(3):
            tail, head = face_nodes[f, k], face_nodes[f, (k + 1) % 3]
            half = half_angle(x, tail, head, beyond[f, k], nx, ny, nz)
            out[f, k] = half + side[f, k] * half_turn[face_edge[f, k]]


@njit(cache=True)
def face_normal(x, i, j, k):
    """Unit normal of a face, three numbers, and twice its area [m²]."""
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    fx, fy, fz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    size = sqrt(max(nx * nx + ny * ny + nz * nz, SMALLEST_SQUARE))
    return nx / size, ny / size, nz / size, size


@njit(cache=True)
def half_angle(x, i, j, b, nx, ny, nz):
    """Half the dihedral angle θ [rad] at the half-edge i → j of a face with the normal n̂; `b` opposite, −1 = none."""
    if b < 0:
        return 0.0
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    bx, by, bz = x[b, 0] - x[i, 0], x[b, 1] - x[i, 1], x[b, 2] - x[i, 2]
    qx, qy, qz = ez * by - ey * bz, ex * bz - ez * bx, ey * bx - ex * by
    sx, sy, sz = ny * qz - nz * qy, nz * qx - nx * qz, nx * qy - ny * qx
    length = sqrt(max(ex * ex + ey * ey + ez * ez, SMALLEST_SQUARE))
    return 0.5 * atan2((ex * sx + ey * sy + ez * sz) / length, nx * qx + ny * qy + nz * qz)
