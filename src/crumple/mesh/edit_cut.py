"""Cut the sheet open along edges (compiled): tears, slits, unglued seams."""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.mesh.buffers import RING_CAPACITY, Buffers
from crumple.mesh.edit_split import clear_report, record_parents, report_face
from crumple.mesh.refusal import BOUNDARY_EDGE, DEAD, DUPLICATE_EDGE, NO_CAPACITY, OK, RING
from crumple.mesh.rings import (
    INNER,
    Links,
    corner_node,
    corner_vertex,
    enter,
    following,
    preceding,
    refresh_node_corner,
)
from crumple.mesh.sheet_mesh import BOUNDARY

# While a cut is made, the twin t of a cut half-edge is kept as -2 - t, and the corner c of a node that has been
# dealt with as -2 - c; both read as "none" for every other walk.


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def cut_edges(buf: Buffers, edges, count: int) -> int:  # type: ignore[no-untyped-def]
    """Open the interior edges `edges[:count]` (half-edges, in any order); returns a refusal code, `OK` = 0.

    A node is duplicated once for every further part into which its faces fall; the ends of a cut inside the sheet
    stay whole. A seam is cut the same way and keeps its vertices. New nodes take all data of the old one.
    A single edge between two inner nodes cannot be opened (its two sides would join the same nodes).
    """
    for i in range(count):
        if edges[i] < 0 or edges[i] >= 3 * buf.counters.faces or buf.links.faces[edges[i] // 3, 0] < 0:
            return DEAD
        if buf.links.twin[edges[i]] < 0:
            return BOUNDARY_EDGE
    for i in range(count):
        if buf.links.twin[edges[i]] >= 0:
            other = buf.links.twin[edges[i]]
            buf.links.twin[edges[i]], buf.links.twin[other] = -2 - other, -2 - edges[i]
    code = _check_cut(buf, edges, count)
    if code != OK:
        _unmark(buf, edges, count)
        return code
    clear_report(buf)
    first = buf.counters.nodes
    buf.report.new_node = first
    for i in range(count):
        for end in range(2):
            node = corner_node(buf.links, edges[i] if end == 0 else following(edges[i]))
            if node < first and buf.links.node_corner[node] >= 0:
                _separate_node(buf, node)
    _open_marked(buf, edges, count)
    for node in range(first, buf.counters.nodes):
        refresh_node_corner(buf.links, node, buf.links.node_corner[node])
    buf.report.new_node_count = buf.counters.nodes - first
    if buf.counters.nodes == first:
        buf.report.new_node = -1
    return OK


@njit(**INNER)
def _twin_of(value: int) -> int:
    """The twin that a marked entry stands for."""
    return -2 - value if value <= -2 else value


@njit(**INNER)
def _unmark(buf: Buffers, edges, count: int) -> None:  # type: ignore[no-untyped-def]
    """Take back the marks of a refused cut."""
    for i in range(count):
        if buf.links.twin[edges[i]] <= -2:
            other = _twin_of(buf.links.twin[edges[i]])
            buf.links.twin[edges[i]], buf.links.twin[other] = other, edges[i]


@njit(**INNER)
def _check_cut(buf: Buffers, edges, count: int) -> int:  # type: ignore[no-untyped-def]
    """Whether there is room and every cut edge really comes apart at one of its ends."""
    vertices = 0
    for i in range(count):
        edge, other = edges[i], _twin_of(buf.links.twin[edges[i]])
        apart = False
        for end in range(2):
            corner = edge if end == 0 else following(edge)
            node = corner_node(buf.links, corner)
            size = _full_ring(buf, node)
            if size < 0:
                return RING
            vertices += size
            across = other if corner_node(buf.links, other) == node else following(other)
            apart = apart or not _is_reached(buf.links, node, corner, across)
        if not apart:
            return DUPLICATE_EDGE
    if buf.counters.nodes + 2 * count > len(buf.links.node_corner):
        return NO_CAPACITY
    if buf.counters.vertices + vertices > len(buf.links.vertex_node):
        return NO_CAPACITY
    return OK


@njit(**INNER)
def _full_ring(buf: Buffers, node: int) -> int:
    """Gather in `ring` the corners at `node` as if nothing were cut; how many, -1 if too many.

    `ring_vertex` gets the part in which each corner lies, 0 for the part of the first corner.
    """
    corner = buf.links.node_corner[node]
    leave = preceding(corner)
    if buf.links.twin[corner] != BOUNDARY and buf.links.twin[leave] == BOUNDARY:
        leave = corner
    first, size, part = corner, 0, 0
    while True:
        if size >= RING_CAPACITY:
            return -1
        buf.ring[size], buf.ring_vertex[size] = corner, part
        size += 1
        if buf.links.twin[leave] <= -2:
            part += 1
        through = _twin_of(buf.links.twin[leave])
        if through < 0:
            return size
        closing = buf.links.twin[leave]
        corner, leave = enter(buf.links, node, through)
        if corner == first:
            break
    if closing >= 0 and part > 0:
        for i in range(size):
            if buf.ring_vertex[i] == part:
                buf.ring_vertex[i] = 0
    return size


@njit(**INNER)
def _is_reached(links: Links, node: int, corner: int, goal: int) -> bool:
    """Whether one can walk around `node` from `corner` to `goal` without crossing a cut."""
    for direction in range(2):
        here, leave = corner, (corner if direction == 0 else preceding(corner))
        while True:
            if here == goal:
                return True
            through = links.twin[leave]
            if through < 0:
                break
            here, leave = enter(links, node, through)
            if here == corner:
                return False
    return False


@njit(**INNER)
def _separate_node(buf: Buffers, node: int) -> None:
    """Give every part of the faces around `node` but the first a node of its own."""
    size = _full_ring(buf, node)
    parts = 0
    for i in range(size):
        parts = max(parts, buf.ring_vertex[i] + 1)
    for part in range(1, parts):
        new = _copy_node(buf, node)
        for i in range(size):
            if buf.ring_vertex[i] == part:
                vertex = corner_vertex(buf.links, buf.ring[i])
                if buf.links.vertex_node[vertex] == node:
                    _move_vertex(buf, vertex, part, size, i, new)
                buf.links.node_corner[new] = buf.ring[i]
                report_face(buf, buf.ring[i] // 3)
    buf.links.node_corner[node] = -2 - buf.ring[0]


@njit(**INNER)
def _move_vertex(buf: Buffers, vertex: int, part: int, size: int, begin: int, node: int) -> None:
    """Give the corners of `part` that use `vertex` to `node`; with a copy if an earlier part uses it as well."""
    shared = False
    for i in range(size):
        if buf.ring_vertex[i] != part and corner_vertex(buf.links, buf.ring[i]) == vertex:
            shared = True
    if not shared:
        buf.links.vertex_node[vertex] = node
        return
    copy = buf.counters.vertices
    buf.counters.vertices = copy + 1
    buf.links.vertex_node[copy] = node
    record_parents(buf.vertex_parent, buf.vertex_weight, copy, vertex, vertex, 0.0)
    for k in range(2):
        buf.links.u[copy, k] = buf.links.u[vertex, k]
    for k in range(buf.vertex_data.shape[1]):
        buf.vertex_data[copy, k] = buf.vertex_data[vertex, k]
    for i in range(begin, size):
        corner = buf.ring[i]
        if buf.ring_vertex[i] == part and corner_vertex(buf.links, corner) == vertex:
            buf.links.faces[corner // 3, corner % 3] = copy


@njit(**INNER)
def _copy_node(buf: Buffers, node: int) -> int:
    """Append a copy of a node with all its data."""
    new = buf.counters.nodes
    buf.counters.nodes = new + 1
    buf.node_label[new] = buf.node_label[node]
    buf.node_protected[new] = buf.node_protected[node]
    record_parents(buf.node_parent, buf.node_weight, new, node, node, 0.0)
    for k in range(3):
        buf.node_rest[new, k] = buf.node_rest[node, k]
    for k in range(buf.node_data.shape[1]):
        buf.node_data[new, k] = buf.node_data[node, k]
    return new


@njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _open_marked(buf: Buffers, edges, count: int) -> None:  # type: ignore[no-untyped-def]
    """Turn the marks into boundary and find the old nodes' corners again."""
    others = np.empty(count, np.int64)
    for i in range(count):
        others[i] = _twin_of(buf.links.twin[edges[i]])
    for i in range(count):
        buf.links.twin[edges[i]], buf.links.twin[others[i]] = BOUNDARY, BOUNDARY
        report_face(buf, edges[i] // 3)
        report_face(buf, others[i] // 3)
    for i in range(count):
        for k in range(4):
            side = edges[i] if k < 2 else others[i]
            node = corner_node(buf.links, side if k % 2 == 0 else following(side))
            if buf.links.node_corner[node] <= -2:
                refresh_node_corner(buf.links, node, -2 - buf.links.node_corner[node])
