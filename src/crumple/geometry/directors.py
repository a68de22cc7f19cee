"""Directors: a unit vector normal to every edge, which splits the angle of a hinge between its two faces.

For the corner k of a face, with the half-edge from corner k to corner k + 1 and its unit vector t̂,

    ψ_k = angle about t̂ from the normal n̂ of the face to the director d̂ of the edge,

so that the dihedral angle of a hinge is θ = ψ_A + ψ_B, and the curvature of a face follows from its three angles
(`curvature_shapes`). A director may turn about its edge, and depends on nothing but its edge [Grinspun2006]: with the
unit vector t̂₀ and the director d̂₀ at the start of a step, and the turn φ since then,

    d̂ = d̂' turned by φ about the edge,    d̂' = d̂₀ − (d̂₀·t̂)/(1 + t̂₀·t̂) (t̂₀ + t̂),

d̂' being d̂₀ carried along without twist from t̂₀ to t̂ (as in [Bergou2008]). That is smooth as long as no edge turns by
180° during a step. ψ is then φ plus a function of the three nodes of the face alone:

    ∂ψ_k/∂x_p = −c_p n̂/h + e_p (t̂ × t̂₀)/((1 + t̂₀·t̂) L),     ∂ψ_k/∂φ = ±1

with c, h, L as in `geometry.hinge` and e = (−1, 1, 0) on the nodes (tail, head, opposite). The sign tells whether the
face runs the edge as `SheetMesh.edges` does.

**State.** What is kept between steps is the `half_turn` φ½ of every edge, with which ψ_A = θ/2 + φ½ and ψ_B = θ/2 − φ½
(ψ_A = φ½ at a free edge), A being the face of `SheetMesh.edge_corners`. Rigid motions do not change it, and 0 is a good
guess for a new edge. θ jumps at ±π, where the faces of a hinge pass through each other. ψ itself does not jump there
during a step: it is continued from its value at the start of the step.

**Sheets with one side.** Where neighbours are oriented against each other (the seam of a Möbius strip), the director
counts with the opposite sign in B, and ψ_B = φ½ − θ/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, pi, sqrt

import numpy as np
from numba import njit, prange

from crumple.geometry.hinge import SMALLEST_SQUARE, dihedral_angles
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.typing import Bools, Floats, Ints

LEAST_COSINE = 1e-6
"""Floor of 1 + t̂₀·t̂: numbers stay finite when an edge has turned right around."""


@dataclass(frozen=True)
class EdgeLinks:
    """Which edges the faces have, and how they run them; constant while the mesh is.

    `face_edge` (face_count, 3) edge of half-edge 3 f + k, as numbered in `SheetMesh.edges`;
    `side` (face_count, 3) 1 where the face runs the edge as `SheetMesh.edges` does, else −1: ∂ψ/∂φ;
    `sign` (face_count, 3) −1 in the face B of a hinge whose faces are oriented against each other, else 1;
    `hinge_edge` (hinge_count,) edge of each hinge.
    """

    face_edge: Ints
    side: Floats
    sign: Floats
    hinge_edge: Ints

    @property
    def edge_count(self) -> int:
        return int(self.face_edge.max(initial=-1)) + 1


@dataclass(frozen=True)
class Directors:
    """The directors at the start of a step, as each face sees them: directions along its own half-edges.

    `tangent`, `director` (face_count, 3, 3) unit vectors t̂₀, d̂₀ of corner k;  `angle` (face_count, 3) ψ there [rad].
    """

    tangent: Floats
    director: Floats
    angle: Floats


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
    sign = np.ones(3 * mesh.face_count)
    sign[second[inner]] = -side[second[inner]]
    shape = (mesh.face_count, 3)
    return EdgeLinks(face_edge.reshape(shape), side.reshape(shape), sign.reshape(shape), numbers[inner])


def curvature_shapes(mesh: SheetMesh) -> Floats:
    """How the angles make the curvature: S (xx, yy, xy) of face f is Σ_k ψ_k shape[f, k] [1/m], (face_count, 3, 3).

    S = 1/A Σ_k ψ_k ℓ_k t_k t_kᵀ with the pattern's area A, edge lengths ℓ_k and edge normals t_k: the tensor of
    `geometry.curvature` with ψ in place of θ/2, exact on every mesh for the angles of a bent surface.
    """
    corner = mesh.u[mesh.faces]
    edge = np.roll(corner, -1, axis=1) - corner
    scale = 1.0 / (np.linalg.norm(edge, axis=2) * np.abs(mesh.face_area)[:, None])
    tensor = np.stack([edge[..., 1] ** 2, edge[..., 0] ** 2, -edge[..., 0] * edge[..., 1]], axis=2)
    return np.ascontiguousarray(tensor * scale[..., None])


def curvature_angles(mesh: SheetMesh, curvature: Floats) -> Floats:
    """The angles ψ (face_count, 3) [rad] of faces with the curvature S (face_count, 3) [1/m].

    ψ_k = −(eᵢᵀ S eⱼ) ℓ_k/(4A) with e the edges of the face: the inverse of `curvature_shapes`.
    """
    corner = mesh.u[mesh.faces]
    edge = np.roll(corner, -1, axis=1) - corner
    ahead, back = np.roll(edge, -1, axis=1), np.roll(edge, -2, axis=1)
    xx, yy, xy = (curvature[:, None, q] for q in range(3))
    product = xx * ahead[..., 0] * back[..., 0] + yy * ahead[..., 1] * back[..., 1]
    product += xy * (ahead[..., 0] * back[..., 1] + ahead[..., 1] * back[..., 0])
    return -product * np.linalg.norm(edge, axis=2) / (4.0 * np.abs(mesh.face_area)[:, None])


def split_angles(mesh: SheetMesh, links: EdgeLinks, x: Floats, half_turn: Floats) -> Floats:
    """The angles ψ (face_count, 3) [rad] of the shape x (node_count, 3) with the half turns φ½ (edge_count,)."""
    half = np.zeros(len(half_turn))
    half[links.hinge_edge] = 0.5 * dihedral_angles(x, mesh.hinges.nodes)
    turned = links.sign * half[links.face_edge]
    # side · φ½ is +φ½ in A and −φ½ in B; on a one-sided seam side is 1 in B and both parts of ψ_B change sign
    return turned + links.side * half_turn[links.face_edge]


def start_directors(mesh: SheetMesh, links: EdgeLinks, x: Floats, half_turn: Floats) -> Directors:
    """The directors of the shape x (node_count, 3) [m] with the half turns φ½ (edge_count,) [rad]."""
    return place_directors(x, mesh.face_nodes, split_angles(mesh, links, x, half_turn))


def place_directors(x: Floats, face_nodes: Ints, angle: Floats) -> Directors:
    """The directors of faces in the shape x (node_count, 3) [m] with the angles ψ (face_count, 3) [rad]."""
    tangent, director = np.empty((len(face_nodes), 3, 3)), np.empty((len(face_nodes), 3, 3))
    _place_directors(x, face_nodes, angle, tangent, director)
    return Directors(tangent, director, angle)


def half_turns(links: EdgeLinks, angle: Floats) -> Floats:
    """The half turns φ½ (edge_count,) [rad] that belong to the angles ψ (face_count, 3) [rad]."""
    total = np.bincount(links.face_edge.ravel(), (links.side * angle).ravel(), links.edge_count)
    faces = np.bincount(links.face_edge.ravel(), minlength=links.edge_count)
    return np.asarray(total / faces, np.float64)


def carry_angles(x: Floats, face_nodes: Ints, start: Directors) -> Floats:
    """ψ (face_count, 3) [rad] in the shape x (node_count, 3) of directors that have not turned since the `start`."""
    out = np.empty((len(face_nodes), 3))
    _carry_angles(x, face_nodes, start.tangent, start.director, start.angle, out)
    return out


def held_faces(face_nodes: Ints, node_handle: Ints) -> Bools:
    """Faces all of whose nodes are held by one handle, (face_count,); `node_handle` (node_count,), −1 = free."""
    handle = node_handle[face_nodes]
    return (handle[:, 0] >= 0) & (handle[:, 0] == handle[:, 1]) & (handle[:, 1] == handle[:, 2])


def held_edges(edges: Ints, node_handle: Ints) -> Bools:
    """Edges both of whose nodes are held by one handle, (edge_count,); `node_handle` (node_count,), −1 = free."""
    return (node_handle[edges[:, 0]] >= 0) & (node_handle[edges[:, 0]] == node_handle[edges[:, 1]])


@njit(cache=True, parallel=True)
def _place_directors(x, face_nodes, angle, tangent, director):
    for f in prange(len(face_nodes)):
        nx, ny, nz, _ = face_normal(x, face_nodes[f, 0], face_nodes[f, 1], face_nodes[f, 2])
        for k in range(3):
            i, j = face_nodes[f, k], face_nodes[f, (k + 1) % 3]
            tx, ty, tz, _ = edge_direction(x, i, j)
            c, s = np.cos(angle[f, k]), np.sin(angle[f, k])
            tangent[f, k, 0], tangent[f, k, 1], tangent[f, k, 2] = tx, ty, tz
            director[f, k, 0] = c * nx + s * (ty * nz - tz * ny)
            director[f, k, 1] = c * ny + s * (tz * nx - tx * nz)
            director[f, k, 2] = c * nz + s * (tx * ny - ty * nx)


@njit(cache=True, parallel=True)
def _carry_angles(x, face_nodes, tangent, director, angle, out):
    for f in prange(len(face_nodes)):
        nx, ny, nz, _ = face_normal(x, face_nodes[f, 0], face_nodes[f, 1], face_nodes[f, 2])
        for k in range(3):
            tx, ty, tz, _ = edge_direction(x, face_nodes[f, k], face_nodes[f, (k + 1) % 3])
            out[f, k] = carried_angle(nx, ny, nz, tx, ty, tz, tangent[f, k], director[f, k], angle[f, k])


@njit(cache=True)
def face_normal(x, i, j, k):
    """Unit normal of a face, three numbers, and twice its area [m²]."""
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    fx, fy, fz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    size = sqrt(max(nx * nx + ny * ny + nz * nz, SMALLEST_SQUARE))
    return nx / size, ny / size, nz / size, size


@njit(cache=True)
def edge_direction(x, i, j):
    """Unit vector from node i to node j, three numbers, and their distance [m]."""
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    length = sqrt(max(ex * ex + ey * ey + ez * ez, SMALLEST_SQUARE))
    return ex / length, ey / length, ez / length, length


@njit(cache=True)
def carried_angle(nx, ny, nz, tx, ty, tz, tangent, director, before):
    """ψ [rad] of a director carried from the edge direction `tangent` to t̂; the branch nearest to `before`."""
    ax, ay, az = director[0], director[1], director[2]
    cosine = tx * tangent[0] + ty * tangent[1] + tz * tangent[2]
    along = (ax * tx + ay * ty + az * tz) / max(1.0 + cosine, LEAST_COSINE)
    ax, ay, az = ax - along * (tangent[0] + tx), ay - along * (tangent[1] + ty), az - along * (tangent[2] + tz)
    across = ax * (ty * nz - tz * ny) + ay * (tz * nx - tx * nz) + az * (tx * ny - ty * nx)
    angle = atan2(across, ax * nx + ay * ny + az * nz)
    return angle + 2.0 * pi * np.rint((before - angle) / (2.0 * pi))
