"""What contact allows: whether a pose is free of intersections, how close it is, and how far a motion may go."""

from __future__ import annotations

import numpy as np

from crumple.contact import Candidates, find_candidates, has_intersections, least_relative_gap, step_limit
from crumple.developable.guards import Guards, find_guards, project_guarded
from crumple.developable.isometry import Isometry
from crumple.developable.tuning import TUNING
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import State

ROUNDS = TUNING.guard_rounds.value


class Clearance:
    """Contact of the sheet of a state with itself and with the obstacles where they are."""

    def __init__(self, model: Model, state: State) -> None:
        self._is_on = model.contact.enabled
        self._surface = contact_surface(model, state, state.time)
        self._others = state.obstacle_x

    def is_clear(self, x: Floats) -> bool:
        """Whether nothing intersects at x (node_count, 3) [m]."""
        return not (self._is_on and has_intersections(self._surface, self._all(x)))

    def gap(self, x: Floats) -> float:
        """The least gap over that at which contact begins, at most 1."""
        if not self._is_on:
            return 1.0
        return least_relative_gap(self._surface, self._candidates(x, x), self._all(x))

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
            candidates = self._candidates(x, y)
            fraction = step_limit(self._surface, candidates, start, self._all(y)).fraction
            if fraction >= 1.0:
                return y
            found = find_guards(self._surface, candidates, start, self._all(y))
            if not len(found.least):
                break
            guards = found if guards is None else guards.with_others(found)
            y = project_guarded(isometry, start, still, guards)[:count]
        fraction = step_limit(self._surface, self._candidates(x, y), start, self._all(y)).fraction
        return y if fraction >= 1.0 else x + fraction * (y - x)

    def _candidates(self, x: Floats, y: Floats) -> Candidates:
        return find_candidates(self._surface, self._all(x), self._all(y), self._surface.reach)

    def _all(self, x: Floats) -> Floats:
        return np.ascontiguousarray(np.concatenate([x, self._others]))
