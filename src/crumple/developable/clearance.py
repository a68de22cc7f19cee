"""What contact allows: whether a pose is free of intersections, how close it is, and how far a motion may go."""

from __future__ import annotations

import numpy as np

from crumple.contact import SurfaceTrees, find_candidates, has_intersections, least_relative_gap
from crumple.contact.safe_step import limit_pairs
from crumple.contact.wide_search import find_wide
from crumple.developable.guards import Guards, find_guards, project_guarded
from crumple.developable.isometry import Isometry
from crumple.developable.tuning import TUNING
from crumple.model.derived import known_surface
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import State

ROUNDS = TUNING.guard_rounds.value


class Clearance:
    """Contact of the sheet of a state with itself and with the obstacles where they are."""

    def __init__(self, model: Model, state: State) -> None:
        self._is_on = model.contact.enabled
        self._surface = known_surface(model, state, state.time)
        self._trees = SurfaceTrees()
        self._others = state.obstacle_x

    def is_clear(self, x: Floats) -> bool:
        """Whether nothing intersects at x (node_count, 3) [m]."""
        return not (self._is_on and has_intersections(self._surface, self._all(x)))

    def gap(self, x: Floats) -> float:
        """The least gap over that at which contact begins, at most 1."""
        if not self._is_on:
            return 1.0
        here = self._all(x)
        return least_relative_gap(self._surface, find_wide(self._surface, here, here, 0.0, self._trees), here)

    def restore(self, isometry: Isometry, x: Floats, weight: Floats) -> Floats:
        """The positions (node_count, 3) [m] with edges of the right lengths, as far as one can go there from x before
        anything touches: what is in the way is pushed along.

        `weight` (node_count,): how far each node may move, over others.
        """
        y = isometry.project(x, weight)
        if not self._is_on or y is x:
            return y
        count, start = len(x), self._all(x)
        still = np.concatenate([weight, np.zeros(len(self._others))])
        guards: Guards | None = None
        for _ in range(ROUNDS):
            end = self._all(y)
            if self._free_part(start, end) >= 1.0:
                return y
            found = find_guards(
                self._surface, find_candidates(self._surface, start, end, self._surface.reach), start, end
            )
            if not len(found.least):
                break
            guards = found if guards is None else guards.with_others(found)
            y = project_guarded(isometry, start, still, guards)[:count]
        fraction = self._free_part(start, self._all(y))
        return y if fraction >= 1.0 else x + fraction * (y - x)

    def _free_part(self, start: Floats, end: Floats) -> float:
        """The part of a straight motion (node_count, 3) [m] that nothing is in the way of."""
        if not np.isfinite(end).all():
            return 0.0
        pairs = find_wide(self._surface, start, end, 0.0, self._trees)
        return float(limit_pairs(self._surface.arrays, *pairs, start, end)[0])

    def _all(self, x: Floats) -> Floats:
        return np.ascontiguousarray(np.concatenate([x, self._others]))
