"""Lengths and contact at once: the projection with pairs that must stay apart.

Where a sheet is folded on itself, the straight way to its right lengths is soon blocked by one pair of primitives. Such
a pair becomes a *guard*: its gap along the present normal n, g = n·Σ c_i x_i with the weights c of the closest points,
may not fall below a part of what it is now. Guards are inequalities; those that would pull are left out again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array, vstack
from scipy.sparse.linalg import splu

from crumple.contact import Candidates, Surface
from crumple.contact.pair import closest, load
from crumple.developable.isometry import ENOUGH, MOST, SOFT, Isometry
from crumple.developable.tuning import TUNING
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats, Ints

KEPT = TUNING.guarded_gap.value


class Guards(NamedTuple):
    """`nodes` (n, 4) of each pair, `weight` (n, 4) signed, `normal` (n, 3) unit, `least` (n,) gap [m]."""

    nodes: Ints
    weight: Floats
    normal: Floats
    least: Floats

    def excess(self, x: Floats) -> Floats:
        """By how much each gap is larger than it must be at x (node_count, 3), (n,) [m]."""
        return np.asarray(np.einsum("nk,nc,nck->n", self.normal, self.weight, x[self.nodes]) - self.least)

    def chosen(self, mask: NDArray[np.bool_] | NDArray[np.intp]) -> Guards:
        """Some of them."""
        return Guards(self.nodes[mask], self.weight[mask], self.normal[mask], self.least[mask])

    def with_others(self, others: Guards) -> Guards:
        """These and others."""
        return Guards(
            np.concatenate([self.nodes, others.nodes]),
            np.concatenate([self.weight, others.weight]),
            np.concatenate([self.normal, others.normal]),
            np.concatenate([self.least, others.least]),
        )

    def rows(self, node_count: int) -> csr_array:
        """∂g/∂x, (n, 3 node_count)."""
        value = (self.weight[:, :, None] * self.normal[:, None, :]).ravel()
        column = (3 * self.nodes[:, :, None] + np.arange(3)).ravel()
        row = np.repeat(np.arange(len(self.least)), 12)
        return csr_array((value, (row, column)), shape=(len(self.least), 3 * node_count))


def find_guards(surface: Surface, candidates: Candidates, x: Floats, y: Floats) -> Guards:
    """The pairs whose gaps along their normals at x would be too small at y, (node_count, 3) [m] with obstacles."""
    pairs = np.concatenate(
        [
            np.column_stack([candidates.point_face[:, :1], surface.faces[candidates.point_face[:, 1]]]),
            np.column_stack([surface.edges[candidates.edge_edge[:, 0]], surface.edges[candidates.edge_edge[:, 1]]]),
        ]
    ).astype(np.int32)
    weight, normal, gap = np.empty((len(pairs), 4)), np.empty((len(pairs), 3)), np.empty(len(pairs))
    _measure(pairs, len(candidates.point_face), x, weight, normal, gap)
    guards = Guards(pairs, weight, normal, KEPT * np.minimum(gap, surface.dhat))
    return guards.chosen((guards.excess(y) < 0.0) & (gap > 0.0))


def project_guarded(isometry: Isometry, x: Floats, weight: Floats, guards: Guards) -> Floats:
    """The positions (node_count, 3) [m] with edges of the right length and gaps that the guards allow, or the best that
    was found. `weight` (node_count,) as for `Isometry.project`, 0 for obstacles."""
    best, least, y = x, np.inf, x
    inverse = np.repeat(weight, 3)
    for _ in range(MOST):
        worst = max(float(np.abs(isometry.strain(y)).max()), float(-np.min(guards.excess(y) / isometry.length.mean())))
        if worst < least:
            best, least = y, worst
        if least <= ENOUGH:
            break
        y = _step(isometry, y, inverse, guards)
        if not np.isfinite(y).all():
            break
    return best


def _step(isometry: Isometry, x: Floats, inverse: Floats, guards: Guards) -> Floats:
    """One iteration: guards that are violated take part, unless their multipliers pull."""
    lengths, excess = _length_rows(isometry, x)
    active = np.flatnonzero(guards.excess(x) < 0.0)
    y = x
    for _ in range(3):
        some = guards.chosen(active)
        rows = csr_array(vstack([lengths, some.rows(len(x))]))
        system = csc_array((rows * inverse) @ rows.T)
        system = csc_array(system + SOFT * float(system.diagonal().max()) * eye_array(system.shape[0]))
        multiplier = splu(system).solve(np.concatenate([excess, some.excess(x)]))
        y = x - (inverse * (rows.T @ multiplier)).reshape(-1, 3)
        pulls = multiplier[len(excess) :] > 0.0
        if not pulls.any():
            break
        active = active[~pulls]
    return y


def _length_rows(isometry: Isometry, x: Floats) -> tuple[csr_array, Floats]:
    """J (n, 3 node_count) and C (n,) [m] of the edges."""
    d = (x[isometry.edges[:, 1]] - x[isometry.edges[:, 0]]) / isometry.length[:, None]
    value = np.stack([-d, d], axis=1).ravel()
    column = (3 * isometry.edges[:, :, None] + np.arange(3)).ravel()
    rows = csr_array((value, (np.repeat(np.arange(len(d)), 6), column)), shape=(len(d), x.size))
    return rows, 0.5 * isometry.length * (np.sum(d * d, axis=1) - 1.0)


@kernel
def _measure(pairs, point_faces, x, weight, normal, gap):
    """Weights of the closest points of each pair, the unit vector between them, and their distance; pairs from
    `point_faces` on are of edges."""
    corner, share = np.empty((4, 3)), np.empty(4)
    for n in range(len(pairs)):
        load(x, pairs[n, 0], pairs[n, 1], pairs[n, 2], pairs[n, 3], corner)
        closest(n >= point_faces, corner, share)
        size = 0.0
        for k in range(3):
            normal[n, k] = 0.0
            for i in range(4):
                normal[n, k] += share[i] * corner[i, k]
            size += normal[n, k] ** 2
        gap[n] = np.sqrt(size)
        for k in range(3):
            normal[n, k] /= max(gap[n], 1e-300)
        for i in range(4):
            weight[n, i] = share[i]
