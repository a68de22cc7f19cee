"""Surfaces in space as sheets: one triangle per chart before and after, one vertex per node in between."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix

from crumple.contact.candidates import swept_boxes
from crumple.geometry.bvh import STACK_SIZE, build_tree, tree_query
from crumple.geometry.distance import point_triangle
from crumple.geometry.metric import tensor_matrix
from crumple.geometry.triangle import face_normals
from crumple.mesh.overlap import clip_area
from crumple.mesh.rings import INNER
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.runtime.typing import Floats
from crumple.state.change import normalized

FEATURE_LABEL = 1 << 30
"""Label of edges that are kept only because they are sharp; removed when done."""


def is_surface(mesh: SheetMesh) -> bool:
    """Whether the sheet has no pattern but one chart per triangle (several faces, no two share a vertex)."""
    return mesh.face_count > 1 and mesh.vertex_count == 3 * mesh.face_count and mesh.has_seams


def join_surface(mesh: SheetMesh, feature_angle: float) -> SheetMesh:
    """The surface with one vertex per node (u is meaningless) and its sharp edges labelled."""
    label = mesh.edge_label.ravel().copy()
    normal = face_normals(mesh.node_rest, mesh.face_nodes)
    inner = np.flatnonzero(mesh.twin != BOUNDARY)
    dot = (normal[inner // 3] * normal[mesh.twin[inner] // 3]).sum(axis=1)
    # where the orientation turns over (Möbius strip), so does the normal
    dot = np.where(mesh.face_nodes.ravel()[inner] == mesh.face_nodes.ravel()[mesh.twin[inner]], -dot, dot)
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
    space = np.einsum("fai,fab,fbj->fij", inverse, tensor_matrix(face), inverse)
    # across the surface the mean of both directions, so that a bent isotropic field stays isotropic
    normal = face_normals(mesh.node_rest, mesh.face_nodes)
    space += (0.5 * np.trace(space, axis1=1, axis2=2))[:, None, None] * normal[:, :, None] * normal[:, None, :]
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

    Old faces count if they face the same way and are no farther away than half of the larger of both, with the area
    that they cover of the new face; a face without any takes the value of the nearest. Rows add up to 1; area
    integrals are conserved as far as both surfaces have the same area.
    """
    old_x, new_x = (np.ascontiguousarray(m.node_rest[m.face_nodes]) for m in (old, new))
    boxes = swept_boxes(old.face_nodes, old.node_rest, old.node_rest)
    normals = (face_normals(m.node_rest, m.face_nodes) for m in (old, new))
    count, column, area = _project(build_tree(boxes), old_x, new_x, *normals)
    start = np.concatenate([[0], np.cumsum(count)])
    return normalized(csr_matrix((area, column, start), shape=(new.face_count, old.face_count)))


@njit(**INNER)
def _flat(x, face, corner, origin, ax, ay, az):
    """Component along (ax, ay, az) of a corner relative to the first corner of the face `origin` (3, 3)."""
    return (
        (x[face, corner, 0] - origin[0, 0]) * ax
        + (x[face, corner, 1] - origin[0, 1]) * ay
        + (x[face, corner, 2] - origin[0, 2]) * az
    )


@njit(**INNER)
def _centre_distance(x, f, y, o):
    """Distance of the centroid of x[f] from the triangle y[o] [m]."""
    cx = (x[f, 0, 0] + x[f, 1, 0] + x[f, 2, 0]) / 3.0
    cy = (x[f, 0, 1] + x[f, 1, 1] + x[f, 2, 1]) / 3.0
    cz = (x[f, 0, 2] + x[f, 1, 2] + x[f, 2, 2]) / 3.0
    d2, _, _, _ = point_triangle(
        cx, cy, cz, y[o, 0, 0], y[o, 0, 1], y[o, 0, 2], y[o, 1, 0], y[o, 1, 1], y[o, 1, 2],
        y[o, 2, 0], y[o, 2, 1], y[o, 2, 2],
    )  # fmt: skip
    return sqrt(d2)


@njit(**INNER)
def _longest(x, f):
    """Longest edge of x[f] [m]."""
    longest = 0.0
    for k in range(3):
        m = (k + 1) % 3
        square = (x[f, m, 0] - x[f, k, 0]) ** 2 + (x[f, m, 1] - x[f, k, 1]) ** 2 + (x[f, m, 2] - x[f, k, 2]) ** 2
        longest = max(longest, square)
    return sqrt(longest)


@njit(cache=True)
def _project(tree, old_x, new_x, old_normal, new_normal):
    """Per new face the number of old faces over it, their numbers, their shared areas."""
    found, stack = np.empty(65536, np.int32), np.empty(STACK_SIZE, np.int32)
    polygon, a, b = np.empty((2, 24, 2)), np.empty(6), np.empty(6)
    count = np.zeros(len(new_x), np.int64)
    column, area = np.empty(8 * len(new_x) + 64, np.int32), np.empty(8 * len(new_x) + 64)
    total = 0
    for f in range(len(new_x)):
        x = new_x[f]
        nx, ny, nz = new_normal[f, 0], new_normal[f, 1], new_normal[f, 2]
        ex, ey, ez = x[1, 0] - x[0, 0], x[1, 1] - x[0, 1], x[1, 2] - x[0, 2]
        length = sqrt(ex * ex + ey * ey + ez * ez)
        ex, ey, ez = ex / length, ey / length, ez / length
        tx, ty, tz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
        for k in range(3):
            a[2 * k], a[2 * k + 1] = _flat(new_x, f, k, x, ex, ey, ez), _flat(new_x, f, k, x, tx, ty, tz)
        size = _longest(new_x, f)
        reach = 0.5 * size
        nearest, least = -1, np.inf
        while count[f] == 0 and nearest < 0:
            box = (
                min(x[0, 0], x[1, 0], x[2, 0]) - reach,
                min(x[0, 1], x[1, 1], x[2, 1]) - reach,
                min(x[0, 2], x[1, 2], x[2, 2]) - reach,
                max(x[0, 0], x[1, 0], x[2, 0]) + reach,
                max(x[0, 1], x[1, 1], x[2, 1]) + reach,
                max(x[0, 2], x[1, 2], x[2, 2]) + reach,
            )
            for n in range(min(tree_query(tree, box, found, stack), len(found))):
                o = found[n]
                near = min(_centre_distance(new_x, f, old_x, o), _centre_distance(old_x, o, new_x, f))
                if near < least:
                    nearest, least = o, near
                turned = old_normal[o, 0] * nx + old_normal[o, 1] * ny + old_normal[o, 2] * nz
                if turned < 0.3 or near > 0.5 * max(size, _longest(old_x, o)):
                    continue
                for k in range(3):
                    b[2 * k], b[2 * k + 1] = _flat(old_x, o, k, x, ex, ey, ez), _flat(old_x, o, k, x, tx, ty, tz)
                shared = clip_area(a, b, polygon)
                if shared > 0.0:
                    if total + 1 >= len(column):
                        column = np.concatenate((column, np.empty(total, np.int32)))
                        area = np.concatenate((area, np.empty(total)))
                    column[total], area[total] = o, shared
                    total += 1
                    count[f] += 1
            reach *= 4.0
        if count[f] == 0:
            if total + 1 >= len(column):
                column = np.concatenate((column, np.empty(total, np.int32)))
                area = np.concatenate((area, np.empty(total)))
            column[total], area[total] = nearest, 1.0
            total += 1
            count[f] = 1
    return count, column[:total], area[:total]


def _frames(mesh: SheetMesh) -> Floats:
    """Derivative of `node_rest` with respect to u, (face_count, 3, 2)."""
    u, p = mesh.u[mesh.faces], mesh.node_rest[mesh.face_nodes]
    du = np.stack([u[:, 1] - u[:, 0], u[:, 2] - u[:, 0]], axis=2)
    dp = np.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]], axis=2)
    return dp @ np.linalg.inv(du)
