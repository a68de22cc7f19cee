"""Flip an interior edge to the other diagonal of its two faces (compiled)."""

from __future__ import annotations

from numba import njit

from crumple.mesh.buffers import Buffers
from crumple.mesh.edit_split import _link, clear_report, edge_is_seam, report_face
from crumple.mesh.fields import CONSERVE, DISCARD
from crumple.mesh.refusal import BOUNDARY_EDGE, DEAD, DUPLICATE_EDGE, INVERTED, LABEL, MATERIAL, OK, SEAM
from crumple.mesh.rings import (
    GATE,
    INNER,
    are_adjacent,
    corner_node,
    corner_vertex,
    following,
    is_thin,
    preceding,
    refresh_node_corner,
    triangle_area,
)


@njit(**GATE)
def plan_flip(buf: Buffers, edge: int) -> int:
    """Refusal code of flipping `edge`; nothing is changed."""
    if edge < 0 or edge >= 3 * buf.counters.faces or buf.links.faces[edge // 3, 0] < 0:
        return DEAD
    other = buf.links.twin[edge]
    if other < 0:
        return BOUNDARY_EDGE
    f, g = edge // 3, other // 3
    if edge_is_seam(buf.links, edge) or corner_node(buf.links, edge) == corner_node(buf.links, other):
        return SEAM
    if buf.edge_label[edge] != 0:
        return LABEL
    if buf.face_material[f] != buf.face_material[g] or buf.face_sheet[f] != buf.face_sheet[g]:
        return MATERIAL
    a, b = corner_vertex(buf.links, edge), corner_vertex(buf.links, other)
    k, m = corner_vertex(buf.links, preceding(edge)), corner_vertex(buf.links, preceding(other))
    if is_thin(buf.links, a, m, k) or is_thin(buf.links, m, b, k):
        return INVERTED
    k_node, m_node = buf.links.vertex_node[k], buf.links.vertex_node[m]
    if k_node == m_node or are_adjacent(buf.links, k_node, m_node):
        return DUPLICATE_EDGE
    return OK


@njit(**GATE)
def flip_edge(buf: Buffers, edge: int) -> int:
    """Replace `edge` by the other diagonal of its quadrilateral; returns a refusal code, `OK` = 0.

    With `edge` a→b in face f = (a, b, k) and its twin in g = (b, a, m), the faces become f = (a, m, k) and
    g = (m, b, k), so the new edge is half-edge `3 f + 1` (m→k). Conserved face data become the mean weighted by
    area on both: the diagonals cut each new face in the ratio of the old areas, so this is the exact overlap.
    """
    code = plan_flip(buf, edge)
    if code == OK:
        apply_flip(buf, edge)
    return code


@njit(**INNER)
def apply_flip(buf: Buffers, edge: int) -> None:
    """Do what `plan_flip` has just answered `OK` to."""
    clear_report(buf)
    other = buf.links.twin[edge]
    f, g = edge // 3, other // 3
    a, b = corner_vertex(buf.links, edge), corner_vertex(buf.links, other)
    k, m = corner_vertex(buf.links, preceding(edge)), corner_vertex(buf.links, preceding(other))
    _average_faces(buf, f, g, triangle_area(buf.links, a, b, k), triangle_area(buf.links, b, a, m))
    bk, ka = following(edge), preceding(edge)
    am, mb = following(other), preceding(other)
    twin_bk, twin_ka, twin_am, twin_mb = (
        buf.links.twin[bk],
        buf.links.twin[ka],
        buf.links.twin[am],
        buf.links.twin[mb],
    )
    label_bk, label_ka = buf.edge_label[bk], buf.edge_label[ka]
    label_am, label_mb = buf.edge_label[am], buf.edge_label[mb]
    buf.links.faces[f, 0], buf.links.faces[f, 1], buf.links.faces[f, 2] = a, m, k
    buf.links.faces[g, 0], buf.links.faces[g, 1], buf.links.faces[g, 2] = m, b, k
    # An outer edge may join the quadrilateral to itself (two faces around a tube): follow its twin's move.
    twin_am = _moved(twin_am, bk, ka, am, mb, f, g)
    twin_ka = _moved(twin_ka, bk, ka, am, mb, f, g)
    twin_mb = _moved(twin_mb, bk, ka, am, mb, f, g)
    twin_bk = _moved(twin_bk, bk, ka, am, mb, f, g)
    _link(buf.links, 3 * f, twin_am)
    _link(buf.links, 3 * f + 2, twin_ka)
    _link(buf.links, 3 * g, twin_mb)
    _link(buf.links, 3 * g + 1, twin_bk)
    _link(buf.links, 3 * f + 1, 3 * g + 2)
    buf.edge_label[3 * f], buf.edge_label[3 * f + 1], buf.edge_label[3 * f + 2] = label_am, 0, label_ka
    buf.edge_label[3 * g], buf.edge_label[3 * g + 1], buf.edge_label[3 * g + 2] = label_mb, label_bk, 0
    refresh_node_corner(buf.links, buf.links.vertex_node[a], 3 * f)
    refresh_node_corner(buf.links, buf.links.vertex_node[m], 3 * f + 1)
    refresh_node_corner(buf.links, buf.links.vertex_node[k], 3 * f + 2)
    refresh_node_corner(buf.links, buf.links.vertex_node[b], 3 * g + 1)
    report_face(buf, f)
    report_face(buf, g)


@njit(**INNER)
def _moved(twin: int, bk: int, ka: int, am: int, mb: int, f: int, g: int) -> int:
    """Where a half-edge is after the flip."""
    if twin < 0:
        return twin
    if twin == bk:
        return 3 * g + 1
    if twin == ka:
        return 3 * f + 2
    if twin == am:
        return 3 * f
    if twin == mb:
        return 3 * g
    return twin


@njit(**INNER)
def _average_faces(buf: Buffers, f: int, g: int, f_area: float, g_area: float) -> None:
    """Mean weighted by area on both faces for conserved columns, zero for discarded ones."""
    for k in range(buf.face_data.shape[1]):
        if buf.face_rule[k] == CONSERVE:
            total = f_area * buf.face_data[f, k] + g_area * buf.face_data[g, k]
            buf.face_data[f, k] = total / (f_area + g_area)
            buf.face_data[g, k] = buf.face_data[f, k]
        elif buf.face_rule[k] == DISCARD:
            buf.face_data[f, k] = 0.0
            buf.face_data[g, k] = 0.0
