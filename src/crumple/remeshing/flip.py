"""Flips towards the anisotropic Delaunay triangulation (compiled)."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from crumple.mesh.buffers import FACE_COUNT, FACE_LIST, FACES
from crumple.mesh.edits import edge_is_seam, flip_edge, plan_flip
from crumple.mesh.refusal import OK
from crumple.mesh.rings import INNER, corner_node, corner_vertex, following, preceding
from crumple.remeshing.arrays import (
    ASPECT,
    COARSENING,
    EDITS,
    FEATURE_COS,
    FLIPS,
    GUARDED,
    PASS,
    REFUSED,
    STACK_EDGES,
    SURFACE,
    VELOCITY,
)
from crumple.remeshing.chart import load_hinge
from crumple.remeshing.measure import aspect, edge_size, is_delaunay
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


@njit(**INNER)
def stamp_faces(work):
    """Note at the nodes of the changed faces that they have changed in this pass."""
    buf = work.buf
    for n in range(buf.report[FACE_COUNT]):
        face = buf.report[FACE_LIST + n]
        for k in range(3):
            work.node_stamp[buf.links.vertex_node[buf.links.faces[face, k]]] = work.count[PASS]


@njit(**INNER)
def flip_around(work):
    """Flip what is no longer Delaunay among the edges of the last edit's faces, and on from there.

    A variable metric has no Delaunay triangulation that all flips lead to, so their number is bounded.
    """
    report, edges = work.buf.report, work.edges
    depth = min(report[FACE_COUNT], STACK_EDGES // 6)
    for n in range(depth):
        for k in range(3):
            edges[3 * n + k] = 3 * report[FACE_LIST + n] + k
    depth *= 3
    left = 8 + 2 * depth
    while depth > 0 and left > 0:
        depth -= 1
        edge = edges[depth]
        if try_flip(work, edge):
            left -= 1
            if depth + 4 < STACK_EDGES:
                f, g = report[FACE_LIST], report[FACE_LIST + 1]
                # The new edge is 3 f + 1 (twin 3 g + 2); the others are the sides of the quadrilateral.
                edges[depth], edges[depth + 1] = 3 * f, 3 * f + 2
                edges[depth + 2], edges[depth + 3] = 3 * g, 3 * g + 1
                depth += 4


@njit(cache=True, no_cfunc_wrapper=True)
def flip_all(work):
    """One sweep over all edges; returns the number of flips."""
    before = work.count[FLIPS]
    for edge in range(3 * work.buf.counters[FACES]):
        if work.buf.links.twin[edge] > edge:
            try_flip(work, edge)
    return work.count[FLIPS] - before


@njit(**INNER)
def try_flip(work, edge):
    """Flip an edge if it is not Delaunay and nothing speaks against it; whether it was done."""
    buf = work.buf
    links = buf.links
    if links.faces[edge // 3, 0] < 0 or links.twin[edge] < 0:
        return False
    if buf.edge_label[edge] != 0 or edge_is_seam(links, edge):
        return False
    if work.flag[SURFACE]:
        if not _is_even(work, edge):
            return False
        load_hinge(work, edge)
    if is_delaunay(work, edge):
        return False
    other = links.twin[edge]
    a, b = corner_vertex(links, edge), corner_vertex(links, following(edge))
    k, m = corner_vertex(links, preceding(edge)), corner_vertex(links, preceding(other))
    worst = min(aspect(work, a, m, k), aspect(work, m, b, k))
    if worst < work.constant[ASPECT] and worst < min(aspect(work, a, b, k), aspect(work, b, a, m)):
        return False
    if work.flag[COARSENING] and edge_size(work, k, m) > max(1.0, edge_size(work, a, b)):
        return False
    if plan_flip(buf, edge) != OK:
        return False
    if work.flag[GUARDED] and not _is_flip_safe(work, edge):
        work.count[REFUSED] += 1
        return False
    _do_flip(work, edge)
    return True


@njit(**INNER)
def _do_flip(work, edge):
    """Flip, keeping momentum and records."""
    if work.flag[VELOCITY] >= 0:
        total = np.zeros(3)
        add_momentum(work, edge // 3, 1.0, total)
        add_momentum(work, work.buf.links.twin[edge] // 3, 1.0, total)
        flip_edge(work.buf, edge)
        restore_momentum(work, total)
    else:
        flip_edge(work.buf, edge)
    stamp_faces(work)
    if work.flag[GUARDED]:
        follow_faces(work, False)
    work.count[FLIPS] += 1


@njit(**INNER)
def _is_flip_safe(work, edge):
    """Whether the flip keeps its distance from everything."""
    links, guard = work.buf.links, work.guard
    other = links.twin[edge]
    a, b = corner_node(links, edge), corner_node(links, following(edge))
    k, m = corner_node(links, preceding(edge)), corner_node(links, preceding(other))
    work.count[EDITS] += 1
    work.face_mark[edge // 3] = work.count[EDITS]
    work.face_mark[other // 3] = work.count[EDITS]
    clear_change(guard)
    add_row(guard.new_faces, guard.size, NEW_FACES, a, m, k, 0)
    add_row(guard.new_faces, guard.size, NEW_FACES, m, b, k, 0)
    add_row(guard.new_edges, guard.size, NEW_EDGES, k, m, 0, 0)
    add_row(guard.old_faces, guard.size, OLD_FACES, a, b, k, 0)
    add_row(guard.old_faces, guard.size, OLD_FACES, b, a, m, 0)
    add_row(guard.old_edges, guard.size, OLD_EDGES, a, b, 0, 0)
    add_row(guard.tetrahedra, guard.size, TETRAHEDRA, a, b, k, m)
    return is_safe(work, -1, True)


@njit(**INNER)
def _is_even(work, edge):
    """Whether a surface in space bends little across an edge, in `node_rest`."""
    links, rest = work.buf.links, work.buf.node_rest
    other = links.twin[edge]
    i, j = corner_node(links, edge), corner_node(links, following(edge))
    k, m = corner_node(links, preceding(edge)), corner_node(links, preceding(other))
    ax, ay, az = _cross(rest, i, j, k)
    bx, by, bz = _cross(rest, j, i, m)
    lengths = sqrt((ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz))
    return ax * bx + ay * by + az * bz >= work.constant[FEATURE_COS] * lengths


@njit(**INNER)
def _cross(rest, i, j, k):
    """(j − i) × (k − i)."""
    ex, ey, ez = rest[j, 0] - rest[i, 0], rest[j, 1] - rest[i, 1], rest[j, 2] - rest[i, 2]
    fx, fy, fz = rest[k, 0] - rest[i, 0], rest[k, 1] - rest[i, 1], rest[k, 2] - rest[i, 2]
    return ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
