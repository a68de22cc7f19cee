"""Where the pairs of a barrier are closest to each other."""

from __future__ import annotations

from math import sqrt

import numpy as np

from crumple.contact.barrier import Barrier
from crumple.contact.pair import closest, load
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats


@kernel
def _measure(stencil, is_edges, x, distance, weights):
    corner, weight = np.empty((4, 3)), np.empty(4)
    for k in range(stencil.shape[0]):
        load(x, stencil[k, 0], stencil[k, 1], stencil[k, 2], stencil[k, 3], corner)
        d2, _ = closest(is_edges[k], corner, weight)
        distance[k], weights[k] = sqrt(d2), weight


def closest_points(barrier: Barrier, x: Floats) -> tuple[Floats, Floats]:
    """Distance (n,) [m] of each pair at x (node_count, 3), and the weights w (n, 4) of its nodes, Σ w = 0.

    Σ w_i x_i over the stencil is the vector from the closest point of the second side to that of the first.
    """
    distance, weights = np.empty(barrier.count), np.empty((barrier.count, 4))
    _measure(barrier.stencil, barrier.is_edges, x, distance, weights)
    return distance, weights
