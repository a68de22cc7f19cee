"""Splits of edges that are too long in the metric (compiled into `passes`)."""

from __future__ import annotations

from numba import njit

from crumple.mesh.edits import apply_split, plan_split
from crumple.mesh.refusal import OK, SHAPE
from crumple.mesh.rings import INNER, corner_node, following, preceding
from crumple.remeshing.arrays import STEP
from crumple.remeshing.chart import load_hinge
from crumple.remeshing.flip import stamp_faces
from crumple.remeshing.measure import keeps_shape
from crumple.remeshing.placement import smooth_offset
from crumple.remeshing.safety import (
    NEW_EDGES,
    NEW_FACES,
    OLD_EDGES,
    OLD_FACES,
    TETRAHEDRA,
    clear_change,
    follow_faces,
    is_safe,
    push,
)
from crumple.remeshing.tuning import TUNING

SPLIT_ASPECT = TUNING.split_aspect.value
REFUSED_BY_GUARD = -1
"""Answer of `try_split` besides the codes of the edit."""


@njit(**STEP)
def try_split(work, edge):
    """Put a node on an edge: on the smooth surface, or in the middle; a refusal code, `OK` = done."""
    buf = work.buf
    if work.switches.surface:
        load_hinge(buf.links, buf.vertex_data, buf.node_rest, edge)
    code = plan_split(buf, edge, 0.5)
    if code == OK:
        # Beside an edge that the guard does not let go, faces would be halved again and again.
        floor = SPLIT_ASPECT * work.limits.aspect
        if not keeps_shape(buf.links, buf.node_rest, work.switches.surface, edge, floor):
            code = SHAPE
    if code == OK:
        offset, plastic = work.scratch[0], work.scratch[1]
        moves = False
        for place in range(2):
            for k in range(3):
                work.scratch[place, k] = 0.0
            if work.switches.smooth and (place == 0 or work.switches.has_y):
                smooth = smooth_offset(
                    buf.links, buf.edge_label, buf.node_data, buf.node_rest, work.switches.surface,
                    work.limits.smooth_cos, work.limits.strain, buf.face_material, work.stretch, edge, 3 * place,
                    work.scratch[place],
                )  # fmt: skip
                moves = moves or (place == 0 and smooth)
        if work.switches.guarded:
            safe = False
            for attempt in range(2):
                if not safe and (attempt == 1 or moves):
                    if attempt == 1 and moves:
                        work.tally.linear += 1
                    for k in range(3):
                        offset[k] *= 1.0 - attempt
                    work.tally.edits += 1
                    _describe_split(
                        buf.links, edge, buf.counters.nodes, buf.node_data, buf.node_rest, offset,
                        attempt == 0, work.guard.change, work.face_mark, work.tally.edits,
                    )  # fmt: skip
                    safe = is_safe(
                        work.guard, buf.links, buf.face_sheet, buf.node_data, buf.node_rest, work.face_mark,
                        work.tally.edits, work.limits,
                    )  # fmt: skip
            if not safe:
                work.tally.refused += 1
                code = REFUSED_BY_GUARD
        if code == OK:
            node = buf.counters.nodes
            faces = buf.counters.faces
            apply_split(buf, edge, 0.5)
            work.tally.faces += buf.counters.faces - faces
            for k in range(3):
                buf.node_data[node, k] += offset[k]
                if work.switches.has_y:
                    buf.node_data[node, 3 + k] += plastic[k]
            stamp_faces(buf.links, buf.report, work.node_stamp, work.tally.passes)
            if work.switches.guarded:
                follow_faces(work.guard, buf.links, buf.node_data, buf.report)
            work.tally.splits += 1
    return code


@njit(**INNER)
def _describe_split(links, edge, node, x, rest, offset, moves, change, mark, edit):
    """Write to the guard what a split makes and takes away; the free slot `node` stands for the new node."""
    a, b = corner_node(links, edge), corner_node(links, following(edge))
    for k in range(3):
        x[node, k] = 0.5 * x[a, k] + 0.5 * x[b, k] + offset[k]
        rest[node, k] = 0.5 * rest[a, k] + 0.5 * rest[b, k]
    clear_change(change)
    change.point, change.moves = node, moves
    push(change, OLD_EDGES, a, b, 0, 0)
    push(change, NEW_EDGES, a, node, 0, 0)
    push(change, NEW_EDGES, node, b, 0, 0)
    half = edge
    for _ in range(2):
        if half >= 0:
            k = corner_node(links, preceding(half))
            mark[half // 3] = edit
            push(change, OLD_FACES, a, b, k, 0)
            push(change, NEW_FACES, a, node, k, 0)
            push(change, NEW_FACES, node, b, k, 0)
            push(change, NEW_EDGES, k, node, 0, 0)
            push(change, TETRAHEDRA, a, b, k, node)
        half = links.twin[edge]
