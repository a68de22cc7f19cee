"""How a crack runs through the mesh: its tip glides, and where it has no room or turns, an edge ahead of it is cut.

Both are described as a `Change`. Nodes, vertices and faces are only added, so old numbers stay what they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sin

import numpy as np
from scipy.sparse import csr_matrix

from crumple.mesh import BOUNDARY, SheetMesh, cut_edges, open_buffers, split_edge
from crumple.mesh.edit_glide import Glide, apply_glide, opposite_sides, plan_glide, ring_faces
from crumple.mesh.refusal import OK, Refusal
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import Change, close_change, no_change
from crumple.tearing.tuning import TUNING

SNAP = TUNING.snap_to_edge.value
FIRST = TUNING.first_cut.value
NEARLY = TUNING.nearly_whole_edge.value
NARROW = TUNING.unsplit_end.value


@dataclass(frozen=True)
class Opening:
    """An edge that is cut: the `change`, the `copies` (n, 2) of nodes that have come apart (old, new), the `tip` where
    the crack ends now, −1 when it has reached the border of the sheet or a seam, the `path` (m, 2) [m] of the cut, and
    the node where it starts if that is a tip as well, else −1; `is_fixed`: whether the tip must stay where it is."""

    change: Change
    copies: Ints
    tip: int
    path: Floats
    start: int
    is_fixed: bool = False

    @property
    def heading(self) -> Floats:
        """The way of the last edge, (2,)."""
        step: Floats = self.path[-1] - self.path[-2]
        return step / np.linalg.norm(step)

    @property
    def length(self) -> float:
        """By how much the crack is longer [m]."""
        return float(np.linalg.norm(np.diff(self.path, axis=0), axis=1).sum())


def compose(first: Change, second: Change) -> Change:
    """The change that two changes after each other make."""
    if first.is_none or second.is_none:
        return second if first.is_none else first
    return Change(
        first.old_mesh,
        second.mesh,
        (second.node_operator @ first.node_operator).tocsr(),
        (second.vertex_operator @ first.vertex_operator).tocsr(),
    )


def node_vertex(mesh: SheetMesh, node: int) -> int:
    """The only vertex of a node, −1 when a seam gives it several."""
    vertices = np.flatnonzero(mesh.vertex_node == node)
    return int(vertices[0]) if len(vertices) == 1 else -1


def glide_change(mesh: SheetMesh, vertex: int, target: Floats) -> Change | None:
    """The change that moves a vertex to `target` (2,) [m] on the pattern; None when there is no room, or no vertex: a
    node on a seam has several, and stays where it is."""
    glide = plan_glide(mesh, vertex, target) if vertex >= 0 else Refusal.INVERTED
    if isinstance(glide, Refusal):
        return None
    return Change(
        mesh,
        apply_glide(mesh, glide),
        _row(mesh.node_count, int(mesh.vertex_node[vertex]), mesh.vertex_node[glide.corners], glide),
        _row(mesh.vertex_count, vertex, glide.corners, glide),
    )


def _row(count: int, row: int, columns: Ints, glide: Glide) -> csr_matrix:
    """The identity but for one row, which lies between others."""
    kept = glide.weights > 1e-12
    order = np.argsort(columns[kept], kind="stable")
    indices, data = np.arange(count, dtype=np.int32), np.ones(count)
    indices = np.concatenate([indices[:row], columns[kept][order], indices[row + 1 :]])
    data = np.concatenate([data[:row], glide.weights[kept][order], data[row + 1 :]])
    start = np.arange(count + 1, dtype=np.int32)
    start[row + 1 :] += int(np.count_nonzero(kept)) - 1
    return csr_matrix((data, indices, start), shape=(count, count))


def open_ahead(mesh: SheetMesh, node: int, direction: Floats, *, first: float, kept: Bools) -> Opening | None:
    """The tip at `node` runs on along the unit `direction` (2,): the edge ahead is cut; None when that cannot be.

    `first` [m]: how far it runs at once, if the edge is that long;  `kept` (node_count,) nodes that must not glide:
    held ones, and other tips. An edge within `SNAP` of the direction is taken, or the side ahead is split where the way
    meets it. The node there glides back to `first` from the tip; if it lies on the border, on a labelled line or is
    `kept`, a new one is put there.
    """
    vertex = node_vertex(mesh, node)
    if vertex < 0:
        return None
    ahead = _next_vertex(mesh, vertex, direction)
    if ahead is None:
        return None
    change, end = ahead
    mesh = change.mesh
    goal = int(mesh.vertex_node[end])
    gap = mesh.u[end] - mesh.u[vertex]
    length = float(np.linalg.norm(gap))
    is_fixed = bool(mesh.boundary_nodes[goal]) or (goal < len(kept) and bool(kept[goal])) or is_labelled(mesh, goal)
    if NEARLY * length > first:
        way = None if is_fixed else direction if change.is_none else gap / length
        nearer = _bring_back(mesh, vertex, end, way, first)
        if nearer is None:
            return None
        step, end = nearer
        change, mesh = compose(change, step), step.mesh
        goal, is_fixed = int(mesh.vertex_node[end]), False
    return _cut(change, mesh, [(node, goal)], np.stack([mesh.u[vertex], mesh.u[end]]), is_fixed=is_fixed)


def open_inside(mesh: SheetMesh, node: int, direction: Floats, *, first: float, kept: Bools) -> Opening | None:
    """The sound sheet opens at `node` along the unit `direction` (2,): one edge from the border, or two from inside.

    The path runs from one end of the slit, `start`, to the other, `tip`; either may be on the border.
    """
    if mesh.boundary_nodes[node]:
        return open_ahead(mesh, node, direction, first=first, kept=kept)
    vertex = node_vertex(mesh, node)
    change, ends = no_change(mesh), []
    for way in (-direction, direction):
        ahead = None if vertex < 0 else _next_vertex(change.mesh, vertex, way)
        if ahead is None:
            return None
        change = compose(change, ahead[0])
        ends.append(ahead[1])
    mesh = change.mesh
    first, last = (int(mesh.vertex_node[end]) for end in ends)
    if first == last:
        return None
    return _cut(
        change, mesh, [(first, node), (node, last)], np.stack([mesh.u[ends[0]], mesh.u[vertex], mesh.u[ends[1]]])
    )


def is_labelled(mesh: SheetMesh, node: int) -> bool:
    """Whether a node lies on a labelled line."""
    return bool((mesh.edge_label[(mesh.face_nodes == node)] != 0).any()) or bool(
        (np.roll(mesh.edge_label, 1, axis=1)[mesh.face_nodes == node] != 0).any()
    )


def is_bound(mesh: SheetMesh, node: int, heading: Floats) -> bool:
    """Whether a node lies on a labelled line that a glide along the unit `heading` (2,) would bend."""
    tail, head = mesh.face_nodes, np.roll(mesh.face_nodes, -1, axis=1)
    face, corner = np.nonzero((mesh.edge_label != 0) & ((tail == node) | (head == node)))
    way = mesh.u[mesh.faces[face, (corner + 1) % 3]] - mesh.u[mesh.faces[face, corner]]
    return bool(np.any(np.abs(_cross(way, heading)) > 1e-6 * np.linalg.norm(way, axis=1)))


def half_edge(mesh: SheetMesh, tail: int, head: int) -> int:
    """A half-edge between two nodes, −1 when there is none."""
    a, b = mesh.face_nodes.ravel(), np.roll(mesh.face_nodes, -1, axis=1).ravel()
    found = np.flatnonzero(((a == tail) & (b == head)) | ((a == head) & (b == tail)))
    return int(found[0]) if len(found) else -1


def _next_vertex(mesh: SheetMesh, vertex: int, direction: Floats) -> tuple[Change, int] | None:
    """The vertex that a way from `vertex` along `direction` (2,) meets next, and the split that makes it, if any."""
    faces = ring_faces(mesh, vertex)
    sides = opposite_sides(mesh, vertex, faces)
    here = mesh.u[vertex]
    a, b = mesh.u[sides[:, 0]] - here, mesh.u[sides[:, 1]] - here
    left, right = _cross(a, direction), -_cross(b, direction)
    is_ahead = (a @ direction > 0.0) | (b @ direction > 0.0)
    tolerance = 1e-9 * float(np.abs(a).max())
    entered = np.flatnonzero((left >= -tolerance) & (right >= -tolerance) & is_ahead)
    if not len(entered):
        return None
    face = (
        int(entered[np.argmin(np.abs(left[entered]) + np.abs(right[entered]))]) if len(entered) > 1 else int(entered[0])
    )
    options = []
    for sine, gap, end in ((left[face], a[face], sides[face, 0]), (right[face], b[face], sides[face, 1])):
        length = float(np.linalg.norm(gap))
        if abs(sine) / length < sin(SNAP) and gap @ direction > 0.0 and _is_inner(mesh, vertex, int(end)):
            options.append((abs(sine) / length, int(end)))
    if options:
        return no_change(mesh), min(options)[1]
    share = float(left[face] / (left[face] + right[face]))
    share = min(max(share, NARROW), 1.0 - NARROW)
    corner = int(np.argmax(mesh.faces[faces[face]] == vertex))
    edge = 3 * int(faces[face]) + (corner + 1) % 3
    return _split(mesh, edge, share)


def _split(mesh: SheetMesh, edge: int, share: float) -> tuple[Change, int] | None:
    """The split of a half-edge at a `share` of it, and the new vertex; None when it is refused, or on a seam."""
    other = int(mesh.twin[edge])
    ends = {int(mesh.faces[edge // 3, edge % 3]), int(mesh.faces[edge // 3, (edge + 1) % 3])}
    if other != BOUNDARY and ends != {
        int(mesh.faces[other // 3, other % 3]),
        int(mesh.faces[other // 3, (other + 1) % 3]),
    }:
        return None
    buf = open_buffers(mesh, spare=0.5 + 64.0 / mesh.vertex_count)
    if split_edge(buf, edge, share) != OK:
        return None
    return close_change(mesh, buf)[0], int(buf.report.new_vertex_a)


def _bring_back(
    mesh: SheetMesh, vertex: int, end: int, direction: Floats | None, length: float
) -> tuple[Change, int] | None:
    """The vertex `end` of an edge glides to `length` [m] from `vertex`, along `direction` (2,) if that can be;
    where it cannot glide, or without a direction, the edge is split there."""
    along = mesh.u[end] - mesh.u[vertex]
    full = float(np.linalg.norm(along))
    for way in () if direction is None else (direction, along / full):
        change = glide_change(mesh, end, mesh.u[vertex] + length * way)
        if change is not None:
            return change, end
    edge = half_edge(mesh, int(mesh.vertex_node[vertex]), int(mesh.vertex_node[end]))
    starts_here = int(mesh.faces[edge // 3, edge % 3]) == vertex
    return _split(mesh, edge, length / full if starts_here else 1.0 - length / full)


def _cut(
    change: Change, mesh: SheetMesh, edges: list[tuple[int, int]], path: Floats, *, is_fixed: bool = False
) -> Opening | None:
    """The edges between nodes (tail, head) cut; the crack runs along `path` and ends at the last head, which must not
    glide if it `is_fixed`."""
    halves = np.array([half_edge(mesh, tail, head) for tail, head in edges], np.int64)
    if (halves < 0).any() or (mesh.twin[halves] == BOUNDARY).any():
        return None
    goal = edges[-1][1]
    is_end = bool(mesh.boundary_nodes[goal]) or node_vertex(mesh, goal) < 0
    buf = open_buffers(mesh, spare=0.5 + 64.0 / mesh.vertex_count)
    if cut_edges(buf, halves, len(halves)) != OK:
        return None
    opened = close_change(mesh, buf)[0]
    new = np.arange(mesh.node_count, opened.mesh.node_count, dtype=np.int32)
    old = opened.node_operator[new].indices.astype(np.int32)
    copies = np.stack([old, new], axis=1) if len(new) else np.zeros((0, 2), np.int32)
    first = edges[0][0]
    start = -1 if mesh.boundary_nodes[first] or node_vertex(mesh, first) < 0 else first
    return Opening(compose(change, opened), copies, -1 if is_end else goal, path, start, is_fixed)


def _is_inner(mesh: SheetMesh, vertex: int, end: int) -> bool:
    """Whether the edge between two vertices has sheet on both sides."""
    edge = half_edge(mesh, int(mesh.vertex_node[vertex]), int(mesh.vertex_node[end]))
    return edge >= 0 and int(mesh.twin[edge]) != BOUNDARY


def _cross(a: Floats, b: Floats) -> Floats:
    """a × b of vectors (n, 2) with one (2,)."""
    return np.asarray(a[:, 0] * b[1] - a[:, 1] * b[0], np.float64)


def followed(change: Change, x: Floats) -> Change:
    """The change with the positions x (node_count, 3) of the new nodes placed."""
    return replace(change, carried={"x": x})
