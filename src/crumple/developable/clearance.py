"""What contact allows: whether a pose is free of intersections, how close it is, and how far a motion may go."""

from __future__ import annotations

import numpy as np

from crumple.contact import find_candidates, has_intersections, least_relative_gap, step_limit
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import State


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
        every = self._all(x)
        return least_relative_gap(self._surface, find_candidates(self._surface, every, every, self._surface.reach), every)

    def cut(self, x: Floats, y: Floats) -> Floats:
        """How far the nodes come on the straight way from x to y (node_count, 3) [m] before anything touches."""
        if not self._is_on:
            return y
        start, end = self._all(x), self._all(y)
        candidates = find_candidates(self._surface, start, end, self._surface.reach)
        fraction = step_limit(self._surface, candidates, start, end).fraction
        return y if fraction >= 1.0 else x + fraction * (y - x)

    def _all(self, x: Floats) -> Floats:
        return np.ascontiguousarray(np.concatenate([x, self._others]))
