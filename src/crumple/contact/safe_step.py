"""How far x may move from x0 towards x1 before two primitives touch.

Conservative advancement after the additive one of [Li2021] with the step taken along the current normal instead of a
bound on speeds. At time t let n be the unit vector between the closest points. For each corner i of one primitive and
j of the other, n·(x_i − x_j) is linear in t and at least d now; the distance of the (convex) primitives never falls
below the least of these. So time may advance until the first of them reaches the target distance. This step is never
shorter than the additive one, and long when primitives slide past each other, which is where the additive one crawls.

Each pair may use up 90 % of its gap: target = ξ + `KEPT_GAP` (d₀ − ξ). Every time that is returned has been checked.
A distance does not tell on which side a primitive is, but corners that are apart along any n at all are a proof. When
d is so small that n, the difference of points over d, has lost its digits, some corners are not; then nothing is
certain, and time does not advance.

Closest points of edges that are nearly parallel, such as the lips of a slit, are known to fewer digits along the edges
than across: a normal that leans by d over the length of an edge separates nothing any more. The product of the two
edges does not know these points, and is tried then.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from crumple.contact.candidates import Candidates
from crumple.contact.pair import box_distance2, closest, load, rest_scale
from crumple.contact.pair_energy import direction
from crumple.contact.surface import Surface
from crumple.contact.tuning import TUNING
from crumple.runtime.compiled import ONE, ZERO, device, kernel, run_chunks
from crumple.runtime.typing import Floats

CHUNK = TUNING.pairs_per_chunk.value
KEPT_GAP = TUNING.kept_gap.value
CLOSE_ENOUGH = TUNING.close_enough.value
CERTAIN = TUNING.certain_gap.value
MAX_ADVANCES = TUNING.pair_advances.value
ROUNDING = TUNING.kept_gap_slack.value


class StepLimit(NamedTuple):
    """Collision-free `fraction` of the step in [0, 1] and the `pair` that limits it (candidate index, −1 = none)."""

    fraction: float
    pair: int


@device
def _place(start, move, t, corner):
    """corner = start + t move, all (4, 3)."""
    for i in range(4):
        for k in range(3):
            corner[i, k] = start[i, k] + t * move[i, k]


@device
def _advance(is_edges, corner, move, normal, target):
    """Time until some pair of corners reaches `target` along `normal`; inf if none approaches, 0 if `normal` does not
    separate them."""
    step = inf
    split = 2 if is_edges else 1
    for i in range(split):
        for j in range(split, 4):
            gap = speed = 0.0
            for k in range(3):
                gap += normal[k] * (corner[i, k] - corner[j, k])
                speed -= normal[k] * (move[i, k] - move[j, k])
            if gap < CERTAIN * target:
                return 0.0
            if speed > 0.0:
                step = min(step, max(gap - target, 0.0) / speed)
    return step


@device
def _across(corner, normal):
    """Write the unit vector across both edges, from the second towards the first, to `normal` (3,); whether they have
    one."""
    length2 = side = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        first, second = corner[1, i] - corner[0, i], corner[1, j] - corner[0, j]
        normal[k] = first * (corner[3, j] - corner[2, j]) - second * (corner[3, i] - corner[2, i])
        length2 += normal[k] ** 2
        side += normal[k] * (corner[0, k] - corner[2, k])
    if not length2 > 0.0:
        return False
    scale = (1.0 if side > 0.0 else -1.0) / sqrt(length2)
    for k in range(3):
        normal[k] *= scale
    return True


@kernel
def pair_step_limit(is_edges, start, move, thickness, limit, corner, weight, normal):
    """Largest time in [0, `limit`] for which the pair start + t move keeps its gap above `thickness` [m].

    `start`, `move` (4, 3) positions and displacements [m]; `corner` (4, 3), `weight` (4,), `normal` (3,) are scratch.
    Returns inf when nothing happens up to `limit`.
    """
    t = safe = 0.0
    target = least = inf
    for k in range(MAX_ADVANCES):
        _place(start, move, t, corner)
        d2, _ = closest(is_edges, corner, weight)
        d = sqrt(d2)
        if k == 0:
            if d <= thickness:
                return 0.0
            least = thickness + KEPT_GAP * (1.0 - ROUNDING) * (d - thickness)
            target = thickness + KEPT_GAP * (d - thickness)
            enough = thickness + CLOSE_ENOUGH * (d - thickness)
        if d < least:
            return safe
        safe = t
        if d <= enough:
            return safe
        direction(corner, weight, d, normal)
        ahead = _advance(is_edges, corner, move, normal, target)
        if is_edges and ahead == 0.0 and _across(corner, normal):
            ahead = _advance(is_edges, corner, move, normal, target)
        t += ahead
        if t >= limit:
            return inf
    return safe


@kernel
def _limits(first, step, surface, point_face, edge_edge, x0, x1, limit, pair):
    """Largest safe fraction of each chunk and the candidate that sets it (−1: none)."""
    faces, edges, rest = surface.faces, surface.edges, surface.node_rest
    part, part_thickness = surface.node_part, surface.part_thickness
    corner, weight, normal = np.empty((4, 3)), np.empty(4), np.empty(3)
    start, move = np.empty((4, 3)), np.empty((4, 3))
    n = point_face.shape[0]
    for c in range(first, limit.shape[0], step):
        best, which = 1.0, -1
        for k in range(c * CHUNK, min(n + edge_edge.shape[0], (c + 1) * CHUNK)):
            is_edges = k >= n
            if is_edges:
                one, two = edge_edge[k - n, 0], edge_edge[k - n, 1]
                i0, i1, i2, i3 = edges[one, 0], edges[one, 1], edges[two, 0], edges[two, 1]
            else:
                two = point_face[k, 1]
                i0, i1, i2, i3 = point_face[k, 0], faces[two, 0], faces[two, 1], faces[two, 2]
            load(x0, i0, i1, i2, i3, start)
            thickness = 0.5 * (part_thickness[part[i0]] + part_thickness[part[i2]])
            load(x1, i0, i1, i2, i3, move)
            approach = 0.0
            for i in range(1, 4):
                speed2 = 0.0
                for j in range(3):
                    move[i, j] -= start[i, j]
                    speed2 += move[i, j] ** 2
                approach = max(approach, speed2)
            # Displacements are relative to the first node: two corners approach by at most twice the largest
            # (once, if the first primitive is that node).
            needed = thickness + (2.0 if is_edges else 1.0) * sqrt(approach) / (1.0 - KEPT_GAP)
            if box_distance2(is_edges, start) > needed * needed:
                continue
            d2, _ = closest(is_edges, start, weight)
            d = sqrt(d2)
            if d > thickness:  # most pairs do not even meet with the full thickness
                direction(start, weight, d, normal)
                if _advance(is_edges, start, move, normal, thickness + KEPT_GAP * (d - thickness)) >= best:
                    continue
            if thickness > 0.0 and part[i0] == part[i2]:
                thickness *= rest_scale(rest, is_edges, i0, i1, i2, i3, thickness + surface.dhat, corner, weight)
            t = pair_step_limit(is_edges, start, move, thickness, best, corner, weight, normal)
            if t < best:
                best, which = t, k
        limit[c], pair[c] = best, which


@kernel
def limit_pairs(surface, point_face, edge_edge, x0, x1):
    """The numbers of the `StepLimit` from x0 to x1; for one thread."""
    for i in range(x1.shape[0]):
        for j in range(3):
            if not isfinite(x1[i, j]):
                return 0.0, -1
    count = point_face.shape[0] + edge_edge.shape[0]
    chunks = (count + CHUNK - 1) // CHUNK
    limit, pair = np.empty(chunks), np.empty(chunks, np.int64)
    _limits(ZERO, ONE, surface, point_face, edge_edge, x0, x1, limit, pair)
    best, which = 1.0, -1
    for c in range(chunks):
        if limit[c] < best:
            best, which = limit[c], pair[c]
    return best, which


def step_limit(surface: Surface, candidates: Candidates, x0: Floats, x1: Floats) -> StepLimit:
    """Largest fraction of the straight motion x0 → x1 (node_count, 3) [m] that keeps 10 % of every gap.

    `candidates` must come from `find_candidates` with this motion and an inflation of at least the thickness.
    A pair whose gap is already closed at x0 gives 0, and so does an x1 that is not finite.
    """
    if not np.isfinite(x1).all():
        return StepLimit(0.0, -1)
    count = candidates.pair_count
    if count == 0:
        return StepLimit(1.0, -1)
    chunks = -(-count // CHUNK)
    limit, pair = np.empty(chunks), np.empty(chunks, np.int64)
    run_chunks(_limits, chunks, surface.arrays, candidates.point_face, candidates.edge_edge, x0, x1, limit, pair)
    first = int(np.argmin(limit))
    return StepLimit(float(limit[first]), int(pair[first]))


def candidate_parts(surface: Surface, candidates: Candidates, pair: int) -> tuple[int, int]:
    """The two parts of a candidate, counted through the node–face pairs and then the edge pairs."""
    faces = len(candidates.point_face)
    if pair < faces:
        node, face = candidates.point_face[pair]
        nodes = node, surface.faces[face, 0]
    else:
        first, second = candidates.edge_edge[pair - faces]
        nodes = surface.edges[first, 0], surface.edges[second, 0]
    return int(surface.node_part[nodes[0]]), int(surface.node_part[nodes[1]])
