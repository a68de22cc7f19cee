"""True overlap areas between the faces of two triangulations of the same pattern.

Used to resample what is constant on faces (plastic residuals, damage) after remeshing: a new face takes the
area-weighted average over the old faces that it overlaps ([Narain2013] §3).

Several pieces of pattern may lie on top of each other in `u` (sheets, panels of a garment). Only faces with the
same chart number are matched; a **chart** is a connected piece of the pattern that no seam is crossed in.

Search: a tree of the boxes of the old faces (`bvh`), with the chart for a third coordinate. Overlap: see
`mesh.overlap`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from crumple.geometry.bvh import ROUNDING, STACK_SIZE, Tree, build_tree, tree_query
from crumple.mesh.overlap import CLIPPED, clip_area
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints


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
    tree, box = _tree(old, old_chart), _boxes(new, new_chart)
    start = np.zeros(len(new) + 1, np.int64)
    _count_candidates(tree, box, start[1:])
    np.cumsum(start, out=start)
    column = np.empty(start[-1], np.int32)
    area = np.empty(start[-1])
    _clip_candidates(tree, box, old, old_chart, new, start, column, area)
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


def _boxes(triangle: Floats, chart: Ints) -> Floats:
    """Boxes of the triangles (n, 6) as (low x, y, chart, high x, y, chart), (n, 6)."""
    corner = triangle.reshape(-1, 3, 2)
    return np.column_stack([corner.min(axis=1), chart, corner.max(axis=1), chart])


def _tree(triangle: Floats, chart: Ints) -> Tree:
    """The tree of the triangles, its boxes rounded outwards."""
    box = _boxes(triangle, chart)
    grown = ROUNDING * np.abs(box)
    return build_tree(np.concatenate([box[:, :3] - grown[:, :3], box[:, 3:] + grown[:, 3:]], axis=1).astype(np.float32))


@njit(cache=True)
def _count_candidates(tree, box, count):
    """How many old faces each new face may overlap."""
    stack, nothing = np.empty(STACK_SIZE, np.int32), np.empty(0, np.int32)
    for f in range(len(box)):
        count[f] = tree_query(tree, box[f], nothing, stack)


@njit(cache=True)
def _clip_candidates(tree, box, old, old_chart, new, start, column, area):
    """Columns and overlap areas of each new face with its candidates, 0 where they do not overlap."""
    stack, polygon = np.empty(STACK_SIZE, np.int32), np.empty(CLIPPED)
    for f in range(len(box)):
        found = column[start[f] : start[f + 1]]
        tree_query(tree, box[f], found, stack)
        for s in range(len(found)):
            other = old[found[s]]
            meets = old_chart[found[s]] == box[f, 2] and _meets(box[f], other)
            area[start[f] + s] = clip_area(new[f], other, polygon) if meets else 0.0


@njit(cache=True)
def _meets(box, triangle):
    """Whether a box and that of a triangle overlap by more than their borders, without the rounding of the tree."""
    return (
        min(triangle[0], triangle[2], triangle[4]) < box[3]
        and max(triangle[0], triangle[2], triangle[4]) > box[0]
        and min(triangle[1], triangle[3], triangle[5]) < box[4]
        and max(triangle[1], triangle[3], triangle[5]) > box[1]
    )
