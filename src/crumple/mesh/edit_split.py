"""Split an edge in two (compiled)."""

from __future__ import annotations

from numba import njit

from crumple.mesh.buffers import Buffers
from crumple.mesh.fields import DISCARD, INTERPOLATE
from crumple.mesh.refusal import DEAD, DUPLICATE_EDGE, INVERTED, NO_CAPACITY, OK, PARAMETER
from crumple.mesh.rings import GATE, INNER, Links, corner_node, corner_vertex, following, preceding, refresh_node_corner


@njit(**INNER)
def clear_report(buf: Buffers) -> None:
    """Nothing has changed yet."""
    report = buf.report
    report.new_node, report.new_node_count, report.removed_node = -1, 0, -1
    report.new_vertex_a, report.new_vertex_b = -1, -1
    report.removed_face_a, report.removed_face_b = -1, -1
    report.face_count = 0


@njit(**INNER)
def report_face(buf: Buffers, face: int) -> None:
    """Add a new or changed face to the report."""
    count = buf.report.face_count
    if count < len(buf.report.faces):
        buf.report.faces[count] = face
        buf.report.face_count = count + 1


@njit(**INNER)
def edge_is_seam(links: Links, edge: int) -> bool:
    """Whether the two faces of an interior edge use different vertices at one of its ends."""
    other = links.twin[edge]
    a, b = corner_vertex(links, edge), corner_vertex(links, following(edge))
    c, d = corner_vertex(links, other), corner_vertex(links, following(other))
    return not ((a == d and b == c) or (a == c and b == d))


@njit(**GATE)
def split_edge(buf: Buffers, edge: int, t: float) -> int:
    """Put a new node on an edge and cut its one or two faces in two; returns a refusal code, `OK` = 0.

    `edge` half-edge a→b; the new node lies at (1 − t) a + t b in the pattern, on both sides of a seam, and
    linearly in every interpolated field. The new edges carry the old label, the ones inside the faces none;
    the new node is labelled if a and b have the same label.
    """
    code = plan_split(buf, edge, t)
    if code == OK:
        apply_split(buf, edge, t)
    return code


@njit(**INNER)
def apply_split(buf: Buffers, edge: int, t: float) -> None:
    """Do what `plan_split` has just answered `OK` to."""
    clear_report(buf)
    other = buf.links.twin[edge]
    a, b = corner_node(buf.links, edge), corner_node(buf.links, following(edge))
    node = _new_node_between(buf, a, b, t)
    vertex = _new_vertex_between(
        buf, corner_vertex(buf.links, edge), corner_vertex(buf.links, following(edge)), t, node
    )
    buf.report.new_vertex_a = vertex
    if other < 0:
        half = _split_face(buf, edge, vertex)
        buf.links.twin[edge] = -1
        buf.links.twin[half] = -1
    else:
        same_way = corner_node(buf.links, other) == a
        second = vertex
        if edge_is_seam(buf.links, edge):
            c, d = corner_vertex(buf.links, other), corner_vertex(buf.links, following(other))
            second = _new_vertex_between(buf, c, d, t if same_way else 1.0 - t, node)
            buf.report.new_vertex_b = second
        half = _split_face(buf, edge, vertex)
        other_half = _split_face(buf, other, second)
        _link(buf.links, edge, other if same_way else other_half)
        _link(buf.links, half, other_half if same_way else other)
        refresh_node_corner(buf.links, corner_node(buf.links, preceding(other)), preceding(other))
    refresh_node_corner(buf.links, corner_node(buf.links, preceding(edge)), preceding(edge))
    refresh_node_corner(buf.links, a, edge)
    refresh_node_corner(buf.links, b, following(half))
    refresh_node_corner(buf.links, node, half)


@njit(**GATE)
def plan_split(buf: Buffers, edge: int, t: float) -> int:
    """Refusal code of a split, nothing is changed."""
    if edge < 0 or edge >= 3 * buf.counters.faces or buf.links.faces[edge // 3, 0] < 0:
        return DEAD
    if not 0.0 < t < 1.0:
        return PARAMETER
    counters = buf.counters
    if counters.nodes + 1 > len(buf.links.node_corner) or counters.vertices + 2 > len(buf.links.vertex_node):
        return NO_CAPACITY
    if counters.faces + 2 > len(buf.links.faces):
        return NO_CAPACITY
    if _is_hairline(buf.links, edge, t):
        return INVERTED
    other = buf.links.twin[edge]
    if other >= 0:
        if corner_node(buf.links, preceding(edge)) == corner_node(buf.links, preceding(other)):
            return DUPLICATE_EDGE
        if _is_hairline(buf.links, other, t):
            return INVERTED
    return OK


@njit(**INNER)
def _is_hairline(links: Links, edge: int, t: float) -> bool:
    """Whether a part of the split edge would be too short to tell from nothing, relative to the face."""
    u = links.u
    a, b, c = (
        corner_vertex(links, edge),
        corner_vertex(links, following(edge)),
        corner_vertex(links, preceding(edge)),
    )
    ab = (u[b, 0] - u[a, 0]) ** 2 + (u[b, 1] - u[a, 1]) ** 2
    ac = (u[c, 0] - u[a, 0]) ** 2 + (u[c, 1] - u[a, 1]) ** 2
    part = min(t, 1.0 - t)
    return part * part * ab < 1e-16 * max(ab, ac)


@njit(**INNER)
def _link(links: Links, a: int, b: int) -> None:
    """Make two half-edges twins; either may be the boundary (-1)."""
    if a >= 0:
        links.twin[a] = b
    if b >= 0:
        links.twin[b] = a


@njit(**INNER)
def _split_face(buf: Buffers, edge: int, vertex: int) -> int:
    """Cut face (a, b, c) with `edge` a→b into (a, m, c) in place and a new (m, b, c); returns half-edge m→b.

    The twins of `edge` and of m→b are left to the caller.
    """
    face = edge // 3
    after, before = following(edge), preceding(edge)
    b, c = corner_vertex(buf.links, after), corner_vertex(buf.links, before)
    new = buf.counters.faces
    buf.counters.faces = new + 1
    half = 3 * new
    buf.links.faces[new, 0], buf.links.faces[new, 1], buf.links.faces[new, 2] = vertex, b, c
    buf.links.faces[face, after % 3] = vertex
    buf.face_material[new] = buf.face_material[face]
    buf.face_sheet[new] = buf.face_sheet[face]
    buf.edge_label[half] = buf.edge_label[edge]
    buf.edge_label[half + 1] = buf.edge_label[after]
    buf.edge_label[half + 2] = 0
    buf.edge_label[after] = 0
    _link(buf.links, half + 1, buf.links.twin[after])
    _link(buf.links, after, half + 2)
    for k in range(buf.face_data.shape[1]):
        if buf.face_rule[k] == DISCARD:
            buf.face_data[face, k] = 0.0
        buf.face_data[new, k] = buf.face_data[face, k]
    report_face(buf, face)
    report_face(buf, new)
    return half


@njit(**INNER)
def _new_node_between(buf: Buffers, a: int, b: int, t: float) -> int:
    """Append a node at (1 − t) a + t b."""
    node = buf.counters.nodes
    buf.counters.nodes = node + 1
    for k in range(3):
        buf.node_rest[node, k] = (1.0 - t) * buf.node_rest[a, k] + t * buf.node_rest[b, k]
    buf.node_label[node] = buf.node_label[a] if buf.node_label[a] == buf.node_label[b] else 0
    buf.node_protected[node] = 0
    record_parents(buf.node_parent, buf.node_weight, node, a, b, t)
    _mix_row(buf.node_data, buf.node_rule, node, a, b, t)
    buf.report.new_node = node
    buf.report.new_node_count = 1
    return node


@njit(**INNER)
def _new_vertex_between(buf: Buffers, a: int, b: int, t: float, node: int) -> int:
    """Append a vertex of `node` at (1 − t) a + t b in the pattern."""
    vertex = buf.counters.vertices
    buf.counters.vertices = vertex + 1
    buf.links.vertex_node[vertex] = node
    record_parents(buf.vertex_parent, buf.vertex_weight, vertex, a, b, t)
    for k in range(2):
        buf.links.u[vertex, k] = (1.0 - t) * buf.links.u[a, k] + t * buf.links.u[b, k]
    _mix_row(buf.vertex_data, buf.vertex_rule, vertex, a, b, t)
    return vertex


@njit(**INNER)
def record_parents(parent, weight, row: int, a: int, b: int, t: float) -> None:  # type: ignore[no-untyped-def]
    """Note that the element `row` was made at (1 − t) a + t b."""
    parent[row, 0], parent[row, 1], parent[row, 2] = a, b, a
    weight[row, 0], weight[row, 1], weight[row, 2] = 1.0 - t, t, 0.0


@njit(**INNER)
def _mix_row(data, rule, row: int, a: int, b: int, t: float) -> None:  # type: ignore[no-untyped-def]
    """Fill a row of stacked fields from the rows a and b by the rule of each column."""
    for k in range(data.shape[1]):
        if rule[k] == INTERPOLATE:
            data[row, k] = (1.0 - t) * data[a, k] + t * data[b, k]
        elif rule[k] == DISCARD:
            data[row, k] = 0.0
        else:
            data[row, k] = data[a, k] if t <= 0.5 else data[b, k]
