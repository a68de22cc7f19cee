"""One pass over a list of edges: the only kernel that sees all arrays, so that they are compiled together once."""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.mesh.edits import apply_collapse, plan_collapse
from crumple.mesh.refusal import NO_CAPACITY, OK
from crumple.mesh.rings import GATE, INNER, corner_node, enter, following, ring_start
from crumple.remeshing.arrays import STACK_EDGES
from crumple.remeshing.collapse import try_collapse
from crumple.remeshing.flip import stamp_faces, try_flip
from crumple.remeshing.measure import aspect, half_edge_size, length2
from crumple.remeshing.merge import can_merge
from crumple.remeshing.safety import follow_faces
from crumple.remeshing.split import try_split

SPLIT, COLLAPSE, FLIP, MERGE = 0, 1, 2, 3
"""What `run_pass` does; a pass of merges also collapses."""
_NOTHING, _SPLIT, _TAIL, _HEAD, _MERGE, _MERGE_TAIL, _MERGE_HEAD = 0, 1, 2, 3, 4, 5, 6
"""What is tried next on an edge: a merge is a split and the removal of both ends."""


@njit(**GATE)
def run_pass(work, mode, edges, ends, limit, budget):
    """Split, collapse, merge or flip the edges in this order, where they are still there, and flip what changes.

    `edges` half-edges with the nodes `ends` (n, 2). `limit`: length² in the metric above which an edge is split, or
    up to which edges may grow by a collapse. Not more than `budget` splits in all, and none that
    would make too many faces. Returns `OK`, or `NO_CAPACITY`
    when the buffers are full.

    A variable metric has no Delaunay triangulation that all flips lead to, so the flips after an edit are bounded.
    """
    buf = work.buf
    surface = work.switches.surface
    stack = work.edges
    for n in range(len(edges)):
        edge = edges[n]
        if not _is_same_edge(buf.links, edge, ends[n, 0], ends[n, 1]):
            continue
        depth, step = 0, _NOTHING
        if mode == FLIP:
            stack[0] = edge
            depth = 1
        else:
            size = half_edge_size(buf.links, buf.vertex_data, buf.node_rest, surface, edge)
            if mode == SPLIT and size > limit and work.tally.splits < budget:
                if work.tally.faces + 2 <= work.limits.max_faces:
                    step = _SPLIT
                else:
                    work.tally.unmet += 1
            elif mode != SPLIT and size <= limit:
                step = _TAIL
        while step != _NOTHING:
            if step in (_SPLIT, _MERGE):
                code = try_split(work, edge)
                if code == NO_CAPACITY:
                    return NO_CAPACITY
                done = code == OK
                step = _MERGE_TAIL if done and step == _MERGE else _NOTHING
            else:
                done = try_collapse(work, edge, step in (_HEAD, _MERGE_HEAD), limit)
                if step == _TAIL and not done:
                    step = _HEAD
                elif step == _HEAD and not done and mode == MERGE and not surface:
                    step = _MERGE if can_merge(buf, work.limits, work.stretch, edge, limit) else _NOTHING
                elif step == _MERGE_TAIL and done:
                    # the last edit has left the new node, which has the highest number, in place of the tail
                    edge = _find_edge(buf.links, buf.counters.nodes - 1, ends[n, 1])
                    step = _MERGE_HEAD if edge >= 0 else _NOTHING
                elif step == _MERGE_TAIL:
                    _undo_split(work, edge)
                    step = _NOTHING
                else:
                    step = _NOTHING
            if done:
                depth = _push_faces(buf.report, stack, depth)
        left = 8 + 2 * depth
        while depth > 0 and left > 0:
            depth -= 1
            if try_flip(work, stack[depth]):
                left -= 1
                if depth + 4 < STACK_EDGES:
                    # The new edge is 3 f + 1 (twin 3 g + 2); the others are the sides of the quadrilateral.
                    f, g = buf.report.faces[0], buf.report.faces[1]
                    stack[depth], stack[depth + 1] = 3 * f, 3 * f + 2
                    stack[depth + 2], stack[depth + 3] = 3 * g, 3 * g + 1
                    depth += 4
    return OK


@njit(**INNER)
def _find_edge(links, tail, head):
    """A half-edge from one node to another, −1 = there is none."""
    first, leave = ring_start(links, tail)
    corner = first
    while True:
        if corner_node(links, following(corner)) == head:
            return corner
        through = links.twin[leave]
        if through < 0:
            return -1
        corner, leave = enter(links, tail, through)
        if corner == first:
            return -1


@njit(**INNER)
def _undo_split(work, edge):
    """Take the node in the middle away again: the head of `edge`, into its tail."""
    buf = work.buf
    head = edge >= 0  # true, but not a constant (see `INNER`)
    if plan_collapse(buf, edge, head, work.limits.outline) == OK:
        apply_collapse(buf, edge, head)
        stamp_faces(buf.links, buf.report, work.node_stamp, work.tally.passes)
        if work.switches.guarded:
            follow_faces(work.guard, buf.links, buf.node_data, buf.report)
        work.tally.splits -= 1
        work.tally.faces -= 1 if buf.report.removed_face_b < 0 else 2


@njit(**INNER)
def _push_faces(report, stack, depth):
    """Number of edges on the `stack` with those of the last edit's faces."""
    count = min(report.face_count, (STACK_EDGES - 2 * depth) // 6)
    for n in range(count):
        for k in range(3):
            stack[depth + 3 * n + k] = 3 * report.faces[n] + k
    return depth + 3 * count


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
