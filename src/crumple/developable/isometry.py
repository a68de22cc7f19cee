"""Exact isometry by fast projection [Goldenthal2007]: the nearest positions at which every edge has its length.

    C_e = (|x_e|² − l²)/2l,   (J W Jᵀ + α) λ = C,   x ← x − W Jᵀ λ

until no edge is strained. W is 1, and small for held nodes. The system is banded: edges are in the order of Cuthill
and McKee. When all edges around a singular point have their lengths, so have the angles: their sum is 2π as it is in
the pattern, which the method of [Schreck2015] does not reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, solveh_banded
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from crumple.developable.tuning import TUNING
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats, Ints

MOST, ENOUGH, SOFT = TUNING.projections.value, TUNING.projected.value, TUNING.projection_softness.value


@dataclass(frozen=True)
class Isometry:
    """The edges of a mesh in a good order: `edges` (n, 2), their `length` (n,) [m], the pairs (m, 2) that share a node,
    the later one first, and the half `width` of the band."""

    edges: Ints
    length: Floats
    pairs: Ints
    width: int

    def strain(self, x: Floats) -> Floats:
        """How much longer than at rest each edge is, over its length, (n,)."""
        return np.linalg.norm(x[self.edges[:, 1]] - x[self.edges[:, 0]], axis=1) / self.length - 1.0

    def project(self, x: Floats, weight: Floats) -> Floats:
        """The positions (node_count, 3) [m] with edges of the right length; `x` itself when that does not succeed.

        `weight` (node_count,): how far each node may move, over others.
        """
        best, least = x, float(np.abs(self.strain(x)).max())
        y = x
        for _ in range(MOST):
            if least <= ENOUGH:
                break
            after = self._step(y, weight)
            if after is None or not np.isfinite(after).all():
                break
            y = after
            worst = float(np.abs(self.strain(y)).max())
            if worst < least:
                best, least = y, worst
        return best

    def _step(self, x: Floats, weight: Floats) -> Floats | None:
        """One iteration; None when the system is singular."""
        band, excess = np.zeros((self.width + 1, len(self.edges))), np.empty(len(self.edges))
        _assemble(x, self.edges, self.length, self.pairs, weight, band, excess)
        band[0] += SOFT * band[0].max()
        try:
            multiplier = solveh_banded(band, excess, lower=True, check_finite=False)
        except LinAlgError:
            return None
        y = x.copy()
        _move(y, x, self.edges, self.length, weight, multiplier)
        return y


def make_isometry(edges: Ints, length: Floats) -> Isometry:
    """The isometry of `edges` (n, 2) with the rest `length` (n,) [m]."""
    count, nodes = len(edges), int(edges.max()) + 1
    incidence = csr_array((np.ones(2 * count), (np.repeat(np.arange(count), 2), edges.ravel())), shape=(count, nodes))
    graph = csr_array(incidence @ incidence.T)
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    row, column = graph.nonzero()
    row, column = place[row], place[column]
    later = row > column
    pairs = np.stack([row[later], column[later]], axis=1).astype(np.int32)
    pairs = np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
    width = int(np.max(pairs[:, 0] - pairs[:, 1], initial=0))
    return Isometry(np.ascontiguousarray(edges[order]), np.ascontiguousarray(length[order]), pairs, width)


@kernel
def _assemble(x, edges, length, pairs, weight, band, excess):
    """Fill the lower band of J W Jᵀ, and C."""
    count = len(edges)
    d = np.empty((count, 3))
    for e in range(count):
        a, b = edges[e, 0], edges[e, 1]
        square = 0.0
        for k in range(3):
            d[e, k] = (x[b, k] - x[a, k]) / length[e]
            square += d[e, k] ** 2
        excess[e] = 0.5 * length[e] * (square - 1.0)
        band[0, e] = (weight[a] + weight[b]) * square
    for m in range(len(pairs)):
        e, f = pairs[m, 0], pairs[m, 1]
        dot = d[e, 0] * d[f, 0] + d[e, 1] * d[f, 1] + d[e, 2] * d[f, 2]
        for i in range(2):
            for j in range(2):
                if edges[e, i] == edges[f, j]:
                    band[e - f, f] += weight[edges[e, i]] * (dot if i == j else -dot)


@kernel
def _move(y, x, edges, length, weight, multiplier):
    """y −= W Jᵀ λ."""
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        for k in range(3):
            pull = multiplier[e] * (x[b, k] - x[a, k]) / length[e]
            y[b, k] -= weight[b] * pull
            y[a, k] += weight[a] * pull
