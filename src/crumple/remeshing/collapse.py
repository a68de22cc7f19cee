"""Collapses of edges as long as no edge becomes too long (compiled into `passes`)."""

from __future__ import annotations

from numba import njit

from crumple.mesh.edits import apply_collapse, plan_collapse
from crumple.mesh.refusal import OK
from crumple.mesh.rings import INNER, corner_node, corner_vertex, following, preceding
from crumple.remeshing.arrays import STEP
from crumple.remeshing.chart import load_fan
from crumple.remeshing.flip import is_turned_little, stamp_faces
from crumple.remeshing.measure import aspect, edge_size, edge_strain, face_stretch
from crumple.remeshing.momentum import add_momentum, restore_momentum
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
    push_edge_once,
)


@njit(**STEP)
def try_collapse(work, edge, remove_head, limit):
    """Remove one end of an edge if all edges stay below √limit and nothing speaks against it; whether it was done."""
    buf = work.buf
    surface = work.switches.surface
    p = corner_node(buf.links, following(edge) if remove_head else edge)
    q = corner_node(buf.links, edge if remove_head else following(edge))
    done = False
    if buf.node_protected[p] == 0:
        if surface:
            load_fan(buf.links, buf.node_rest, p)
        done = plan_collapse(buf, edge, remove_head, work.limits.outline) == OK
    count = buf.counters.ring
    last = count if buf.links.twin[edge] < 0 else count - 1
    done = done and _is_fit(
        buf.links, buf.ring, buf.ring_vertex, count, last, buf.vertex_data, buf.node_data, buf.node_rest, surface,
        work.limits, limit, buf.face_material, work.stretch,
    )  # fmt: skip
    if done and work.switches.guarded:
        work.tally.edits += 1
        _describe_collapse(
            buf.links, buf.ring, count, last, p, q, work.guard.change, work.face_mark,
            work.tally.edits,
        )  # fmt: skip
        done = is_safe(
            work.guard, buf.links, buf.face_sheet, buf.node_data, buf.node_rest, work.face_mark,
            work.tally.edits, work.limits,
        )  # fmt: skip
        if not done:
            work.tally.refused += 1
    if done:
        total = work.scratch[2]
        total[0], total[1], total[2] = 0.0, 0.0, 0.0
        column = work.switches.velocity
        if column >= 0:
            for i in range(count):
                add_momentum(
                    buf.links, buf.node_rest, surface, buf.face_material, work.density, buf.node_data, column,
                    buf.ring[i] // 3, 1.0, total,
                )  # fmt: skip
        apply_collapse(buf, edge, remove_head)
        if column >= 0:
            restore_momentum(
                buf.links, buf.node_rest, surface, buf.face_material, work.density, buf.node_data, column,
                buf.report, total,
            )  # fmt: skip
        stamp_faces(buf.links, buf.report, work.node_stamp, work.tally.passes)
        if work.switches.guarded:
            follow_faces(work.guard, buf.links, buf.node_data, buf.report)
        work.tally.collapses += 1
        work.tally.faces -= 1 if buf.report.removed_face_b < 0 else 2
    return done


@njit(**INNER)
def _is_fit(links, ring, ring_vertex, count, last, tensor, x, rest, surface, limits, limit, material, start):
    """Whether the planned collapse makes no edge too long or strained and no face too thin or beyond its `start`."""
    most_now, most_then = 1.0, 1.0
    new_worst, old_worst = 1.0, 1.0
    low, high, least, most = 1e300, -1e300, 1e300, -1e300
    for i in range(count):
        corner = ring[i]
        a = corner_vertex(links, corner)
        b, c = corner_vertex(links, following(corner)), corner_vertex(links, preceding(corner))
        old_worst = min(old_worst, aspect(links, rest, surface, a, b, c))
        one, two = edge_strain(links, x, rest, surface, a, b), edge_strain(links, x, rest, surface, b, c)
        low, high = min(low, one, two), max(high, one, two)
        free = start[material[corner // 3]]
        most_then = max(most_then, face_stretch(links, x, rest, surface, a, b, c) / free)
        if i == 0 or i >= last:
            continue
        q = ring_vertex[i]
        if edge_size(links, tensor, rest, surface, q, b) > limit:
            return False
        if edge_size(links, tensor, rest, surface, q, c) > limit:
            return False
        one, two = edge_strain(links, x, rest, surface, q, b), edge_strain(links, x, rest, surface, q, c)
        least, most = min(least, one, two), max(most, one, two)
        new_worst = min(new_worst, aspect(links, rest, surface, q, b, c))
        most_now = max(most_now, face_stretch(links, x, rest, surface, q, b, c) / free)
        if surface and not is_turned_little(links, rest, limits.feature_cos, a, b, c, q, b, c):
            return False
    if least < low - limits.strain or most > high + limits.strain or most_now > most_then:
        return False
    return new_worst >= limits.aspect or new_worst >= old_worst


@njit(**INNER)
def _describe_collapse(links, ring, count, last, p, q, change, mark, edit):
    """Write to the guard what the planned collapse of node p into q makes and takes away."""
    clear_change(change)
    change.gone = p
    for i in range(count):
        corner = ring[i]
        b, c = corner_node(links, following(corner)), corner_node(links, preceding(corner))
        mark[corner // 3] = edit
        push(change, OLD_FACES, p, b, c, 0)
        push_edge_once(change, OLD_EDGES, p, b)
        push_edge_once(change, OLD_EDGES, p, c)
        if 0 < i < last:
            push(change, NEW_FACES, q, b, c, 0)
            push_edge_once(change, NEW_EDGES, q, b)
            push_edge_once(change, NEW_EDGES, q, c)
            push(change, TETRAHEDRA, p, q, b, c)
