"""Surfaces in space as sheets: one triangle per chart before and after, one vertex per node in between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix

from crumple.contact.bvh import STACK_SIZE, build_tree, tree_query
from crumple.contact.candidates import swept_boxes
from crumple.geometry.overlap import _clip_area
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.remeshing.transfer import _normalized
from crumple.typing import Floats

FEATURE_LABEL = 1 << 30
"""Label of edges that are kept only because they are sharp; removed when done."""


def is_surface(mesh: SheetMesh) -> bool:
    """Whether the sheet has no pattern but one chart per triangle (several faces, no two share a vertex)."""
    return mesh.face_count > 1 and mesh.vertex_count == 3 * mesh.face_count and mesh.has_seams


def join_surface(mesh: SheetMesh, feature_angle: float) -> SheetMesh:
    """The surface with one vertex per node (u is meaningless) and its sharp edges labelled."""
    label = mesh.edge_label.ravel().copy()
    normal = _normals(mesh)
    inner = np.flatnonzero(mesh.twin != BOUNDARY)
    dot = np.abs((normal[inner // 3] * normal[mesh.twin[inner] // 3]).sum(axis=1))
    same_way = mesh.face_nodes.ravel()[inner] == mesh.face_nodes.ravel()[mesh.twin[inner]]
    signed = (normal[inner // 3] * normal[mesh.twin[inner] // 3]).sum(axis=1)
    dot = np.where(same_way, dot, signed)
    sharp = inner[(dot < np.cos(feature_angle)) & (label[inner] == 0)]
    label[sharp] = FEATURE_LABEL
    return replace(
        mesh,
        u=np.zeros((mesh.node_count, 2)),
        vertex_node=np.arange(mesh.node_count, dtype=np.int32),
        faces=mesh.face_nodes.copy(),
        edge_label=label.reshape(-1, 3),
    )


def separate_surface(mesh: SheetMesh) -> SheetMesh:
    """The surface with one isometric chart per triangle: first corner at the origin, second on the u axis."""
    p = mesh.node_rest[mesh.face_nodes]
    e, f = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    length = np.linalg.norm(e, axis=1)
    along = (e * f).sum(axis=1) / length
    height = np.linalg.norm(np.cross(e, f), axis=1) / length
    u = np.zeros((mesh.face_count, 3, 2))
    u[:, 1, 0], u[:, 2, 0], u[:, 2, 1] = length, along, height
    return replace(
        mesh,
        u=u.reshape(-1, 2),
        vertex_node=mesh.face_nodes.ravel().copy(),
        faces=np.arange(3 * mesh.face_count, dtype=np.int32).reshape(-1, 3),
        edge_label=np.where(mesh.edge_label == FEATURE_LABEL, 0, mesh.edge_label).astype(np.int32),
    )


def tensors_in_space(mesh: SheetMesh, sizing: Floats) -> Floats:
    """Tensors of the nodes (node_count, 6) = (xx, yy, zz, yz, zx, xy) [1/m²] from those of the faces' charts.

    `sizing` (face_count, 3) or (vertex_count, 3); averages weighted by area.
    """
    face = sizing if len(sizing) == mesh.face_count else sizing[mesh.faces].mean(axis=1)
    frame = _frames(mesh)
    # w in the plane of the face has chart coordinates (FᵀF)⁻¹Fᵀ w
    inverse = np.linalg.pinv(frame)
    matrix = np.empty((mesh.face_count, 2, 2))
    matrix[:, 0, 0], matrix[:, 1, 1] = face[:, 0], face[:, 1]
    matrix[:, 0, 1] = matrix[:, 1, 0] = face[:, 2]
    space = np.einsum("fai,fab,fbj->fij", inverse, matrix, inverse)
    six = np.stack([space[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1))], axis=1)
    area = np.abs(mesh.face_area)
    node = mesh.face_nodes.ravel()
    weight = np.bincount(node, np.repeat(area, 3), mesh.node_count)
    total = np.stack([np.bincount(node, np.repeat(area * six[:, k], 3), mesh.node_count) for k in range(6)], axis=1)
    return total / weight[:, None]


def tensors_in_charts(mesh: SheetMesh, space: Floats) -> Floats:
    """Tensors of the vertices (vertex_count, 3) in the charts of a separated surface from those of the nodes."""
    frame = np.repeat(_frames(mesh), 3, axis=0)
    six = space[mesh.vertex_node[mesh.faces.ravel()]]
    matrix = np.empty((len(six), 3, 3))
    for k, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1))):
        matrix[:, i, j] = matrix[:, j, i] = six[:, k]
    flat = np.einsum("fia,fij,fjb->fab", frame, matrix, frame)
    out = np.empty((mesh.vertex_count, 3))
    out[mesh.faces.ravel()] = np.stack([flat[:, 0, 0], flat[:, 1, 1], flat[:, 0, 1]], axis=1)
    return out


def surface_overlap_operator(old: SheetMesh, new: SheetMesh) -> csr_matrix:
    """Mean over the old faces that lie over each new face, seen along its normal, (new_faces × old_faces).

    Old faces count if they face the same way and are no farther from the new face than its size; with the area that
    they cover of it. Rows add up to 1; area integrals are conserved as far as both surfaces have the same area.
    """
    boxes = swept_boxes(old.face_nodes, old.node_rest, old.node_rest)
    count, column, area = _project(
        build_tree(boxes), old.node_rest, old.face_nodes, new.node_rest, new.face_nodes, _normals(old), _normals(new)
    )
    start = np.concatenate([[0], np.cumsum(count)])
    return _normalized(csr_matrix((area, column, start), shape=(new.face_count, old.face_count)))


@njit(cache=True)
def _project(tree, old_x, old_faces, new_x, new_faces, old_normal, new_normal):
    """Per new face the number of old faces over it, their numbers, their shared areas."""
    found, stack = np.empty(65536, np.int32), np.empty(STACK_SIZE, np.int32)
    polygon, a, b = np.empty((2, 24, 2)), np.empty(6), np.empty(6)
    count = np.zeros(len(new_faces), np.int64)
    column, area = np.empty(8 * len(new_faces) + 64, np.int32), np.empty(8 * len(new_faces) + 64)
    total = 0
    for f in range(len(new_faces)):
        i, j, k = new_faces[f, 0], new_faces[f, 1], new_faces[f, 2]
        e, g = new_x[j] - new_x[i], new_x[k] - new_x[i]
        length = np.sqrt((e * e).sum())
        normal = new_normal[f]
        e = e / length
        t = np.cross(normal, e)
        reach = 0.5 * max(length, np.sqrt((g * g).sum()))
        low = np.minimum(np.minimum(new_x[i], new_x[j]), new_x[k]) - reach
        high = np.maximum(np.maximum(new_x[i], new_x[j]), new_x[k]) + reach
        a[0], a[1], a[2], a[3], a[4], a[5] = 0.0, 0.0, length, 0.0, (g * e).sum(), (g * t).sum()
        hits = tree_query(tree, (low[0], low[1], low[2], high[0], high[1], high[2]), found, stack)
        for n in range(min(hits, len(found))):
            o = found[n]
            if (old_normal[o] * normal).sum() < 0.3:
                continue
            near = np.inf
            for c in range(3):
                w = old_x[old_faces[o, c]] - new_x[i]
                b[2 * c], b[2 * c + 1] = (w * e).sum(), (w * t).sum()
                near = min(near, abs((w * normal).sum()))
            if near > reach:
                continue
            shared = _clip_area(a, b, polygon)
            if shared > 0.0:
                if total == len(column):
                    column = np.concatenate((column, np.empty(total, np.int32)))
                    area = np.concatenate((area, np.empty(total)))
                column[total], area[total] = o, shared
                total += 1
                count[f] += 1
    return count, column[:total], area[:total]


def _normals(mesh: SheetMesh) -> Floats:
    """Unit normals of the faces in `node_rest`."""
    p = mesh.node_rest[mesh.face_nodes]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def _frames(mesh: SheetMesh) -> Floats:
    """Derivative of `node_rest` with respect to u, (face_count, 3, 2)."""
    u, p = mesh.u[mesh.faces], mesh.node_rest[mesh.face_nodes]
    du = np.stack([u[:, 1] - u[:, 0], u[:, 2] - u[:, 0]], axis=2)
    dp = np.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]], axis=2)
    return dp @ np.linalg.inv(du)
