"""Constraints in Newton's method: their multipliers move with every iteration until all are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.contract.constraint import Constraint
from crumple.linalg import inner
from crumple.runtime.compiled import rule
from crumple.runtime.typing import Floats
from crumple.solving.linear_system import LinearSystem
from crumple.solving.multipliers import predict
from crumple.solving.pose import Pose
from crumple.solving.potential import Expansion, Potential
from crumple.solving.tuning import TUNING

LARGEST_BOOST = TUNING.multiplier_boost.value


@rule
def boosted(boost: float, is_short: bool) -> float:
    """The factor of the next changes, by whether a step that could be the last falls `is_short` of a constraint."""
    return min(2.0 * boost, LARGEST_BOOST) if is_short else 1.0


@dataclass(frozen=True)
class Moved:
    """The direction after multipliers have moved, `displacement` (free_count, 3) [m] and `turn` (turn_count,) [rad],
    the `force` (free_count, 3) [N] by which the gradient has changed and the `change` of the potential [J]."""

    displacement: Floats
    turn: Floats
    force: Floats
    change: float


class Enforcement:
    """The multipliers of one minimisation; `is_active`: they move until the constraints are met, else they stay."""

    def __init__(self, potential: Potential, system: LinearSystem, *, is_active: bool) -> None:
        self.is_active = is_active and bool(potential.constraints)
        self._potential = potential
        self._system = system
        self._boost = 1.0

    def is_met(self, pose: Pose) -> bool:
        """Whether all constraints that are to be enforced are met within their tolerance."""
        return not self.is_active or self._potential.worst_residual(pose.x) <= 1.0

    def note(self, *, is_short: bool) -> None:
        """Whether a step that could be the last `is_short` of meeting a constraint."""
        self._boost = boosted(self._boost, is_short)

    def move(self, pose: Pose, expansion: Expansion, displacement: Floats, turn: Floats) -> Moved | None:
        """Move the multipliers, if the direction descends then."""
        still = np.zeros_like(expansion.moments)
        found = predict(
            self._potential.constraints,
            pose.x,
            (displacement, turn),
            lambda force: self._system.respond(force, still),
            self._boost,
        )
        if found is None:
            return None
        slope = inner(expansion.gradient + found.force, found.displacement)
        slope += inner(expansion.moments, found.turn)
        if not slope < 0.0:
            return None
        before = _total(self._potential.constraints, pose.x)
        self._potential.take_multipliers(found.multipliers)
        change = _total(self._potential.constraints, pose.x) - before
        return Moved(found.displacement, found.turn, found.force, change)


def _total(constraints: Sequence[Constraint], x: Floats) -> float:
    """The energy of constraints at x [J]."""
    return sum(float(np.sum(one.value(x))) for one in constraints)
