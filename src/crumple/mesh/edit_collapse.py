"""Collapse an edge: remove one end node into the other (compiled)."""

from __future__ import annotations

from numba import njit

from crumple.mesh.buffers import RING_CAPACITY, Buffers
from crumple.mesh.edit_split import _link, clear_report, edge_is_seam, report_face
from crumple.mesh.fields import CONSERVE, DISCARD
from crumple.mesh.overlap import transfer_by_overlap
from crumple.mesh.refusal import (
    BOUNDARY_EDGE,
    DEAD,
    INVERTED,
    LABEL,
    LINK,
    MATERIAL,
    OK,
    PINCH,
    PROTECTED,
    RING,
    SEAM,
    SHAPE,
)
from crumple.mesh.rings import (
    GATE,
    INNER,
    Links,
    are_adjacent,
    corner_node,
    corner_vertex,
    enter,
    following,
    is_thin,
    preceding,
    refresh_node_corner,
    triangle_area,
)


@njit(**INNER)
def edge_feature(buf: Buffers, edge: int) -> int:
    """`OK` for a plain interior edge, else what makes it a line to be kept: the refusal code of its kind."""
    other = buf.links.twin[edge]
    if other < 0:
        return BOUNDARY_EDGE
    if edge_is_seam(buf.links, edge) or corner_node(buf.links, edge) == corner_node(buf.links, other):
        return SEAM
    if buf.edge_label[edge] != 0:
        return LABEL
    if buf.face_material[edge // 3] != buf.face_material[other // 3]:
        return MATERIAL
    return OK


@njit(**GATE)
def plan_collapse(buf: Buffers, edge: int, remove_head: bool, tolerance: float) -> int:
    """Refusal code of removing the tail (or head) p of `edge` into its other end q; the mesh is not changed.

    On `OK`, `ring[0:counters.ring]` are the corners at p in order, starting with the face of `edge`;
    those of the first face, and of the last one if `edge` has two faces, vanish; in the others the vertex at
    that corner would become `ring_vertex`. Corners from `counters.ring_split` on lie beyond the line through p.

    A node on a line (outline, seam, labelled edges, border of a material group) may only move along it; a node
    where lines end, meet or change kind stays. `tolerance`: on each side of the line the material area of the
    faces around p may change by this fraction at most (1e-9 = straight lines only).
    """
    if edge < 0 or edge >= 3 * buf.counters.faces or buf.links.faces[edge // 3, 0] < 0:
        return DEAD
    start = following(edge) if remove_head else edge
    p = corner_node(buf.links, start)
    if buf.node_protected[p] != 0:
        return PROTECTED
    code = _gather_sectors(buf, edge, remove_head, p)
    if code != OK:
        return code
    q = corner_node(buf.links, edge if remove_head else following(edge))
    code = _check_link(buf, edge, p, q)
    if code != OK:
        return code
    return _check_areas(buf, edge, tolerance)


@njit(**GATE)
def collapse_edge(buf: Buffers, edge: int, remove_head: bool, tolerance: float) -> int:
    """Remove the tail (or head) of `edge` into its other end; returns a refusal code, `OK` = 0.

    See `plan_collapse` for the rules. Along a seam both sides collapse. The kept node keeps all its data;
    conserved face data are averaged over the true overlap of new and old faces in each sector.
    """
    code = plan_collapse(buf, edge, remove_head, tolerance)
    if code == OK:
        apply_collapse(buf, edge, remove_head)
    return code


@njit(**INNER)
def apply_collapse(buf: Buffers, edge: int, remove_head: bool) -> None:
    """Do what `plan_collapse` has just answered `OK` to."""
    clear_report(buf)
    other = buf.links.twin[edge]
    count = buf.counters.ring
    split = buf.counters.ring_split
    last = count if other < 0 else count - 1
    p = corner_node(buf.links, buf.ring[0])
    if buf.face_data.shape[1] > 0:
        for side in range(2):
            begin, end = side * split, split if side == 0 else count
            if begin < end:
                _transfer_sector(buf, begin, end, max(begin, 1), min(end, last))
    q_node = corner_node(buf.links, edge if remove_head else following(edge))
    for i in range(count):
        buf.links.vertex_node[corner_vertex(buf.links, buf.ring[i])] = -1
    for i in range(1, last):
        corner = buf.ring[i]
        buf.links.faces[corner // 3, corner % 3] = buf.ring_vertex[i]
        report_face(buf, corner // 3)
    r_corner = _remove_face(buf, edge, buf.ring[0])
    buf.report.removed_face_a = edge // 3
    s_corner = -1
    if other >= 0:
        s_corner = _remove_face(buf, other, buf.ring[count - 1])
        buf.report.removed_face_b = other // 3
    buf.links.node_corner[p] = -1
    buf.report.removed_node = p
    refresh_node_corner(buf.links, q_node, buf.ring[1])
    refresh_node_corner(buf.links, corner_node(buf.links, r_corner), r_corner)
    if s_corner >= 0:
        refresh_node_corner(buf.links, corner_node(buf.links, s_corner), s_corner)


@njit(**INNER)
def _same_line(buf: Buffers, a: int, b: int) -> bool:
    """Whether two half-edges are of the same kind: label, seam, boundary, material groups on either side."""
    if edge_feature(buf, a) != edge_feature(buf, b) or buf.edge_label[a] != buf.edge_label[b]:
        return False
    if buf.links.twin[a] < 0:
        return True
    a1, a2 = buf.face_material[a // 3], buf.face_material[buf.links.twin[a] // 3]
    b1, b2 = buf.face_material[b // 3], buf.face_material[buf.links.twin[b] // 3]
    return (a1 == b1 and a2 == b2) or (a1 == b2 and a2 == b1)


@njit(**INNER)
def _gather_sectors(buf: Buffers, edge: int, remove_head: bool, p: int) -> int:
    """Fill `ring` and `ring_vertex` and check that p moves along its line, if it is on one."""
    other = buf.links.twin[edge]
    corner = following(edge) if remove_head else edge
    leave = corner if remove_head else preceding(edge)
    kind = edge_feature(buf, edge)
    lines = 0 if kind == OK else 1
    vertex = corner_vertex(buf.links, edge if remove_head else following(edge))
    second = -1
    if other >= 0:
        second = corner_vertex(buf.links, following(other) if corner_node(buf.links, other) == p else other)
    count, split = 0, -1
    while True:
        if count >= RING_CAPACITY:
            return RING
        buf.ring[count] = corner
        buf.ring_vertex[count] = vertex if split < 0 else second
        count += 1
        if leave == other:
            break
        found = edge_feature(buf, leave)
        if found != OK:
            lines += 1
            if kind == OK or lines > 2 or not _same_line(buf, edge, leave):
                return found if kind == OK or found == BOUNDARY_EDGE else kind
            split = count
            if not _goes_on(buf.links, corner, leave, vertex):
                return SHAPE
            if found == BOUNDARY_EDGE:
                break
            across, away = enter(buf.links, p, buf.links.twin[leave])
            if not _goes_on(buf.links, across, preceding(across) if away == across else across, second):
                return SHAPE
        corner, leave = enter(buf.links, p, buf.links.twin[leave])
    if lines == 1:
        return kind
    if split < 0:
        split = count
    if lines == 2 and (split < 2 or (other >= 0 and count - split < 2)):
        return PINCH
    if count < (3 if other >= 0 else 2):
        return PINCH
    buf.counters.ring = count
    buf.counters.ring_split = split
    return OK


@njit(**INNER)
def _goes_on(links: Links, corner: int, edge: int, q: int) -> bool:
    """Whether the line that comes to p by `edge` goes on to vertex q and does not turn back (tip of a slit)."""
    p = corner_vertex(links, corner)
    before = corner_vertex(links, following(corner) if edge == corner else edge)
    u = links.u
    dot = (u[p, 0] - u[before, 0]) * (u[q, 0] - u[p, 0]) + (u[p, 1] - u[before, 1]) * (u[q, 1] - u[p, 1])
    return dot > 0.0


@njit(**INNER)
def _check_link(buf: Buffers, edge: int, p: int, q: int) -> int:
    """p and q may share only the neighbours opposite to the edge, and no face may come to lie on another."""
    other = buf.links.twin[edge]
    count = buf.counters.ring
    r = corner_node(buf.links, preceding(edge))
    s = -1 if other < 0 else corner_node(buf.links, preceding(other))
    if r == s:
        return LINK
    for i in range(count):
        for corner in (following(buf.ring[i]), preceding(buf.ring[i])):
            z = corner_node(buf.links, corner)
            if z != q and z != r and z != s and are_adjacent(buf.links, q, z):
                return LINK
    to_q, to_p = _sides(buf.links, edge, buf.ring[0])
    if buf.links.twin[to_p] < 0:
        return PINCH
    if buf.links.twin[to_q] >= 0 and s >= 0:
        across_q = corner_node(buf.links, preceding(buf.links.twin[to_q]))
        across_p = corner_node(buf.links, preceding(buf.links.twin[to_p]))
        if across_q == s and across_p == s:
            return LINK
    if other >= 0:
        to_q, to_p = _sides(buf.links, other, buf.ring[count - 1])
        if buf.links.twin[to_p] < 0:
            return PINCH
    return OK


@njit(**INNER)
def _sides(links: Links, edge: int, p_corner: int) -> tuple[int, int]:
    """Of the face of `edge`, the half-edges that join the opposite node with q and with p."""
    if p_corner == edge:
        return following(edge), preceding(edge)
    return preceding(edge), following(edge)


@njit(**INNER)
def _check_areas(buf: Buffers, edge: int, tolerance: float) -> int:
    """No face may be inverted and no sector may change its area."""
    count, split = buf.counters.ring, buf.counters.ring_split
    last = count if buf.links.twin[edge] < 0 else count - 1
    old, new = 0.0, 0.0
    for i in range(count):
        corner = buf.ring[i]
        a, b, c = (
            corner_vertex(buf.links, corner),
            corner_vertex(buf.links, following(corner)),
            corner_vertex(buf.links, preceding(corner)),
        )
        old += triangle_area(buf.links, a, b, c)
        if 0 < i < last:
            if is_thin(buf.links, buf.ring_vertex[i], b, c):
                return INVERTED
            new += triangle_area(buf.links, buf.ring_vertex[i], b, c)
        if i == split - 1 or i == count - 1:
            if not abs(new - old) <= max(tolerance, 1e-9) * old:
                return SHAPE
            old, new = 0.0, 0.0
    return OK


@njit(**INNER)
def _remove_face(buf: Buffers, edge: int, p_corner: int) -> int:
    """Delete the face of `edge`, join what was across its other sides; a corner left at its opposite node."""
    to_q, to_p = _sides(buf.links, edge, p_corner)
    outer_q, outer_p = buf.links.twin[to_q], buf.links.twin[to_p]
    opposite = corner_node(buf.links, preceding(edge))
    buf.edge_label[outer_p] = buf.edge_label[to_q]
    buf.links.twin[outer_p] = -1
    _link(buf.links, outer_p, outer_q)
    face = edge // 3
    for k in range(3):
        buf.links.faces[face, k] = -1
        buf.links.twin[3 * face + k] = -1
    return outer_p if corner_node(buf.links, outer_p) == opposite else following(outer_p)


@njit(**INNER)
def _transfer_sector(buf: Buffers, begin: int, end: int, new_begin: int, new_end: int) -> None:
    """Face data of ring[new_begin:new_end] after the collapse from those of ring[begin:end] before it."""
    n, m = end - begin, new_end - new_begin
    if _is_uniform(buf, begin, end):
        _discard(buf, new_begin, new_end)
        return
    for i in range(n):
        _load_row(buf, i, buf.ring[begin + i], corner_vertex(buf.links, buf.ring[begin + i]))
    for i in range(m):
        _load_row(buf, n + i, buf.ring[new_begin + i], buf.ring_vertex[new_begin + i])
    transfer_by_overlap(buf.scratch, n, m, buf.polygon)
    for i in range(m):
        for k in range(buf.face_data.shape[1]):
            if buf.face_rule[k] == CONSERVE:
                buf.face_data[buf.ring[new_begin + i] // 3, k] = buf.scratch[n + i, 6 + k]
    _discard(buf, new_begin, new_end)


@njit(**INNER)
def _is_uniform(buf: Buffers, begin: int, end: int) -> bool:
    """Whether all faces of the sector have the same conserved data (nothing to transfer)."""
    first = buf.ring[begin] // 3
    for k in range(buf.face_data.shape[1]):
        if buf.face_rule[k] == CONSERVE:
            for i in range(begin + 1, end):
                if buf.face_data[buf.ring[i] // 3, k] != buf.face_data[first, k]:
                    return False
    return True


@njit(**INNER)
def _discard(buf: Buffers, begin: int, end: int) -> None:
    """Zero the discarded columns of the faces of ring[begin:end]."""
    for k in range(buf.face_data.shape[1]):
        if buf.face_rule[k] == DISCARD:
            for i in range(begin, end):
                buf.face_data[buf.ring[i] // 3, k] = 0.0


@njit(**INNER)
def _load_row(buf: Buffers, row: int, corner: int, vertex: int) -> None:
    """Write to a row of `scratch` the face of `corner`, with `vertex` at that corner, and its data."""
    b, c = corner_vertex(buf.links, following(corner)), corner_vertex(buf.links, preceding(corner))
    for k in range(2):
        buf.scratch[row, k] = buf.links.u[vertex, k]
        buf.scratch[row, 2 + k] = buf.links.u[b, k]
        buf.scratch[row, 4 + k] = buf.links.u[c, k]
    for k in range(buf.face_data.shape[1]):
        buf.scratch[row, 6 + k] = buf.face_data[corner // 3, k]
