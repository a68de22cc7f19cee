"""Contact during one step on a small sheet: the pairs that may touch are found about once, and looked at by few calls.

It stands for `solving.step_contact.StepContact`, whose methods it keeps. On a small sheet a search costs as much as an
iteration, but pairs cost little: they are found with a margin that is a fraction of the edges, along the way from one
pose to another, and serve for all poses within the margin of that way. What is measured of the pairs at one pose (gaps,
and with them the energy) is kept for those who ask next: the line search ends where the next expansion begins.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from crumple.contact import Approach, Barrier, Candidates, StepLimit, Surface, SurfaceTrees
from crumple.contact.barrier import ReadyBarrier, gather_pairs, measure_pairs
from crumple.contact.friction import Friction, ReadyFriction, freeze_pairs
from crumple.contact.safe_step import limit_pairs
from crumple.contact.wide_search import find_wide
from crumple.contract.ready import ReadyEnergy
from crumple.runtime.compiled import device, kernel
from crumple.runtime.remembered import Remembered
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats
from crumple.solving.step_contact import MARGIN, Change, StepContact
from crumple.solving.tuning import TUNING

EDGE_MARGIN = TUNING.compact_margin.value


class Measured(NamedTuple):
    """What pairs are like at the pose x: `found` (4, n) has gaps, infinite out of range, and in range scales, areas and
    relative gaps at the start; the energy per κ [m³];  `approach`: what damping counts from."""

    x: Floats
    candidates: Candidates
    approach: Approach | None
    found: Floats
    energy: float


_KNOWN: Remembered[tuple[float, bool]] = Remembered(2)
"""The margin of the last surfaces, and whether they have friction."""


def _find_margin(surface: Surface) -> float:
    """Within which poses share their pairs [m]: a fraction of the edges of the sheets, or of twice the width of the
    faces beside them where these are slivers, which have many others near."""
    edges = surface.edges[: surface.dynamic_edges]
    length = np.linalg.norm(surface.node_rest[edges[:, 1]] - surface.node_rest[edges[:, 0]], axis=1)
    width = 3.0 * surface.edge_weight[: surface.dynamic_edges] / length
    size = np.minimum(length, 2.0 * width)
    return max(MARGIN * surface.reach, EDGE_MARGIN * float(np.mean(size)) if len(length) else 0.0)


def _can_rub(surface: Surface) -> bool:
    return bool(np.any(surface.friction))


class Nearby:
    """The pairs that may touch on the way between two poses, and within a margin [m] of it; kept from solve to solve
    while the surface is the same."""

    def __init__(self, surface: Surface, trees: SurfaceTrees) -> None:
        self.surface = surface
        self._trees = trees
        self._margin, self.has_friction = _KNOWN.find((surface,), lambda: (_find_margin(surface), _can_rub(surface)))
        self._way: tuple[Floats, Floats] | None = None
        self._found = Candidates(np.zeros((0, 2), np.int32), np.zeros((0, 2), np.int32))

    def along(self, x: Floats, target: Floats) -> Candidates:
        """The pairs that may touch while x moves to `target` (node_count, 3)."""
        if self._way is None or not covers(*self._way, x, target, self._margin):
            self._found = find_wide(self.surface, x, target, self._margin, self._trees)
            self._way = x.copy(), target.copy()
        return self._found

    def look_ahead(self, x: Floats, guess: Floats) -> None:
        """Look along the way from x to the nodes' `guess` (free_count, 3), if that is not far and nothing is known."""
        target = x.copy()
        target[: len(guess)] = guess
        if self._way is not None and covers(*self._way, x, target, self._margin):
            return
        ahead = target - x
        is_near = float(np.max(np.einsum("ij,ij->i", ahead, ahead), initial=0.0)) <= (4.0 * self._margin) ** 2
        self.along(x, target if is_near else x)


class CompactContact(StepContact):
    """The contact terms of one potential of a small sheet."""

    def __init__(self, nearby: Nearby, stiffness: float, x: Floats, timer: PhaseTimer) -> None:
        """Contact without friction, of the pose x (node_count, 3) and of what follows from it."""
        self._nearby = nearby
        self._measured: Measured | None = None
        self._pairs: tuple[Measured, Barrier] | None = None
        self._ready: ReadyFriction
        self._ready_of: Friction | None = None
        super().__init__(nearby.surface, stiffness, x, timer)

    def _first_candidates(self, x: Floats) -> Candidates:
        return self._nearby.along(x, x)

    def _find(self, x: Floats, target: Floats) -> Candidates:
        return self._nearby.along(x, target)

    def value(self, x: Floats) -> float:
        total = self._stiffness * self._measure(x).energy
        if self.friction is not None and total < inf:
            total += self.ready_friction(self.friction).value(x, x)
        return total

    def ready_friction(self, friction: Friction) -> ReadyFriction:
        """The friction ready, made once."""
        if self._ready_of is not friction:
            self._ready_of, self._ready = friction, ReadyFriction(friction)
        return self._ready

    def ready_energies(self, x: Floats) -> list[ReadyEnergy]:
        barrier = self._barrier(x)
        self.contacts = barrier.count
        ready = ReadyBarrier(barrier)
        return [ready] if self.friction is None else [ready, self.ready_friction(self.friction)]

    def friction_at(self, x: Floats) -> Friction | None:
        if self._slip is None or not self.may_slide:
            return None
        barrier, (before, step, speed) = self._barrier(x), self._slip
        if not barrier.count:
            return None
        return Friction(
            *freeze_pairs(
                x, before, step * speed, barrier.stencil, barrier.is_edges, barrier.thickness, barrier.dhat,
                barrier.stiffness, barrier.parallel, barrier.start, barrier.damping, barrier.friction,
            )
        )  # fmt: skip

    @property
    def may_slide(self) -> bool:
        return self._slip is not None and self._nearby.has_friction

    def _rubbing_force(self, x: Floats, free_count: int) -> Floats:
        gradient = np.zeros((free_count, 3))
        if self.friction is not None:
            self.ready_friction(self.friction).add_gradient(x, 1.0, gradient)
        return gradient

    def refreeze(self, x: Floats, free_count: int) -> Change:
        before = self._rubbing_force(x, free_count)
        self.freeze(x)
        change = self._rubbing_force(x, free_count)
        return Change(change, _take_off(before, change))

    def forces(self, x: Floats) -> tuple[Floats, Floats]:
        gradient, count = np.zeros_like(x), self.surface.dynamic_count
        with self._timer("contact"):
            ReadyBarrier(self._barrier(x)).add_forces(x, x, gradient)
            normal = -gradient[:count]
            if self.friction is not None:
                self.ready_friction(self.friction).add_gradient(x, 1.0, gradient)
        return normal, np.ascontiguousarray(gradient[count:])

    def _damped_force(self, x: Floats, approach: Approach) -> tuple[Floats, float, float]:
        gradient = np.zeros_like(x)
        barrier = self._gathered(self._measured_at(x, approach))
        size, extra, _ = ReadyBarrier(barrier).add_forces(x, x, gradient)
        return gradient, size, extra

    def damping(self, x: Floats, v: Floats) -> float:
        if self._approach is None:
            return 0.0
        with self._timer("contact"):
            return ReadyBarrier(self._barrier(x)).add_forces(x, v, np.zeros_like(x))[2]

    def rubbing(self, x: Floats) -> float:
        if self.friction is None or self._slip is None:
            return 0.0
        return self.ready_friction(self.friction).work(x) / self._slip.step

    def barrier_value(self, x: Floats) -> float:
        measured = self._measure(x) if self._approach is None else self._measured_at(x, None)
        return self._stiffness * measured.energy

    def smallest_gap(self, x: Floats) -> float:
        return float(self._measure(x).found[0].min(initial=inf))

    def least_relative_gap(self, x: Floats) -> float:
        gap, scale = self._measure(x).found[:2]
        active = gap < inf
        return float(np.min(gap[active] / (scale[active] * self.surface.dhat), initial=1.0))

    def _limit(self, x: Floats, target: Floats) -> StepLimit:
        self._candidates = self._find(x, target)
        point_face, edge_edge = self._candidates
        return StepLimit(*limit_pairs(self.surface.arrays, point_face, edge_edge, x, target))

    def _measure(self, x: Floats) -> Measured:
        """What the candidates are like at x, kept for the next who asks."""
        known = self._measured
        is_known = known is not None and known.candidates is self._candidates and known.approach is self._approach
        if known is None or not is_known or not is_same(known.x, x):
            known = self._measured = self._measured_at(x, self._approach)
        return known

    def _measured_at(self, x: Floats, approach: Approach | None) -> Measured:
        before, opening = (x, inf) if approach is None else approach
        found = measure_pairs(self.surface.arrays, *self._candidates, x, before, 1.0 / opening)
        return Measured(x.copy(), self._candidates, approach, *found)

    def _barrier(self, x: Floats) -> Barrier:
        measured = self._measure(x)
        if self._pairs is None or self._pairs[0] is not measured:
            self._pairs = measured, self._gathered(measured)
        return self._pairs[1]

    def _gathered(self, measured: Measured) -> Barrier:
        """The pairs in range."""
        per_opening = 0.0 if measured.approach is None else 1.0 / measured.approach.opening
        stencil, is_edges, numbers = gather_pairs(
            self.surface.arrays, *measured.candidates, measured.found, self._stiffness, per_opening
        )
        return Barrier(stencil, is_edges, *numbers)


@device
def _is_beside(start, end, x, margin):
    """Whether all nodes of x are within the margin of the pose between `start` and `end` that is nearest to it."""
    along = square = 0.0
    for i in range(x.shape[0]):
        for k in range(3):
            way = end[i, k] - start[i, k]
            along += way * (x[i, k] - start[i, k])
            square += way * way
    fraction = 0.0
    if square > 0.0:
        fraction = min(max(along / square, 0.0), 1.0)
    for i in range(x.shape[0]):
        away = 0.0
        for k in range(3):
            away += (x[i, k] - start[i, k] - fraction * (end[i, k] - start[i, k])) ** 2
        if not away <= margin * margin:
            return False
    return True


@kernel
def _take_off(before, after):
    """Subtract `before` from `after` (n, 3) in place; returns the sum of the differences over the larger of the sums of
    both, 0 where both are zero."""
    first = second = change = 0.0
    for i in range(before.shape[0]):
        for k in range(3):
            first += abs(before[i, k])
            second += abs(after[i, k])
            after[i, k] -= before[i, k]
            change += abs(after[i, k])
    size = max(first, second)
    return change / size if size > 0.0 else 0.0


@kernel
def is_same(one, other):
    """Whether two poses (node_count, 3) are the same in every number."""
    for i in range(one.shape[0]):
        for k in range(3):
            if one[i, k] != other[i, k]:
                return False
    return True


@kernel
def covers(start, end, x, target, margin):
    """Whether x and `target` (node_count, 3) are both within the `margin` [m] of poses between `start` and `end`, and
    with them the straight way from one to the other."""
    return _is_beside(start, end, x, margin) and _is_beside(start, end, target, margin)
