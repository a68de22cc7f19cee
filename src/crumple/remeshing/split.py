"""Splits of edges that are too long in the metric (compiled into `passes`)."""

from __future__ import annotations

from numba import njit

from crumple.mesh.buffers import NODES
from crumple.mesh.edits import apply_split, plan_split
from crumple.mesh.refusal import OK, SHAPE
from crumple.mesh.rings import INNER, corner_node, following, preceding
from crumple.remeshing.arrays import (
    ASPECT,
    EDITS,
    GUARDED,
    HAS_Y,
    LINEAR,
    PASS,
    REFUSED,
    SMOOTH,
    SMOOTH_COS,
    SPLITS,
    STEP,
    STRAIN,
    SURFACE,
)
from crumple.remeshing.chart import load_hinge
from crumple.remeshing.flip import stamp_faces
from crumple.remeshing.measure import keeps_shape
from crumple.remeshing.placement import smooth_offset
from crumple.remeshing.safety import (
    MOVES,
    NEW_EDGES,
    NEW_FACES,
    OLD_EDGES,
    OLD_FACES,
    POINT,
    TETRAHEDRA,
    clear_change,
    follow_faces,
    is_safe,
    push,
)

SPLIT_ASPECT = 0.1
"""Share of the aspect bound below which not even a split may go; faces in between are cured by flips and collapses."""
REFUSED_BY_GUARD = -1
"""Answer of `try_split` besides the codes of the edit."""


@njit(**STEP)
def try_split(work, edge):
    """Put a node on an edge: on the smooth surface, or in the middle; a refusal code, `OK` = done."""
    buf = work.buf
    if work.flag[SURFACE]:
        load_hinge(buf.links, buf.vertex_data, buf.node_rest, edge)
    code = plan_split(buf, edge, 0.5)
    if code == OK:
        # Beside an edge that the guard does not let go, faces would be halved again and again.
        floor = SPLIT_ASPECT * work.constant[ASPECT]
        if not keeps_shape(buf.links, buf.node_rest, work.flag[SURFACE] != 0, edge, floor):
            code = SHAPE
    if code == OK:
        offset, plastic = work.scratch[0], work.scratch[1]
        moves = False
        for place in range(2):
            for k in range(3):
                work.scratch[place, k] = 0.0
            if work.flag[SMOOTH] and (place == 0 or work.flag[HAS_Y]):
                smooth = smooth_offset(
                    buf.links, buf.edge_label, buf.node_data, buf.node_rest, work.flag[SURFACE] != 0,
                    work.constant[SMOOTH_COS], work.constant[STRAIN], edge, 3 * place, work.scratch[place],
                )  # fmt: skip
                moves = moves or (place == 0 and smooth)
        if work.flag[GUARDED]:
            safe = False
            for attempt in range(2):
                if not safe and (attempt == 1 or moves):
                    if attempt == 1 and moves:
                        work.tally[LINEAR] += 1
                    for k in range(3):
                        offset[k] *= 1.0 - attempt
                    work.tally[EDITS] += 1
                    _describe_split(
                        buf.links, edge, buf.counters[NODES], buf.node_data, buf.node_rest, offset,
                        attempt == 0, work.guard.change, work.guard.size, work.face_mark, work.tally[EDITS],
                    )  # fmt: skip
                    safe = is_safe(
                        work.guard, buf.links, buf.face_sheet, buf.node_data, buf.node_rest, work.face_mark,
                        work.tally[EDITS], work.constant,
                    )  # fmt: skip
            if not safe:
                work.tally[REFUSED] += 1
                code = REFUSED_BY_GUARD
        if code == OK:
            node = buf.counters[NODES]
            apply_split(buf, edge, 0.5)
            for k in range(3):
                buf.node_data[node, k] += offset[k]
                if work.flag[HAS_Y]:
                    buf.node_data[node, 3 + k] += plastic[k]
            stamp_faces(buf.links, buf.report, work.node_stamp, work.tally[PASS])
            if work.flag[GUARDED]:
                follow_faces(work.guard, buf.links, buf.node_data, buf.report)
            work.tally[SPLITS] += 1
    return code


@njit(**INNER)
def _describe_split(links, edge, node, x, rest, offset, moves, change, size, mark, edit):
    """Write to the guard what a split makes and takes away; the free slot `node` stands for the new node."""
    a, b = corner_node(links, edge), corner_node(links, following(edge))
    for k in range(3):
        x[node, k] = 0.5 * x[a, k] + 0.5 * x[b, k] + offset[k]
        rest[node, k] = 0.5 * rest[a, k] + 0.5 * rest[b, k]
    clear_change(size)
    size[POINT], size[MOVES] = node, 1 if moves else 0
    push(change, size, OLD_EDGES, a, b, 0, 0)
    push(change, size, NEW_EDGES, a, node, 0, 0)
    push(change, size, NEW_EDGES, node, b, 0, 0)
    half = edge
    for _ in range(2):
        if half >= 0:
            k = corner_node(links, preceding(half))
            mark[half // 3] = edit
            push(change, size, OLD_FACES, a, b, k, 0)
            push(change, size, NEW_FACES, a, node, k, 0)
            push(change, size, NEW_FACES, node, b, k, 0)
            push(change, size, NEW_EDGES, k, node, 0, 0)
            push(change, size, TETRAHEDRA, a, b, k, node)
        half = links.twin[edge]
