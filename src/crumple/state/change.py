"""What an edit did to a mesh, as operators that carry data from the mesh before to the mesh after.

A `Change` comes from remeshing, from cutting, from gliding, from lines that are put into a pattern: whatever edits the
topology describes itself in this one way, and `transfer` lets every field of a state follow it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix, identity

from crumple.geometry.overlap import follow_charts, overlap_area, vertex_charts
from crumple.mesh.buffers import Buffers, Maps, compact
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.runtime.typing import Bools, Floats, Ints

NEW = -1
"""Source of an edge or a hinge that was not there before."""


@dataclass(frozen=True)
class Change:
    """The way from the mesh `old_mesh` to the mesh `mesh`.

    `node_operator` (new nodes × old nodes), `vertex_operator`: how far each new element is from the old ones; rows add
    up to 1. `carried`: values of fields that the edit has placed itself, by name, for example positions on the smooth
    surface instead of the middle of an edge.
    """

    old_mesh: SheetMesh
    mesh: SheetMesh
    node_operator: csr_matrix
    vertex_operator: csr_matrix
    carried: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def is_none(self) -> bool:
        """Whether nothing has changed."""
        return self.mesh is self.old_mesh

    @cached_property
    def face_operator(self) -> csr_matrix:
        """Mean over the old faces under each new one, weighted by area, (new faces × old faces); rows add up to 1."""
        return identity(self.mesh.face_count, format="csr") if self.is_none else self._overlap()

    def _overlap(self) -> csr_matrix:
        """The face operator of meshes that differ."""
        return overlap_operator(self.old_mesh, self.mesh, self.vertex_operator)

    @cached_property
    def face_source(self) -> Ints:
        """The old face that each new face is, `NEW` where it was not there before, (face_count,)."""
        source = np.full(self.mesh.face_count, NEW, np.int32)
        kept, old = _kept_faces(self.old_mesh, self.mesh, self.vertex_operator)
        source[kept] = old
        return source

    @cached_property
    def edge_source(self) -> Ints:
        """The old edge that each new edge is (a part of), `NEW` where there is none, (edge_count,).

        The ends of a part of an old edge lie between the ends of that edge, or are these.
        """
        first, last = _ends_of_rows(self.node_operator)
        low = first[self.mesh.edges].min(axis=1)
        high = last[self.mesh.edges].max(axis=1)
        outside = np.zeros(len(low), bool)
        for end in range(2):
            node = self.mesh.edges[:, end]
            outside |= (first[node] != low) & (first[node] != high) | (last[node] != low) & (last[node] != high)
        key = np.where(outside | (low < 0), -1, low * self.old_mesh.node_count + high)
        ends = np.sort(self.old_mesh.edges.astype(np.int64), axis=1)
        return _find(ends[:, 0] * self.old_mesh.node_count + ends[:, 1], key)

    @cached_property
    def hinge_source(self) -> Ints:
        """The old hinge that each new hinge is (a part of), `NEW` where there is none, (hinge_count,)."""
        inner, old_inner = _has_hinge(self.mesh), _has_hinge(self.old_mesh)
        number = np.where(old_inner, np.cumsum(old_inner) - 1, NEW)
        source = self.edge_source[inner]
        return np.where(source == NEW, NEW, number[source]).astype(np.int32)

    @cached_property
    def node_map(self) -> Ints:
        """The new number of every old node that is still there, −1 for those that are not, (old_node_count,)."""
        rows = self.node_operator
        kept = np.flatnonzero(np.diff(rows.indptr) == 1)[::-1]  # of several copies the first counts
        where = np.full(rows.shape[1], -1, np.int32)
        where[rows.indices[rows.indptr[kept]]] = kept
        return where

    @cached_property
    def changed_nodes(self) -> Bools:
        """The nodes of faces that the old mesh did not have, (node_count,)."""
        count = self.mesh.node_count
        old = self.node_map[self.old_mesh.face_nodes]
        old = old[(old >= 0).all(axis=1)]
        fresh = ~np.isin(face_keys(self.mesh.face_nodes, count), face_keys(old, count))
        changed = np.zeros(count, bool)
        changed[self.mesh.face_nodes[fresh]] = True
        return changed


def no_change(mesh: SheetMesh) -> Change:
    """The change that leaves `mesh` as it is."""
    return Change(mesh, mesh, identity(mesh.node_count, format="csr"), identity(mesh.vertex_count, format="csr"))


def close_change(old_mesh: SheetMesh, buf: Buffers) -> tuple[Change, Maps]:
    """The change that the edits in `buf`, opened on `old_mesh`, have made, and where every slot went."""
    mesh, _, maps = compact(buf)
    node_operator, vertex_operator = operators(buf, maps)
    return Change(old_mesh, mesh, node_operator, vertex_operator), maps


def operators(buf: Buffers, maps: Maps) -> tuple[csr_matrix, csr_matrix]:
    """The node and the vertex operator of edited buffers: what is left, in terms of what was there at the start."""
    nodes, vertices = int(buf.counters.nodes), int(buf.counters.vertices)
    return (
        interpolation_operator(buf.node_parent[:nodes], buf.node_weight[:nodes], np.flatnonzero(maps.node >= 0)),
        interpolation_operator(
            buf.vertex_parent[:vertices], buf.vertex_weight[:vertices], np.flatnonzero(maps.vertex >= 0)
        ),
    )


def interpolation_operator(parents: np.ndarray, weights: Floats, kept: np.ndarray) -> csr_matrix:
    """Rows of the `kept` slots as combinations of the elements that were there before.

    `parents` (slots, 3): the elements that a slot was made between, all before it, −1 for old slots, which come first;
    `weights` (slots, 3) of each, also where a parent has been removed again. Rows add up to 1.
    """
    slots = len(parents)
    new = np.flatnonzero(parents[:, 0] >= 0)
    old_count = int(new[0]) if len(new) else slots
    depth, level = 0, np.zeros(slots, np.int64)
    while True:
        deeper = level[parents[new]].max(axis=1, initial=-1) + 1 if len(new) else level[new]
        if np.array_equal(deeper, level[new]):
            break
        level[new] = deeper
        depth += 1
    start = csr_matrix((np.ones(old_count), (np.arange(old_count), np.arange(old_count))), shape=(slots, old_count))
    row, weight = np.repeat(new, 3), weights[new].ravel()
    between = csr_matrix((weight, (row, parents[new].ravel())), shape=(slots, slots))
    between.eliminate_zeros()
    rows = start
    for _ in range(depth):
        rows = start + between @ rows
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
    return normalized(csr_matrix((data, where), shape=(new.face_count, old.face_count)))


def face_keys(faces: np.ndarray, count: int) -> np.ndarray:
    """One number for each set of three out of `count` corners, (n,); below 2⁶³ up to two million of them."""
    a, b, c = np.sort(faces.astype(np.int64), axis=1).T
    return (a * count + b) * count + c


def _kept_faces(old: SheetMesh, new: SheetMesh, vertex_operator: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """New faces that were there before, at the same place in the pattern, and which they were."""
    rows = vertex_operator.tocsr()
    origin = np.full(new.vertex_count, -1, np.int64)
    single = np.diff(rows.indptr) == 1
    origin[single] = rows.indices[rows.indptr[:-1][single]]
    origin[single] = np.where(np.any(new.u[single] != old.u[origin[single]], axis=1), -1, origin[single])
    before = origin[new.faces]
    candidates = np.flatnonzero((before >= 0).all(axis=1))
    old_key, key = face_keys(old.faces, old.vertex_count), face_keys(before[candidates], old.vertex_count)
    same, place = _found(old_key, key)
    return candidates[same], place[same]


def normalized(area: csr_matrix) -> csr_matrix:
    """The same rows divided by their sums."""
    total = np.asarray(area.sum(axis=1)).ravel()
    scale = np.repeat(1.0 / np.where(total > 0.0, total, 1.0), np.diff(area.indptr))
    return csr_matrix((area.data * scale, area.indices, area.indptr), shape=area.shape)


def _ends_of_rows(operator: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """The one or two old elements that each row depends on, ascending, −1 where there are more, (n,) each."""
    size = np.diff(operator.indptr)
    first = operator.indices[operator.indptr[:-1]].astype(np.int64)
    last = operator.indices[operator.indptr[1:] - 1].astype(np.int64)
    many = size > 2
    return np.where(many, -1, np.minimum(first, last)), np.where(many, -1, np.maximum(first, last))


def _has_hinge(mesh: SheetMesh) -> Bools:
    """Whether an edge has two faces, (edge_count,)."""
    return mesh.twin[mesh.edge_corners] != BOUNDARY


def _found(keys: np.ndarray, wanted: np.ndarray) -> tuple[Bools, np.ndarray]:
    """Whether each of the `wanted` keys is among `keys`, and where."""
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), max(len(order) - 1, 0))
    return (keys[order[place]] == wanted) if len(keys) else np.zeros(len(wanted), bool), order[place]


def _find(keys: np.ndarray, wanted: np.ndarray) -> Ints:
    """Where each of the `wanted` keys is among `keys`, `NEW` where it is not."""
    there, place = _found(keys, wanted)
    return np.where(there, place, NEW).astype(np.int32)
