"""When Newton's method may stop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.energies.nodal import NodalQuadratic
from crumple.typing import Floats

NEVER = 10**9
"""Iterations that no solve takes."""
SLOW = 0.1
"""Predicted decrease over the one before above which convergence is slow."""


@dataclass(frozen=True)
class NewtonOptions:
    """When to stop.

    `energy` [J]: stop when half the Newton decrement, the decrease that the quadratic model predicts, is below it;
    `distance` [m]: and no node would move farther than this. With an `inertia`, the first grows by `share`² of its
    value, and the second by `share` of the farthest that a node is from its centre.
    `slow_patience`: after so many iterations, errors of the motion `slow_factor` times as large are enough where an
    iteration comes nearer by less than an order of magnitude;
    `patience`: after so many iterations, `loose_energy` and `loose_distance` are enough.
    `exact_pause`: iterations without the exact Hessian after it was first found to be indefinite.
    """

    energy: float
    distance: float
    max_iterations: int = 60
    inertia: NodalQuadratic | None = None
    share: float = 0.0
    slow_patience: int = NEVER
    slow_factor: float = 1.0
    patience: int = 0
    loose_energy: float = 0.0
    loose_distance: float = 0.0
    exact_pause: int = 1

    def is_met(self, x: Floats, direction: Floats, predicted: float, factor: float = 1.0) -> bool:
        """Whether a `direction` (n, 3) [m] from x with the `predicted` decrease [J] may be the last; `factor`: on the
        errors that are allowed."""
        energy, distance = self.energy, self.distance
        if self.inertia is not None:
            energy += self.share**2 * float(np.sum(self.inertia.value(x)))
            distance += self.share * _farthest(x[self.inertia.stencil[:, 0]] - self.inertia.center)
        return predicted <= factor**2 * energy and _farthest(direction) <= factor * distance

    def is_met_loosely(self, x: Floats, direction: Floats, predicted: float, iterations: int, before: float) -> bool:
        """The same after many `iterations`, the last but one of which predicted the decrease `before` [J]."""
        if iterations >= self.patience and predicted <= self.loose_energy:
            return _farthest(direction) <= self.loose_distance
        is_slow = iterations >= self.slow_patience and predicted > SLOW * before
        return is_slow and self.is_met(x, direction, predicted, self.slow_factor)


def _farthest(displacement: Floats) -> float:
    """The longest of the displacements (n, 3) [m]."""
    return float(np.sqrt(np.max(np.einsum("ij,ij->i", displacement, displacement), initial=0.0)))
