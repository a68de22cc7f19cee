"""Flips towards the anisotropic Delaunay triangulation (compiled into `passes`)."""

from __future__ import annotations

from math import sqrt

from numba import njit

from crumple.mesh.edits import apply_flip, edge_is_seam, plan_flip
from crumple.mesh.refusal import OK
from crumple.mesh.rings import INNER, corner_node, corner_vertex, following, preceding
from crumple.remeshing.arrays import STEP
from crumple.remeshing.chart import load_hinge
from crumple.remeshing.measure import aspect, edge_size, edge_strain, face_stretch, is_delaunay
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
)


@njit(**INNER)
def stamp_faces(links, report, stamp, number):
    """Note at the nodes of the changed faces that they have changed in this pass."""
    for n in range(report.face_count):
        face = report.faces[n]
        for k in range(3):
            stamp[links.vertex_node[links.faces[face, k]]] = number


@njit(**INNER)
def wants_flip(links, label, tensor, x, rest, surface, limits, coarsening, start, edge):
    """Whether an edge is plain, and the other diagonal better: it cures a face below the aspect bound, or the edge is
    not Delaunay and its flip makes no such face. The new edge must not be strained much more than those around, the
    new faces not more than the old ones beyond the square `start`; while coarsening, it must not violate (4)."""
    if links.faces[edge // 3, 0] < 0 or links.twin[edge] < 0:
        return False
    if label[edge] != 0 or edge_is_seam(links, edge):
        return False
    other = links.twin[edge]
    a, b = corner_vertex(links, edge), corner_vertex(links, following(edge))
    k, m = corner_vertex(links, preceding(edge)), corner_vertex(links, preceding(other))
    if surface:
        if corner_node(links, edge) == corner_node(links, other):
            return False
        if not is_turned_little(links, rest, limits.feature_cos, a, b, k, b, a, m):
            return False
        load_hinge(links, tensor, rest, edge)
    old_worst = min(aspect(links, rest, surface, a, b, k), aspect(links, rest, surface, b, a, m))
    too_thin = old_worst < limits.aspect
    if not too_thin and is_delaunay(links, tensor, limits.hysteresis, edge):
        return False
    worst = min(aspect(links, rest, surface, a, m, k), aspect(links, rest, surface, m, b, k))
    if too_thin:
        # Thin faces come before Delaunay, in one direction only, so that nothing flips back and forth.
        if worst <= old_worst:
            return False
    elif worst < limits.aspect:
        return False
    if not _keeps_strain(links, x, rest, surface, limits.strain, a, b, k, m):
        return False
    if not _keeps_stretch(links, x, rest, surface, start, a, b, k, m):
        return False
    if coarsening:
        size = edge_size(links, tensor, rest, surface, k, m)
        if size > max(1.0, edge_size(links, tensor, rest, surface, a, b)):
            return False
    return True


@njit(**INNER)
def _keeps_strain(links, x, rest, surface, limit, a, b, k, m):
    """Whether the strain of the diagonal km is within the range of the edges of the faces abk and bam, or nearly."""
    strain = edge_strain(links, x, rest, surface, k, m)
    low = high = edge_strain(links, x, rest, surface, a, b)
    for p in (a, b):
        for q in (k, m):
            side = edge_strain(links, x, rest, surface, p, q)
            low, high = min(low, side), max(high, side)
    return low - limit <= strain <= high + limit


@njit(**INNER)
def _keeps_stretch(links, x, rest, surface, start, a, b, k, m):
    """Whether the faces amk and mbk are stretched to the square `start` at most, or no more than abk and bam are."""
    new = max(face_stretch(links, x, rest, surface, a, m, k), face_stretch(links, x, rest, surface, m, b, k))
    if new <= start:
        return True
    return new <= max(face_stretch(links, x, rest, surface, a, b, k), face_stretch(links, x, rest, surface, b, a, m))


@njit(**STEP)
def try_flip(work, edge):
    """Flip an edge if it is not Delaunay and nothing speaks against it; whether it was done."""
    buf = work.buf
    surface = work.switches.surface
    done = False
    if (
        wants_flip(
            buf.links, buf.edge_label, buf.vertex_data, buf.node_data, buf.node_rest, surface, work.limits,
            work.switches.coarsening, work.stretch[buf.face_material[edge // 3]], edge,
        )
        and plan_flip(buf, edge) == OK
    ):  # fmt: skip
        done = True
        f, g = edge // 3, buf.links.twin[edge] // 3
        if work.switches.guarded:
            work.tally.edits += 1
            work.face_mark[f] = work.tally.edits
            work.face_mark[g] = work.tally.edits
            _describe_flip(buf.links, edge, work.guard.change)
            done = is_safe(
                work.guard, buf.links, buf.face_sheet, buf.node_data, buf.node_rest, work.face_mark,
                work.tally.edits, work.limits,
            )  # fmt: skip
        if done:
            total = work.scratch[2]
            total[0], total[1], total[2] = 0.0, 0.0, 0.0
            column = work.switches.velocity
            if column >= 0:
                for face in (f, g):
                    add_momentum(
                        buf.links, buf.node_rest, surface, buf.face_material, work.density, buf.node_data, column,
                        face, 1.0, total,
                    )  # fmt: skip
            apply_flip(buf, edge)
            if column >= 0:
                restore_momentum(
                    buf.links, buf.node_rest, surface, buf.face_material, work.density, buf.node_data, column,
                    buf.report, total,
                )  # fmt: skip
            stamp_faces(buf.links, buf.report, work.node_stamp, work.tally.passes)
            if work.switches.guarded:
                follow_faces(work.guard, buf.links, buf.node_data, buf.report)
            work.tally.flips += 1
        else:
            work.tally.refused += 1
    return done


@njit(**INNER)
def _describe_flip(links, edge, change):
    """Write to the guard what a flip makes and takes away."""
    other = links.twin[edge]
    a, b = corner_node(links, edge), corner_node(links, following(edge))
    k, m = corner_node(links, preceding(edge)), corner_node(links, preceding(other))
    clear_change(change)
    push(change, NEW_FACES, a, m, k, 0)
    push(change, NEW_FACES, m, b, k, 0)
    push(change, NEW_EDGES, k, m, 0, 0)
    push(change, OLD_FACES, a, b, k, 0)
    push(change, OLD_FACES, b, a, m, 0)
    push(change, OLD_EDGES, a, b, 0, 0)
    push(change, TETRAHEDRA, a, b, k, m)


@njit(**INNER)
def is_turned_little(links, rest, limit, a, b, c, d, e, f):
    """Whether the faces abc and def (vertices) in `node_rest` differ in direction by an angle of cosine ≥ limit."""
    node = links.vertex_node
    px, py, pz = _cross(rest, node[a], node[b], node[c])
    qx, qy, qz = _cross(rest, node[d], node[e], node[f])
    lengths = sqrt((px * px + py * py + pz * pz) * (qx * qx + qy * qy + qz * qz))
    return px * qx + py * qy + pz * qz >= limit * lengths


@njit(**INNER)
def _cross(rest, i, j, k):
    """(j − i) × (k − i)."""
    ex, ey, ez = rest[j, 0] - rest[i, 0], rest[j, 1] - rest[i, 1], rest[j, 2] - rest[i, 2]
    fx, fy, fz = rest[k, 0] - rest[i, 0], rest[k, 1] - rest[i, 1], rest[k, 2] - rest[i, 2]
    return ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
