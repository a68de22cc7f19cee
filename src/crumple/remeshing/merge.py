"""Merges: both ends of a short edge go into its middle (compiled into `passes`).

Removing a node into a neighbour doubles edges, so it ends when edges are little longer than half of what is allowed,
and the mesh has twice as many faces as needed. With the middle, edges grow by half at most.
A merge is a split and two collapses, each with all its checks; here it is found out whether they will fit.
"""

from __future__ import annotations

from numba import njit

from crumple.mesh.edits import edge_feature
from crumple.mesh.refusal import OK
from crumple.mesh.rings import (
    INNER,
    are_adjacent,
    corner_node,
    corner_vertex,
    enter,
    following,
    is_thin,
    preceding,
    ring_start,
)
from crumple.remeshing.measure import aspect, edge_size, edge_strain, face_stretch


@njit(**INNER)
def can_merge(buf, limits, start, edge, limit):
    """Whether the ends of an edge of a pattern can go into its middle: neither is on a line that is kept, no edge
    becomes longer than √limit or strained beyond the range of those around, no face too thin or beyond the square
    `start` (materials,) of its stretch.

    The free slots of nodes and vertices stand for the middle; nothing is changed.
    """
    links, x, rest = buf.links, buf.node_data, buf.node_rest
    other = links.twin[edge]
    if other < 0 or edge_feature(buf, edge) != OK:
        return False
    node, middle = buf.counters.nodes, buf.counters.vertices
    if node >= len(links.node_corner) or middle + 1 >= len(links.vertex_node):
        return True  # the split will say that there is no room
    if buf.counters.faces + 2 > len(links.faces):
        return True
    a, b = corner_vertex(links, edge), corner_vertex(links, following(edge))
    p, q = links.vertex_node[a], links.vertex_node[b]
    if buf.node_protected[p] != 0 or buf.node_protected[q] != 0:
        return False
    for k in range(3):
        x[node, k] = 0.5 * (x[p, k] + x[q, k])
        rest[node, k] = 0.5 * (rest[p, k] + rest[q, k])
        buf.vertex_data[middle, k] = 0.5 * (buf.vertex_data[a, k] + buf.vertex_data[b, k])
    for k in range(2):
        links.u[middle, k] = 0.5 * (links.u[a, k] + links.u[b, k])
    links.vertex_node[middle] = node
    fits = _fan_fits(buf, limits, start, edge, middle, limit)
    links.vertex_node[middle] = -1
    return fits


@njit(**INNER)
def _fan_fits(buf, limits, start, edge, middle, limit):
    """`can_merge` for the faces around both ends, with the vertex `middle` in place of the ends."""
    links, tensor, x, rest = buf.links, buf.vertex_data, buf.node_data, buf.node_rest
    ends = (corner_vertex(links, edge), corner_vertex(links, following(edge)))
    r, s = corner_node(links, preceding(edge)), corner_node(links, preceding(links.twin[edge]))
    surface = r < 0  # never, but no constant
    new_worst, old_worst, most_now, most_then = 1.0, 1.0, 1.0, 1.0
    low, high, least, most = 1e300, -1e300, 1e300, -1e300
    for end in range(2):
        v, w = ends[end], ends[1 - end]
        first, leave = ring_start(links, links.vertex_node[v])
        corner = first
        while True:
            if links.twin[leave] < 0 or edge_feature(buf, leave) != OK:
                return False
            j, k = corner_vertex(links, following(corner)), corner_vertex(links, preceding(corner))
            old_worst = min(old_worst, aspect(links, rest, surface, v, j, k))
            one, two = edge_strain(links, x, rest, surface, v, j), edge_strain(links, x, rest, surface, j, k)
            low, high = min(low, one, two), max(high, one, two)
            free = start[buf.face_material[corner // 3]]
            most_then = max(most_then, face_stretch(links, x, rest, surface, v, j, k) / free)
            if j != w and k != w:
                if is_thin(links, middle, j, k):
                    return False
                if edge_size(links, tensor, rest, surface, middle, j) > limit:
                    return False
                if edge_size(links, tensor, rest, surface, middle, k) > limit:
                    return False
                strain = edge_strain(links, x, rest, surface, middle, j)  # k is the j of another face
                least, most = min(least, strain), max(most, strain)
                new_worst = min(new_worst, aspect(links, rest, surface, middle, j, k))
                most_now = max(most_now, face_stretch(links, x, rest, surface, middle, j, k) / free)
                far = links.vertex_node[j]
                if end == 0 and far != r and far != s and are_adjacent(links, links.vertex_node[w], far):
                    return False
            corner, leave = enter(links, links.vertex_node[v], links.twin[leave])
            if corner == first:
                break
    if least < low - limits.strain or most > high + limits.strain or most_now > most_then:
        return False
    return new_worst >= limits.aspect or new_worst >= old_worst
