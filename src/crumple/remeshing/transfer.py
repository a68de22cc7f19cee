"""Operators that carry data from the mesh before to the mesh after."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from crumple.geometry.overlap import follow_charts, overlap_area, vertex_charts
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.typing import Ints


def interpolation_operator(parents: np.ndarray, old_count: int, kept: np.ndarray) -> csr_matrix:
    """Rows of the `kept` slots as combinations of the `old_count` elements that were there before.

    `parents` (slots, 2): ends of the edge in whose middle a slot was made, both before it, −1 for old slots.
    A new element is ½ (a + b), also where a or b has been removed again. Rows add up to 1.
    """
    slots = len(parents)
    new = np.flatnonzero(parents[:, 0] >= 0)
    depth, level = 0, np.zeros(slots, np.int64)
    while True:
        deeper = level[parents[new]].max(axis=1, initial=-1) + 1 if len(new) else level[new]
        if np.array_equal(deeper, level[new]):
            break
        level[new] = deeper
        depth += 1
    start = csr_matrix((np.ones(old_count), (np.arange(old_count), np.arange(old_count))), shape=(slots, old_count))
    half = csr_matrix((np.full(2 * len(new), 0.5), (np.repeat(new, 2), parents[new].ravel())), shape=(slots, slots))
    rows = start
    for _ in range(depth):
        rows = start + half @ rows
    rows = rows.tocsr()[kept]
    rows.sort_indices()
    return rows


def overlap_operator(old: SheetMesh, new: SheetMesh, vertex_operator: csr_matrix) -> csr_matrix:
    """Mean over the old faces under each new face, weighted by shared area, (new_faces × old_faces).

    Rows add up to 1; area integrals are conserved, as both meshes cover the same pattern.
    """
    kept, source = _kept_faces(old, new, vertex_operator)
    rest = np.ones(new.face_count, bool)
    rest[kept] = False
    gone = np.ones(old.face_count, bool)
    gone[source] = False
    row, column = np.flatnonzero(rest), np.flatnonzero(gone)
    chart = vertex_charts(old)
    new_chart = follow_charts(chart, vertex_operator)
    new_faces, old_faces = new.faces[row], old.faces[column]
    area = overlap_area(
        old.u, old_faces, new.u, new_faces, old_chart=chart[old_faces[:, 0]], new_chart=new_chart[new_faces[:, 0]]
    ).tocoo()
    data = np.concatenate([np.abs(new.face_area[kept]), area.data])
    where = np.concatenate([kept, row[area.row]]), np.concatenate([source, column[area.col]])
    return _normalized(csr_matrix((data, where), shape=(new.face_count, old.face_count)))


def _kept_faces(old: SheetMesh, new: SheetMesh, vertex_operator: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """New faces that were there before, and which they were."""
    rows = vertex_operator.tocsr()
    origin = np.full(new.vertex_count, -1, np.int64)
    single = np.diff(rows.indptr) == 1
    origin[single] = rows.indices[rows.indptr[:-1][single]]
    before = origin[new.faces]
    candidates = np.flatnonzero((before >= 0).all(axis=1))
    old_key, key = face_keys(old.faces, old.vertex_count), face_keys(before[candidates], old.vertex_count)
    order = np.argsort(old_key, kind="stable")
    place = np.minimum(np.searchsorted(old_key, key, sorter=order), max(len(order) - 1, 0))
    same = old_key[order[place]] == key
    return candidates[same], order[place[same]]


def face_keys(faces: np.ndarray, count: int) -> np.ndarray:
    """One number for each set of three out of `count` corners, (n,); below 2⁶³ up to two million of them."""
    a, b, c = np.sort(faces.astype(np.int64), axis=1).T
    return (a * count + b) * count + c


def _normalized(area: csr_matrix) -> csr_matrix:
    """The same rows divided by their sums."""
    total = np.asarray(area.sum(axis=1)).ravel()
    scale = np.repeat(1.0 / np.where(total > 0.0, total, 1.0), np.diff(area.indptr))
    return csr_matrix((area.data * scale, area.indices, area.indptr), shape=area.shape)


def follow_pins(
    node_operator: csr_matrix, node: Ints, handle: Ints, anchor: np.ndarray
) -> tuple[Ints, Ints, np.ndarray]:
    """Pins after a remeshing: (node (m,), handle (m,), anchor (m, 3)), ascending by handle, then by node.

    Pinned nodes are kept (they must have been protected). A new node between nodes of one handle joins it; its
    anchor is interpolated like its position.
    """
    nodes, handles, anchors = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros((0, 3))]
    rows = node_operator.tocsr()
    for number in np.unique(handle):
        of_handle = handle == number
        weight = np.zeros(rows.shape[1])
        weight[node[of_handle]] = 1.0
        where = np.zeros((rows.shape[1], 3))
        where[node[of_handle]] = anchor[of_handle]
        joined = np.flatnonzero(rows @ weight > 1.0 - 1e-12)
        nodes.append(joined.astype(np.int32))
        handles.append(np.full(len(joined), number, np.int32))
        anchors.append((rows @ where)[joined])
    return np.concatenate(nodes), np.concatenate(handles), np.concatenate(anchors)
