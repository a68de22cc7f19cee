"""True overlap areas between the faces of two triangulations of the same pattern.

Used to resample what is constant on faces (plastic residuals, damage) after remeshing: a new face takes the
area-weighted average over the old faces that it overlaps ([Narain2013] §3).

Several pieces of pattern may lie on top of each other in `u` (sheets, panels of a garment). Only faces with the
same chart number are matched; a **chart** is a connected piece of the pattern that no seam is crossed in.

Search: old faces sorted along a Z-order curve, chart by chart, are the leaves of an implicit binary tree of
bounding boxes, which stays efficient on strongly graded meshes. Overlap: see `mesh.overlap`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from crumple.errors import InputError
from crumple.mesh.overlap import CLIPPED, clip_area
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.typing import Floats, Ints

LEAF_SIZE = 4
"""Faces per leaf of the search tree."""


def vertex_charts(mesh: SheetMesh) -> Ints:
    """Chart of each vertex, (vertex_count,): connected pieces of the pattern, seams not crossed.

    Numbers are in the order of the smallest vertex of each piece, so they may change when vertices are removed:
    use `follow_charts` to carry them over to a remeshed pattern.
    """
    tail, head = mesh.faces.ravel(), np.roll(mesh.faces, -1, axis=1).ravel()
    size = (mesh.vertex_count, mesh.vertex_count)
    graph = coo_matrix((np.ones(len(tail), np.int8), (tail, head)), shape=size)
    return connected_components(graph, directed=False)[1].astype(np.int32)


def follow_charts(old_vertex_chart: Ints, vertex_transfer: csr_matrix) -> Ints:
    """Chart of each new vertex from the operator (new vertices × old vertices) that transfers vertex data."""
    matrix = vertex_transfer.tocsr()
    if np.any(np.diff(matrix.indptr) == 0):
        raise InputError("vertex_transfer", "every new vertex must depend on at least one old vertex")
    return np.ascontiguousarray(old_vertex_chart[matrix.indices[matrix.indptr[:-1]]], np.int32)


def overlap_area(
    old_u: Floats,
    old_faces: Ints,
    new_u: Floats,
    new_faces: Ints,
    *,
    old_chart: Ints | None = None,
    new_chart: Ints | None = None,
) -> csr_matrix:
    """Areas [m²] shared by new and old faces, CSR (new_face_count × old_face_count), columns sorted.

    `old_u`, `new_u` (n, 2) [m]; faces (n, 3) of either orientation; charts (face_count,), all 0 when left out.
    Row sums are the covered areas of new faces, column sums those of old faces.
    """
    shape = (len(new_faces), len(old_faces))
    if 0 in shape:
        return csr_matrix(shape)
    old, new = _triangles(old_u, old_faces), _triangles(new_u, new_faces)
    old_chart = _chart_array(old_chart, len(old), "old_chart")
    new_chart = _chart_array(new_chart, len(new), "new_chart")
    order = _tree_order(old, old_chart)
    boxes = _tree_boxes(old[order], old_chart[order])
    start = np.zeros(len(new) + 1, np.int64)
    _count_candidates(boxes, order, old, old_chart, new, new_chart, start[1:])
    np.cumsum(start, out=start)
    column = np.empty(start[-1], np.int32)
    area = np.empty(start[-1])
    _clip_candidates(boxes, order, old, old_chart, new, new_chart, start, column, area)
    result = csr_matrix((area, column, start), shape=shape)
    result.eliminate_zeros()
    result.sort_indices()
    return result


def overlap_average(overlap: csr_matrix, value: Floats, empty: float = 0.0) -> Floats:
    """Area-weighted average over the old faces under each new face; `empty` where there is none.

    `value` (old_face_count,) or (old_face_count, k). Where both triangulations cover each other (row sums are
    the new areas, column sums the old ones) the integral of `value` is conserved to rounding.
    """
    covered = np.asarray(overlap.sum(axis=1)).ravel()
    total = overlap @ value
    shape = (-1,) + (1,) * (value.ndim - 1)
    some = (covered > 0.0).reshape(shape)
    return np.where(some, total / np.where(covered > 0.0, covered, 1.0).reshape(shape), empty)


def _triangles(u: Floats, faces: Ints) -> Floats:
    """Corner positions (n, 6) of faces, turned counter-clockwise."""
    p = u[faces]
    e, f = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    clockwise = e[:, 0] * f[:, 1] < e[:, 1] * f[:, 0]
    p[clockwise] = p[clockwise][:, ::-1]
    return np.ascontiguousarray(p.reshape(-1, 6))


def _chart_array(chart: Ints | None, count: int, place: str) -> Ints:
    """The chart numbers, zeros when left out."""
    if chart is None:
        return np.zeros(count, np.int32)
    if len(chart) != count:
        raise InputError(f"{place}: length", f"must be the number of faces, {count}", len(chart))
    return np.ascontiguousarray(chart, np.int32)


def _tree_order(triangle: Floats, chart: Ints) -> Ints:
    """Faces sorted by chart, then along the Z-order curve of their centroids."""
    centre = triangle.reshape(-1, 3, 2).mean(axis=1)
    low, extent = centre.min(axis=0), np.ptp(centre, axis=0).max()
    cell = ((centre - low) * (65535.0 / extent if extent > 0.0 else 0.0)).astype(np.uint64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cell = (cell | (cell << np.uint64(shift))) & np.uint64(mask)
    key = cell[:, 0] | (cell[:, 1] << np.uint64(1))
    return np.lexsort((key, chart)).astype(np.int32)


def _tree_boxes(triangle: Floats, chart: Ints) -> Floats:
    """Boxes (2 leaf_count, 6) of the implicit tree: node n has children 2n and 2n + 1, the root is 1.

    A box is (low x, low y, low chart, high x, high y, high chart); empty leaves are inside out.
    """
    leaf_count = 1 << max(0, (-(-len(triangle) // LEAF_SIZE) - 1).bit_length())
    leaf = np.empty((leaf_count * LEAF_SIZE, 6))
    leaf[:, :3], leaf[:, 3:] = np.inf, -np.inf
    corner = triangle.reshape(-1, 3, 2)
    leaf[: len(triangle), :2], leaf[: len(triangle), 3:5] = corner.min(axis=1), corner.max(axis=1)
    leaf[: len(triangle), 2] = leaf[: len(triangle), 5] = chart
    boxes = np.empty((2 * leaf_count, 6))
    level = _merge_boxes(leaf.reshape(leaf_count, LEAF_SIZE, 6))
    while True:
        boxes[len(level) : 2 * len(level)] = level
        if len(level) == 1:
            return boxes
        level = _merge_boxes(level.reshape(-1, 2, 6))


def _merge_boxes(group: Floats) -> Floats:
    """The box around each group of boxes."""
    return np.concatenate([group[:, :, :3].min(axis=1), group[:, :, 3:].max(axis=1)], axis=1)


@njit(cache=True)
def _find_candidates(boxes, order, old, old_chart, triangle, chart, stack, found):
    """Number of old faces of `chart` whose box meets the triangle's; their numbers go to `found` if it has room."""
    low_x, low_y = min(triangle[0], triangle[2], triangle[4]), min(triangle[1], triangle[3], triangle[5])
    high_x, high_y = max(triangle[0], triangle[2], triangle[4]), max(triangle[1], triangle[3], triangle[5])
    leaf_count = len(boxes) // 2
    depth, count = 1, 0
    stack[0] = 1
    while depth > 0:
        depth -= 1
        n = stack[depth]
        if boxes[n, 0] >= high_x or boxes[n, 3] <= low_x or boxes[n, 1] >= high_y or boxes[n, 4] <= low_y:
            continue
        if boxes[n, 2] > chart or boxes[n, 5] < chart:
            continue
        if n < leaf_count:
            stack[depth], stack[depth + 1] = 2 * n + 1, 2 * n
            depth += 2
            continue
        first = (n - leaf_count) * LEAF_SIZE
        for s in range(first, min(first + LEAF_SIZE, len(order))):
            o = order[s]
            if old_chart[o] != chart:
                continue
            if min(old[o, 0], old[o, 2], old[o, 4]) >= high_x or max(old[o, 0], old[o, 2], old[o, 4]) <= low_x:
                continue
            if min(old[o, 1], old[o, 3], old[o, 5]) >= high_y or max(old[o, 1], old[o, 3], old[o, 5]) <= low_y:
                continue
            if count < len(found):
                found[count] = o
            count += 1
    return count


@njit(cache=True)
def _count_candidates(boxes, order, old, old_chart, new, new_chart, count):
    """Candidates of each new face."""
    stack = np.empty(64, np.int32)
    nothing = np.empty(0, np.int32)
    for f in range(len(new)):
        count[f] = _find_candidates(boxes, order, old, old_chart, new[f], new_chart[f], stack, nothing)


@njit(cache=True)
def _clip_candidates(boxes, order, old, old_chart, new, new_chart, start, column, area):
    """Columns and overlap areas of each new face with its candidates, 0 where they do not overlap."""
    stack = np.empty(64, np.int32)
    polygon = np.empty(CLIPPED)
    for f in range(len(new)):
        found = column[start[f] : start[f + 1]]
        _find_candidates(boxes, order, old, old_chart, new[f], new_chart[f], stack, found)
        for s in range(len(found)):
            area[start[f] + s] = clip_area(new[f], old[found[s]], polygon)
