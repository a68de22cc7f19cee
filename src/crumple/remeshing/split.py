"""Splits of edges that are too long in the metric (compiled)."""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.mesh.buffers import FACES, NEW_VERTEX_A, NEW_VERTEX_B, NODES
from crumple.mesh.edits import plan_split, split_edge
from crumple.mesh.refusal import NO_CAPACITY, OK
from crumple.mesh.rings import INNER, corner_node, corner_vertex, following, preceding
from crumple.remeshing.arrays import EDITS, GUARDED, HAS_Y, LINEAR, REFUSED, SMOOTH, SPLITS, SURFACE
from crumple.remeshing.chart import load_hinge
from crumple.remeshing.flip import flip_around, stamp_faces
from crumple.remeshing.measure import half_edge_size
from crumple.remeshing.placement import smooth_offset
from crumple.remeshing.safety import (
    NEW_EDGES,
    NEW_FACES,
    OLD_EDGES,
    OLD_FACES,
    POINT,
    TETRAHEDRA,
    add_row,
    clear_change,
    follow_faces,
    is_safe,
)


@njit(cache=True, no_cfunc_wrapper=True)
def gather_edges(work, low, high, since):
    """Half-edges (one per edge, ascending) with low < length² ≤ high in the metric, and their length².

    Only those at a node whose faces have changed in pass `since` or later.
    """
    links = work.buf.links
    count = 3 * work.buf.counters[FACES]
    edges, size = np.empty(count, np.int64), np.empty(count)
    n = 0
    for edge in range(count):
        if links.faces[edge // 3, 0] < 0 or 0 <= links.twin[edge] < edge:
            continue
        a, b = corner_node(links, edge), corner_node(links, following(edge))
        if max(work.node_stamp[a], work.node_stamp[b]) < since:
            continue
        length2 = half_edge_size(work, edge)
        if low < length2 <= high:
            edges[n], size[n] = edge, length2
            n += 1
    return edges[:n].copy(), size[:n].copy()


@njit(cache=True, no_cfunc_wrapper=True)
def edge_ends(work, edges):
    """Nodes (n, 2) of half-edges."""
    ends = np.empty((len(edges), 2), np.int64)
    for n in range(len(edges)):
        ends[n, 0] = corner_node(work.buf.links, edges[n])
        ends[n, 1] = corner_node(work.buf.links, following(edges[n]))
    return ends


@njit(**INNER)
def is_same_edge(links, edge, a, b):
    """Whether a half-edge still runs from node a to node b."""
    if links.faces[edge // 3, 0] < 0:
        return False
    return corner_node(links, edge) == a and corner_node(links, following(edge)) == b


@njit(cache=True, no_cfunc_wrapper=True)
def apply_splits(work, edges, ends, budget):
    """Split the given edges in this order where they are still there and still too long, flipping after each.

    Returns `OK`, or `NO_CAPACITY` when the buffers are full. At most `budget` splits in all.
    """
    for n in range(len(edges)):
        if work.count[SPLITS] >= budget:
            return OK
        edge = edges[n]
        if not is_same_edge(work.buf.links, edge, ends[n, 0], ends[n, 1]):
            continue
        if half_edge_size(work, edge) <= 1.0:
            continue
        if work.flag[SURFACE]:
            load_hinge(work, edge)
        code = plan_split(work.buf, edge, 0.5)
        if code == NO_CAPACITY:
            return code
        if code == OK and _split(work, edge):
            flip_around(work)
    return OK


@njit(**INNER)
def _split(work, edge):
    """Put a node on an edge: on the smooth surface, or in the middle; whether it was possible."""
    buf = work.buf
    a, b = corner_node(buf.links, edge), corner_node(buf.links, following(edge))
    offset, plastic = np.zeros(3), np.zeros(3)
    smooth = work.flag[SMOOTH] != 0 and smooth_offset(work, a, b, 0, offset)
    if work.flag[HAS_Y] and work.flag[SMOOTH]:
        smooth_offset(work, a, b, 3, plastic)
    if work.flag[GUARDED]:
        if smooth and not _is_split_safe(work, edge, offset, True):
            smooth = False
            work.count[LINEAR] += 1
        if not smooth:
            for k in range(3):
                offset[k] = 0.0
            if not _is_split_safe(work, edge, offset, False):
                work.count[REFUSED] += 1
                return False
    node = buf.counters[NODES]
    vertex, other = corner_vertex(buf.links, edge), buf.links.twin[edge]
    head = corner_vertex(buf.links, following(edge))
    tail_b = head_b = -1
    if other >= 0:
        tail_b, head_b = corner_vertex(buf.links, other), corner_vertex(buf.links, following(other))
    split_edge(buf, edge, 0.5)
    for k in range(3):
        buf.node_data[node, k] += offset[k]
        if work.flag[HAS_Y]:
            buf.node_data[node, 3 + k] += plastic[k]
    work.node_parent[node, 0], work.node_parent[node, 1] = a, b
    new = buf.report[NEW_VERTEX_A]
    work.vertex_parent[new, 0], work.vertex_parent[new, 1] = vertex, head
    new = buf.report[NEW_VERTEX_B]
    if new >= 0:
        work.vertex_parent[new, 0], work.vertex_parent[new, 1] = tail_b, head_b
    stamp_faces(work)
    if work.flag[GUARDED]:
        follow_faces(work, True)
    work.count[SPLITS] += 1
    return True


@njit(**INNER)
def _is_split_safe(work, edge, offset, moves):
    """Whether a node in the middle of an edge plus `offset` keeps its distance from everything.

    The next free node slot stands for the new node.
    """
    buf, guard = work.buf, work.guard
    a, b = corner_node(buf.links, edge), corner_node(buf.links, following(edge))
    node = buf.counters[NODES]
    for k in range(3):
        buf.node_data[node, k] = 0.5 * (buf.node_data[a, k] + buf.node_data[b, k]) + offset[k]
        buf.node_rest[node, k] = 0.5 * (buf.node_rest[a, k] + buf.node_rest[b, k])
    work.count[EDITS] += 1
    clear_change(guard)
    guard.size[POINT] = node
    add_row(guard.old_edges, guard.size, OLD_EDGES, a, b, 0, 0)
    add_row(guard.new_edges, guard.size, NEW_EDGES, a, node, 0, 0)
    add_row(guard.new_edges, guard.size, NEW_EDGES, node, b, 0, 0)
    half = edge
    for side in range(2):
        if half >= 0:
            k = corner_node(buf.links, preceding(half))
            work.face_mark[half // 3] = work.count[EDITS]
            add_row(guard.old_faces, guard.size, OLD_FACES, a, b, k, 0)
            add_row(guard.new_faces, guard.size, NEW_FACES, a, node, k, 0)
            add_row(guard.new_faces, guard.size, NEW_FACES, node, b, k, 0)
            add_row(guard.new_edges, guard.size, NEW_EDGES, k, node, 0, 0)
            add_row(guard.tetrahedra, guard.size, TETRAHEDRA, a, b, k, node)
        half = buf.links.twin[edge]
    return is_safe(work, -1, moves)
