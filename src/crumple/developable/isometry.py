"""Exact isometry by fast projection [Goldenthal2007]: the nearest positions at which every edge has its length.

    C_e = (|x_e|² − l²)/2l,   (J W Jᵀ + α) λ = C,   x ← x − W Jᵀ λ

until no edge is strained. W is 1, and small for held nodes. The system is banded: edges are in the order of Cuthill
and McKee. When all edges around a singular point have their lengths, so have the angles: their sum is 2π as it is in
the pattern, which the method of [Schreck2015] does not reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpbsv

from crumple.developable.tuning import TUNING
from crumple.runtime.compiled import device, kernel
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

    def worst(self, x: Floats) -> float:
        """The largest strain of any edge, to either side."""
        return float(_worst(x, self.edges, self.length))

    def project(self, x: Floats, weight: Floats) -> Floats:
        """The positions (node_count, 3) [m] with edges of the right length; `x` itself when that does not succeed.

        `weight` (node_count,): how far each node may move, over others.
        """
        best, least = x, self.worst(x)
        y = x
        for _ in range(MOST):
            if least <= ENOUGH:
                break
            after = self._step(y, weight)
            if after is None or not np.isfinite(after).all():
                break
            y = after
            worst = self.worst(y)
            if worst < least:
                best, least = y, worst
        return best

    def _step(self, x: Floats, weight: Floats) -> Floats | None:
        """One iteration; None when the system is singular."""
        band, excess = np.zeros((len(self.edges), self.width + 1)).T, np.empty(len(self.edges))
        _assemble(x, self.edges, self.length, self.pairs, weight, band, excess)
        band[0] += SOFT * band[0].max()
        _, multiplier, info = dpbsv(band, excess, lower=1, overwrite_ab=1, overwrite_b=1)
        if info:
            return None
        y = x.copy()
        _move(y, x, self.edges, self.length, weight, multiplier)
        return y


def make_isometry(edges: Ints, length: Floats) -> Isometry:
    """The isometry of `edges` (n, 2) with the rest `length` (n,) [m]."""
    edges = np.ascontiguousarray(edges, np.int32)
    order, pairs = _arrange(edges, int(edges.max()) + 1)
    width = int(np.max(pairs[:, 0] - pairs[:, 1], initial=0))
    return Isometry(np.ascontiguousarray(edges[order]), np.ascontiguousarray(length[order]), pairs, width)


@kernel
def _arrange(edges, nodes):
    """The order of Cuthill and McKee of edges (n, 2), (n,), and the pairs (m, 2) of edges in this order that share a
    node, the later one first, ascending."""
    count = len(edges)
    first = np.zeros(nodes + 1, np.int32)
    for e in range(count):
        first[edges[e, 0] + 1] += 1
        first[edges[e, 1] + 1] += 1
    first = np.cumsum(first)
    filled, at = first[:-1].copy(), np.empty(2 * count, np.int32)
    for e in range(count):
        for k in range(2):
            at[filled[edges[e, k]]] = e
            filled[edges[e, k]] += 1
    degree = np.empty(count, np.int64)
    for e in range(count):
        degree[e] = first[edges[e, 0] + 1] - first[edges[e, 0]] + first[edges[e, 1] + 1] - first[edges[e, 1]]
    order, place = np.empty(count, np.int64), np.empty(count, np.int64)
    root = np.argmin(degree)
    for _ in range(3):  # from an end that is far from where one began
        _walk(edges, first, at, degree, root, order, place)
        root = order[count - 1]
    _walk(edges, first, at, degree, root, order, place)
    pairs, found = np.empty((int(np.sum(degree)), 2), np.int32), 0
    near = np.empty(int(np.max(degree)), np.int64)
    for p in range(count):
        e, many = order[p], 0
        for k in range(2):
            for m in range(first[edges[e, k]], first[edges[e, k] + 1]):
                if place[at[m]] < p:
                    near[many] = place[at[m]]
                    many += 1
        own = near[:many]
        own.sort()
        for m in range(many):
            if m == 0 or own[m] != own[m - 1]:
                pairs[found, 0], pairs[found, 1] = p, own[m]
                found += 1
    return order, pairs[:found].copy()


@device
def _walk(edges, first, at, degree, root, order, place):
    """Fill the `order` in which edges are met from one on, those with few neighbours first, and the `place` of each in
    it; parts of the mesh that are not connected follow each other."""
    count = len(edges)
    place[:] = -1
    done, seen, start = 0, 0, root
    while done < count:
        if seen == done:
            while place[start] >= 0:
                start = (start + 1) % count
            order[seen], place[start] = start, seen
            seen += 1
        e = order[done]
        done += 1
        begin = seen
        for k in range(2):
            for m in range(first[edges[e, k]], first[edges[e, k] + 1]):
                f = at[m]
                if place[f] < 0:
                    place[f] = seen
                    n = seen
                    while n > begin and degree[order[n - 1]] > degree[f]:
                        order[n] = order[n - 1]
                        n -= 1
                    order[n] = f
                    seen += 1
        for n in range(begin, seen):
            place[order[n]] = n


@kernel
def _worst(x, edges, length):
    """The largest |l/l̄ − 1|, not a number where one is not."""
    worst = 0.0
    for e in range(len(edges)):
        square = 0.0
        for k in range(3):
            square += (x[edges[e, 1], k] - x[edges[e, 0], k]) ** 2
        strain = abs(np.sqrt(square) / length[e] - 1.0)
        if not strain <= worst:
            worst = strain
    return worst


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
