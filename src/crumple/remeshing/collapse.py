"""Collapses of edges as long as no edge becomes too long (compiled)."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from crumple.mesh.buffers import FACES, RING_COUNT
from crumple.mesh.edits import collapse_edge, plan_collapse
from crumple.mesh.refusal import OK
from crumple.mesh.rings import INNER, corner_node, corner_vertex, following, preceding
from crumple.remeshing.arrays import (
    ASPECT,
    COLLAPSES,
    EDITS,
    FEATURE_COS,
    GUARDED,
    LIMIT,
    REFUSED,
    SURFACE,
    TOLERANCE,
    VELOCITY,
)
from crumple.remeshing.chart import load_fan
from crumple.remeshing.flip import _cross, flip_around, stamp_faces
from crumple.remeshing.measure import aspect, edge_size, half_edge_size, length2
from crumple.remeshing.momentum import add_momentum, restore_momentum
from crumple.remeshing.safety import (
    NEW_EDGES,
    NEW_FACES,
    OLD_EDGES,
    OLD_FACES,
    TETRAHEDRA,
    add_row,
    clear_change,
    follow_faces,
    is_safe,
)
from crumple.remeshing.split import is_same_edge


@njit(cache=True, no_cfunc_wrapper=True)
def apply_collapses(work, edges, ends):
    """Collapse the given edges in this order where they are still there, flipping after each."""
    limit = work.constant[LIMIT] ** 2
    for n in range(len(edges)):
        if is_same_edge(work.buf.links, edges[n], ends[n, 0], ends[n, 1]) and half_edge_size(work, edges[n]) <= limit:
            for head in range(2):
                if _try_collapse(work, edges[n], head == 1, limit):
                    flip_around(work)
                    break


@njit(cache=True, no_cfunc_wrapper=True)
def improve_aspect(work):
    """Collapse the shortest edge of faces below the aspect bound if no edge becomes invalid; how many were done."""
    links, done = work.buf.links, 0
    for face in range(work.buf.counters[FACES]):
        if links.faces[face, 0] < 0:
            continue
        a, b, c = links.faces[face, 0], links.faces[face, 1], links.faces[face, 2]
        if aspect(work, a, b, c) >= work.constant[ASPECT]:
            continue
        edge, shortest = 3 * face, length2(work, a, b)
        if length2(work, b, c) < shortest:
            edge, shortest = 3 * face + 1, length2(work, b, c)
        if length2(work, c, a) < shortest:
            edge = 3 * face + 2
        for head in range(2):
            if _try_collapse(work, edge, head == 1, 1.0):
                flip_around(work)
                done += 1
                break
    return done


@njit(**INNER)
def _try_collapse(work, edge, remove_head, limit):
    """Remove one end of an edge if all edges stay below √limit and nothing speaks against it; whether it was done."""
    buf = work.buf
    p = corner_node(buf.links, following(edge) if remove_head else edge)
    if buf.node_protected[p] != 0:
        return False
    if work.flag[SURFACE]:
        load_fan(work, p)
    if plan_collapse(buf, edge, remove_head, work.constant[TOLERANCE]) != OK:
        return False
    if not _is_fit(work, edge, limit):
        return False
    q = corner_node(buf.links, edge if remove_head else following(edge))
    if work.flag[GUARDED] and not _is_collapse_safe(work, edge, p, q):
        work.count[REFUSED] += 1
        return False
    if work.flag[VELOCITY] >= 0:
        total = np.zeros(3)
        for i in range(buf.counters[RING_COUNT]):
            add_momentum(work, buf.ring[i] // 3, 1.0, total)
        collapse_edge(buf, edge, remove_head, work.constant[TOLERANCE])
        restore_momentum(work, total)
    else:
        collapse_edge(buf, edge, remove_head, work.constant[TOLERANCE])
    stamp_faces(work)
    if work.flag[GUARDED]:
        follow_faces(work, False)
    work.count[COLLAPSES] += 1
    return True


@njit(**INNER)
def _last(work, edge):
    """End of the part of the ring that remains: the last corner vanishes too if the edge has two faces."""
    count = work.buf.counters[RING_COUNT]
    return count if work.buf.links.twin[edge] < 0 else count - 1


@njit(**INNER)
def _is_fit(work, edge, limit):
    """Whether the planned collapse makes no edge too long and no face too thin."""
    buf = work.buf
    links = buf.links
    new_worst, old_worst = 1.0, 1.0
    last = _last(work, edge)
    for i in range(buf.counters[RING_COUNT]):
        corner = buf.ring[i]
        a, b, c = corner_vertex(links, corner), corner_vertex(links, following(corner)), corner_vertex(links, preceding(corner))
        old_worst = min(old_worst, aspect(work, a, b, c))
        if i == 0 or i >= last:
            continue
        q = buf.ring_vertex[i]
        if edge_size(work, q, b) > limit or edge_size(work, q, c) > limit:
            return False
        new_worst = min(new_worst, aspect(work, q, b, c))
        if work.flag[SURFACE] and not _is_turned_little(work, a, q, b, c):
            return False
    return new_worst >= work.constant[ASPECT] or new_worst >= old_worst


@njit(**INNER)
def _is_turned_little(work, p, q, b, c):
    """Whether a face of a surface in space keeps its direction when its corner p becomes q."""
    rest, node = work.buf.node_rest, work.buf.links.vertex_node
    ax, ay, az = _cross(rest, node[p], node[b], node[c])
    bx, by, bz = _cross(rest, node[q], node[b], node[c])
    lengths = sqrt((ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz))
    return ax * bx + ay * by + az * bz >= work.constant[FEATURE_COS] * lengths


@njit(**INNER)
def _is_collapse_safe(work, edge, p, q):
    """Whether the planned collapse of node p into q keeps its distance from everything."""
    buf, guard = work.buf, work.guard
    links = buf.links
    work.count[EDITS] += 1
    clear_change(guard)
    last = _last(work, edge)
    for i in range(buf.counters[RING_COUNT]):
        corner = buf.ring[i]
        b, c = corner_node(links, following(corner)), corner_node(links, preceding(corner))
        work.face_mark[corner // 3] = work.count[EDITS]
        add_row(guard.old_faces, guard.size, OLD_FACES, p, b, c, 0)
        _add_edge_once(guard.old_edges, guard.size, OLD_EDGES, p, b)
        _add_edge_once(guard.old_edges, guard.size, OLD_EDGES, p, c)
        if 0 < i < last:
            add_row(guard.new_faces, guard.size, NEW_FACES, q, b, c, 0)
            _add_edge_once(guard.new_edges, guard.size, NEW_EDGES, q, b)
            _add_edge_once(guard.new_edges, guard.size, NEW_EDGES, q, c)
            add_row(guard.tetrahedra, guard.size, TETRAHEDRA, p, q, b, c)
    return is_safe(work, p, True)


@njit(**INNER)
def _add_edge_once(rows, size, kind, a, b):
    """Append the edge ab to a list of edges unless it is there."""
    for n in range(size[kind]):
        if rows[n, 0] == a and rows[n, 1] == b:
            return
    add_row(rows, size, kind, a, b, 0, 0)
