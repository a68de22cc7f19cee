"""The surface that is drawn: smooth across gentle bends, sharp at creases, finer than the mesh.

Corners of faces around a node share one normal as long as the edges between them are smooth; at a crease every side
has its own. Faces are then cut in four, once or more often; the new points lie on the cubic that leaves both ends of an
edge at right angles to their normals (Vlachos et al. 2001, curved PN triangles), and on the straight line where the
edge is a crease. What happens to an edge depends on its two ends only, so both sides agree and there are no gaps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from crumple.geometry.triangle import face_normals
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.runtime.typing import Bools, Floats, Ints

CREASE_ANGLE = np.radians(32.0)
"""Turn of the normal across an edge from which it is drawn sharp [rad]."""
SAME_NORMAL = 1e-4
"""Normals at a node that differ by less are one."""
PLASTIC_ANGLE, PLASTIC_TURN = np.radians(12.0), np.radians(9.0)
"""An edge whose rest shape is bent by the first is drawn sharp from the second on: a crease runs there [rad]."""


@dataclass(frozen=True)
class Patches:
    """Faces that do not share their corners, so that each carries its own values.

    `point`, `normal` (n, 3, 3) [m], unit;  `sharp`, `border` (n, 3) whether the edge from corner k to k + 1 is a
    crease, or on the boundary;  `place` (n, 3, 3) barycentric place of each corner in its face of the mesh;
    `shared` (n, 3) a number per corner, equal where point and normal are.
    """

    point: Floats
    normal: Floats
    sharp: Bools
    border: Bools
    place: Floats
    shared: Ints

    def __len__(self) -> int:
        return len(self.point)

    def numbered_from(self, first: int) -> Patches:
        """The same patches with `shared` counted from `first`."""
        return replace(self, shared=self.shared + np.int32(first))


def find_creases(mesh: SheetMesh, x: Floats, y: Floats | None) -> Bools:
    """Whether each half-edge is drawn sharp, (3 face_count,): bent by much, or bent where the
    plastic embedding `y` is."""
    turn = _turns(mesh, x)
    sharp = turn > CREASE_ANGLE
    if y is not None:
        kept = np.abs(_turns(mesh, y) - _turns(mesh, mesh.node_rest))
        sharp |= (kept > PLASTIC_ANGLE) & (turn > PLASTIC_TURN)
    return sharp


def _turns(mesh: SheetMesh, x: Floats) -> Floats:
    """Angle between the normals on both sides of each half-edge [rad], π at the boundary, (3 face_count,)."""
    normal = face_normals(x, mesh.face_nodes)
    half_edge = np.flatnonzero(mesh.twin != BOUNDARY)
    a, b = normal[half_edge // 3], normal[mesh.twin[half_edge] // 3]
    turn = np.full(len(mesh.twin), np.pi)
    turn[half_edge] = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ij,ij->i", a, b))
    return turn


def make_patches(faces: Ints, twin: Ints, points: Floats, sharp: Bools) -> Patches:
    """One patch per face of a surface: `faces` (n, 3) of `points` (m, 3) [m], `twin`, `sharp` per half-edge (3 n,)."""
    count = len(faces)
    smooth = np.flatnonzero((twin != BOUNDARY) & ~sharp).astype(np.int32)
    fan = _fans(count, twin, smooth)
    corners = points[faces]
    normal = face_normals(points, faces)
    share = _corner_angles(corners).reshape(-1, 1) * np.repeat(normal, 3, axis=0)
    total = np.stack([np.bincount(fan, share[:, k]) for k in range(3)], axis=1)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    joined = (total / np.maximum(length, 1e-30))[fan].reshape(count, 3, 3)
    flat = (length[fan] < 1e-12).reshape(count, 3, 1)  # what cancels out: the face's own
    return Patches(
        point=corners,
        normal=np.where(flat, normal[:, None], joined),
        sharp=sharp.reshape(-1, 3) & (twin != BOUNDARY).reshape(-1, 3),
        border=(twin == BOUNDARY).reshape(-1, 3),
        place=np.broadcast_to(np.eye(3), (count, 3, 3)).copy(),
        shared=fan.reshape(-1, 3),
    )


def with_normals(patches: Patches, faces: Ints, normal: Floats) -> Patches:
    """The same surface with given unit normals (n, 3, 3) at the corners of its `faces` (n, 3), to be drawn as it is: no
    edge is curved."""
    key = np.concatenate([faces.reshape(-1, 1), np.round(normal.reshape(-1, 3) / SAME_NORMAL)], axis=1)
    shared = np.unique(key, axis=0, return_inverse=True)[1].astype(np.int32).reshape(-1, 3)
    return replace(patches, normal=normal, sharp=np.ones_like(patches.sharp), shared=shared)


def _fans(count: int, twin: Ints, smooth: Ints) -> Ints:
    """A number for each corner, equal for corners of a node that smooth edges connect, (3 count,)."""
    other = twin[smooth]
    head, other_head = smooth - smooth % 3 + (smooth + 1) % 3, other - other % 3 + (other + 1) % 3
    rows, columns = np.concatenate([smooth, head]), np.concatenate([other_head, other])
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(3 * count, 3 * count))
    return connected_components(graph, directed=False)[1].astype(np.int32)


def _corner_angles(corners: Floats) -> Floats:
    """Angles of triangles (n, 3, 3) at their corners [rad], (n, 3)."""
    after = np.roll(corners, -1, axis=1) - corners
    before = np.roll(corners, 1, axis=1) - corners
    area = np.linalg.norm(np.cross(after, before), axis=2)
    return np.arctan2(area, np.einsum("fck,fck->fc", after, before))


def refine(patches: Patches, curved: Floats | float = 1.0) -> Patches:
    """Every patch cut in four; `curved`, for all or per corner (n, 3): 1 puts new points on curves, 0 on the mesh."""
    p, n = patches.point, patches.normal
    q, m = np.roll(p, -1, axis=1), np.roll(n, -1, axis=1)  # the other end of each edge
    edge = q - p
    leaving = np.einsum("fck,fck->fc", edge, n)[..., None]
    arriving = -np.einsum("fck,fck->fc", edge, m)[..., None]
    rise = -(leaving * n + arriving * m) / 8.0
    share = np.broadcast_to(curved, patches.sharp.shape)
    bend = np.where(patches.sharp, 0.0, 0.5 * (share + np.roll(share, -1, axis=1)))
    middle = 0.5 * (p + q) + bend[..., None] * rise
    # The normal bends the other way where the edge is an S (quadratic normals of PN triangles).
    length = np.maximum(np.einsum("fck,fck->fc", edge, edge), 1e-30)[..., None]
    swing = 2.0 * (leaving - arriving) / length
    between = n + m - np.where(patches.sharp[..., None], 0.0, swing * edge)
    between /= np.maximum(np.linalg.norm(between, axis=2, keepdims=True), 1e-12)
    return Patches(
        point=_cut(p, middle),
        normal=_cut(n, between),
        sharp=_cut_edges(patches.sharp),
        border=_cut_edges(patches.border),
        place=refine_values(patches.place),
        shared=_cut_shared(patches.shared, patches.sharp | patches.border),
    )


def _cut(corner: Any, middle: Any) -> Any:
    """Corners of the four parts: one at each corner, then the inner one; middle k lies between corners k, k + 1."""
    parts = [np.stack([corner[:, k], middle[:, k], middle[:, k - 1]], axis=1) for k in range(3)]
    return np.concatenate([*parts, middle])


def _cut_edges(flag: Bools) -> Bools:
    """Flags of the edges of the four parts; inner edges have none."""
    none = np.zeros(len(flag), bool)
    parts = [np.stack([flag[:, k], none, flag[:, k - 1]], axis=1) for k in range(3)]
    return np.concatenate([*parts, np.zeros_like(flag)])


def _cut_shared(shared: Ints, apart: Bools) -> Ints:
    """Numbers for the corners of the four parts: middles of smooth edges are known by their two ends."""
    low, high = np.minimum(shared, np.roll(shared, -1, axis=1)), np.maximum(shared, np.roll(shared, -1, axis=1))
    key = low.astype(np.int64) * (int(shared.max(initial=0)) + 1) + high
    own = -1 - np.arange(key.size).reshape(key.shape)
    _, number = np.unique(np.where(apart, own, key), return_inverse=True)
    middle = (number.reshape(shared.shape) + int(shared.max(initial=-1)) + 1).astype(np.int32)
    return _cut(shared, middle)


def refine_values(values: Floats) -> Floats:
    """Values at the corners of patches (n, 3, …) after `refine`: middles get the mean of the ends."""
    return _cut(values, 0.5 * (values + np.roll(values, -1, axis=1)))


def coarse_values(values: Floats) -> Floats:
    """Values at the corners before `refine_values`, (n, 3, …), from those after it, (4 n, 3, …)."""
    count = len(values) // 4
    return np.stack([values[k * count : (k + 1) * count, 0] for k in range(3)], axis=1)


def make_rim(patches: Patches, thickness: Floats) -> tuple[Floats, Floats, Ints]:
    """A strip along the boundary, as wide as the sheet is thick (per patch, (n,) [m]): corners (2 e, 3, 3) [m],
    outward normals (2 e, 3, 3), and the patch that each triangle belongs to (2 e,)."""
    patch, k = np.nonzero(patches.border)
    a, b = patches.point[patch, k], patches.point[patch, (k + 1) % 3]
    half = 0.5 * thickness[patch, None]
    up_a, up_b = half * patches.normal[patch, k], half * patches.normal[patch, (k + 1) % 3]
    outward = np.cross(b - a, patches.normal[patch].mean(axis=1))
    outward /= np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-30)
    corners = np.concatenate(
        [np.stack([a - up_a, b - up_b, b + up_b], axis=1), np.stack([a - up_a, b + up_b, a + up_a], axis=1)]
    )
    return corners, np.repeat(np.concatenate([outward, outward])[:, None], 3, axis=1), np.concatenate([patch, patch])
