"""One contact pair in compiled code: its nodes, closest points, thickness and weight.

A pair has four nodes: (point, a, b, c) for node and face, (a, b, c, d) for the edges ab and cd. Its distance is
d = |r|, r = Σ w_i x_i, with weights (1, −…) of the closest points. Where the closest point lies inside a face or an
edge, the weights depend on parameters β_k: ∂w/∂β_k is +1 at one node and −1 at another, listed as `slide` (i, j)
pairs, so that ∂r/∂β_k = x_i − x_j.
"""

from __future__ import annotations

from math import sqrt

from crumple.contact.tuning import TUNING
from crumple.geometry.distance import (
    BOTH_INSIDE,
    EDGE_AB,
    EDGE_BC,
    EDGE_CA,
    FACE,
    FIRST_INSIDE,
    SECOND_INSIDE,
    edge_edge,
    point_triangle,
)
from crumple.runtime.compiled import device

PARALLEL_LIMIT = TUNING.nearly_parallel.value
NEAR_REST = TUNING.near_rest_fraction.value
LEAST_REST_FRACTION = TUNING.least_rest_fraction.value
LEAST_REST = TUNING.least_rest_distance.value


@device
def load(x, i0, i1, i2, i3, corner):
    """Copy four nodes of x into `corner` (4, 3) relative to the first, which keeps the digits of small distances."""
    for k in range(3):
        origin = x[i0, k]
        corner[0, k] = 0.0
        corner[1, k] = x[i1, k] - origin
        corner[2, k] = x[i2, k] - origin
        corner[3, k] = x[i3, k] - origin


@device
def closest(is_edges, corner, weight):
    """(squared distance, feature) of the pair at `corner` (4, 3); its four weights are written to `weight`."""
    if is_edges:
        d2, s, t, feature = edge_edge(
            corner[0, 0], corner[0, 1], corner[0, 2], corner[1, 0], corner[1, 1], corner[1, 2],
            corner[2, 0], corner[2, 1], corner[2, 2], corner[3, 0], corner[3, 1], corner[3, 2],
        )  # fmt: skip
        weight[0], weight[1], weight[2], weight[3] = 1.0 - s, s, t - 1.0, -t
    else:
        d2, s, t, feature = point_triangle(
            corner[0, 0], corner[0, 1], corner[0, 2], corner[1, 0], corner[1, 1], corner[1, 2],
            corner[2, 0], corner[2, 1], corner[2, 2], corner[3, 0], corner[3, 1], corner[3, 2],
        )  # fmt: skip
        weight[0], weight[1], weight[2], weight[3] = 1.0, s + t - 1.0, -s, -t
    return d2, feature


@device
def slides(is_edges, feature):
    """(number of parameters, i1, j1, i2, j2): parameter k moves weight from corner j_k to corner i_k."""
    if is_edges:
        if feature == BOTH_INSIDE:
            return 2, 1, 0, 2, 3
        if feature == FIRST_INSIDE:
            return 1, 1, 0, 0, 0
        if feature == SECOND_INSIDE:
            return 1, 2, 3, 0, 0
    else:
        if feature == FACE:
            return 2, 1, 2, 1, 3
        if feature == EDGE_AB:
            return 1, 1, 2, 0, 0
        if feature == EDGE_BC:
            return 1, 2, 3, 0, 0
        if feature == EDGE_CA:
            return 1, 3, 1, 0, 0
    return 0, 0, 0, 0, 0


@device
def box_distance2(is_edges, corner):
    """Squared distance of the boxes around the two primitives, a cheap lower bound of the squared distance."""
    total = 0.0
    for k in range(3):
        a, b = corner[0, k], corner[0, k]
        c, d = min(corner[2, k], corner[3, k]), max(corner[2, k], corner[3, k])
        if is_edges:
            a, b = min(a, corner[1, k]), max(b, corner[1, k])
        else:
            c, d = min(c, corner[1, k]), max(d, corner[1, k])
        gap = max(c - b, a - d)
        if gap > 0.0:
            total += gap * gap
    return total


@device
def rest_scale(rest, is_edges, i0, i1, i2, i3, reach, corner, weight):
    """Factor in (0, 1] on thickness and activation gap of a pair on one sheet: below 1 for near neighbours.

    `rest` (node_count, 3) reference positions, `reach` = thickness + dhat [m]; `corner`, `weight` are overwritten.
    """
    load(rest, i0, i1, i2, i3, corner)
    far = reach / NEAR_REST
    if box_distance2(is_edges, corner) >= far * far:
        return 1.0
    d2, _ = closest(is_edges, corner, weight)
    distance = sqrt(d2)
    if distance < LEAST_REST:
        distance = max(distance, least_rest(longest_edge2(is_edges, corner)))
    return min(1.0, distance / far)


@device
def least_rest(longest2):
    """The distance at rest [m] that a pair counts as apart at least; `longest2` its longest edge, squared [m²].

    Lips of cuts may cross each other in the reference positions, or lie in one another. A pair that is nowhere apart
    there would have a barrier at distances that rounding decides.
    """
    return min(LEAST_REST, LEAST_REST_FRACTION * sqrt(longest2))


@device
def longest_edge2(is_edges, corner):
    """The squared length of the longest edge of a pair at `corner` (4, 3)."""
    first = second = third = fourth = 0.0
    for k in range(3):
        first += (corner[1, k] - corner[0, k]) ** 2
        second += (corner[2, k] - corner[1, k]) ** 2
        third += (corner[3, k] - corner[2, k]) ** 2
        fourth += (corner[1, k] - corner[3, k]) ** 2
    return max(first, third) if is_edges else max(second, third, fourth)


@device
def edge_pair_area(first, second, first_moves, second_moves):
    """Integration weight [m²] of two edges with the weights `first`, `second`; which of them belong to sheets."""
    if not first_moves:
        first = min(first, second)
    elif not second_moves:
        second = min(first, second)
    return 0.25 * sqrt(first * second)


@device
def face_pair_area(node, face, node_moves, face_moves):
    """Integration weight [m²] of a node and a face with these weights; which of them belong to sheets."""
    if not node_moves:
        return 0.25 * min(node, face)
    return 0.25 * node if face_moves else 0.75 * node


@device
def parallel_limit(rest, i0, i1, i2, i3, scale, dhat):
    """ε [m⁴] of the mollifier: 1e-3 |e1|² |e2|² at rest, of near neighbours (`scale` < 1) that act below `dhat` [m]
    at most dhat² |e|², e the longer one.

    Edges of length L that cross at an angle above dhat/L have ends that are out of the range of each other: nothing
    else holds them apart. Lips of a cut are such edges, and their range is a millionth of their length.
    """
    first = second = 0.0
    for k in range(3):
        first += (rest[i1, k] - rest[i0, k]) ** 2
        second += (rest[i3, k] - rest[i2, k]) ** 2
    limit = PARALLEL_LIMIT * first * second
    return limit if scale >= 1.0 else min(limit, dhat * dhat * max(first, second))
