"""One pass over a list of edges: the only kernel that sees all arrays, so that they are compiled together once."""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.mesh.buffers import FACE_COUNT, FACE_LIST
from crumple.mesh.refusal import NO_CAPACITY, OK
from crumple.mesh.rings import INNER, corner_node, following
from crumple.remeshing.arrays import SPLITS, STACK_EDGES, SURFACE
from crumple.remeshing.collapse import try_collapse
from crumple.remeshing.flip import try_flip
from crumple.remeshing.measure import aspect, half_edge_size, length2
from crumple.remeshing.split import try_split

SPLIT, COLLAPSE, FLIP = 0, 1, 2
"""What `run_pass` does."""


@njit(cache=True, no_cfunc_wrapper=True)
def run_pass(work, mode, edges, ends, limit, budget):
    """Split, collapse or flip the edges in this order, where they are still there, and flip what changes after each.

    `edges` half-edges with the nodes `ends` (n, 2). `limit`: length² in the metric above which an edge is split, or
    up to which edges may grow by a collapse. Not more than `budget` splits in all. Returns `OK`, or `NO_CAPACITY`
    when the buffers are full.

    A variable metric has no Delaunay triangulation that all flips lead to, so the flips after an edit are bounded.
    """
    buf = work.buf
    surface = work.flag[SURFACE] != 0
    stack = work.edges
    for n in range(len(edges)):
        edge = edges[n]
        if not _is_same_edge(buf.links, edge, ends[n, 0], ends[n, 1]):
            continue
        depth = 0
        if mode == FLIP:
            stack[0] = edge
            depth = 1
        else:
            size = half_edge_size(buf.links, buf.vertex_data, buf.node_rest, surface, edge)
            done = False
            if mode == SPLIT and size > limit and work.tally[SPLITS] < budget:
                code = try_split(work, edge)
                if code == NO_CAPACITY:
                    return NO_CAPACITY
                done = code == OK
            elif mode == COLLAPSE and size <= limit:
                for head in range(2):
                    if not done:
                        done = try_collapse(work, edge, head == 1, limit)
            if done:
                depth = _push_faces(buf.report, stack)
        left = 8 + 2 * depth
        while depth > 0 and left > 0:
            depth -= 1
            if try_flip(work, stack[depth]):
                left -= 1
                if depth + 4 < STACK_EDGES:
                    # The new edge is 3 f + 1 (twin 3 g + 2); the others are the sides of the quadrilateral.
                    f, g = buf.report[FACE_LIST], buf.report[FACE_LIST + 1]
                    stack[depth], stack[depth + 1] = 3 * f, 3 * f + 2
                    stack[depth + 2], stack[depth + 3] = 3 * g, 3 * g + 1
                    depth += 4
    return OK


@njit(**INNER)
def _push_faces(report, stack):
    """Number of edges of the last edit's faces, written to `stack`."""
    count = min(report[FACE_COUNT], STACK_EDGES // 6)
    for n in range(count):
        for k in range(3):
            stack[3 * n + k] = 3 * report[FACE_LIST + n] + k
    return 3 * count


@njit(**INNER)
def _is_same_edge(links, edge, a, b):
    """Whether a half-edge still runs from node a to node b."""
    if links.faces[edge // 3, 0] < 0:
        return False
    return corner_node(links, edge) == a and corner_node(links, following(edge)) == b


@njit(cache=True, no_cfunc_wrapper=True)
def gather_edges(links, tensor, rest, surface, face_count, stamp, low, high, since):
    """Half-edges (one per edge, ascending) with low < length² ≤ high in the metric, and their length².

    Only those at a node whose faces have changed in pass `since` or later.
    """
    edges, size = np.empty(3 * face_count, np.int64), np.empty(3 * face_count)
    n = 0
    for edge in range(3 * face_count):
        if links.faces[edge // 3, 0] < 0 or 0 <= links.twin[edge] < edge:
            continue
        if max(stamp[corner_node(links, edge)], stamp[corner_node(links, following(edge))]) < since:
            continue
        length = half_edge_size(links, tensor, rest, surface, edge)
        if low < length <= high:
            edges[n], size[n] = edge, length
            n += 1
    return edges[:n].copy(), size[:n].copy()


@njit(cache=True, no_cfunc_wrapper=True)
def gather_thin(links, rest, surface, face_count, bound):
    """The edges of each face whose aspect is below the bound, shortest first, ascending by face, (n, 3)."""
    edges = np.empty((face_count, 3), np.int64)
    n = 0
    for face in range(face_count):
        if links.faces[face, 0] < 0:
            continue
        a, b, c = links.faces[face, 0], links.faces[face, 1], links.faces[face, 2]
        if aspect(links, rest, surface, a, b, c) >= bound:
            continue
        ab, bc = length2(links, rest, surface, a, b), length2(links, rest, surface, b, c)
        ca = length2(links, rest, surface, c, a)
        short = 0 if ab <= min(bc, ca) else (1 if bc <= ca else 2)
        long = 2 if ca >= max(ab, bc) else (1 if bc >= ab else 0)
        edges[n, 0], edges[n, 1], edges[n, 2] = 3 * face + short, 3 * face + 3 - short - long, 3 * face + long
        n += 1
    return edges[:n].copy()
