"""What a solve is asked for: when Newton's method may stop, and how often it tries the exact Hessian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.energies.nodal import NodalQuadratic
from crumple.runtime.typing import Floats
from crumple.solving.stop import Stop
from crumple.solving.tuning import TUNING

LONGEST_PAUSE = TUNING.exact_hessian_pause.value

NEVER = 10**9
"""Iterations that no solve takes."""


@dataclass(frozen=True)
class NewtonOptions:
    """When to stop.

    `energy` [J]: stop when half the Newton decrement, the decrease that the quadratic model predicts, is below it;
    `distance` [m]: and no node would move farther than this. With an `inertia`, the first grows by `fraction`² of its
    value, and the second by `fraction` of the farthest that a node is from its centre.
    `slow_patience`: after so many iterations, errors of the motion `slow_factor` times as large are enough where an
    iteration comes nearer by less than an order of magnitude;
    `patience`: after so many iterations, `loose_energy` and `loose_distance` are enough.
    `exact_pause`: iterations without the exact Hessian after it was first found to be indefinite, `longest_pause` after
    it was found so many times.
    `may_shorten`: a shorter time step could be taken instead, so that a solve which hardly comes nearer may give up;
    `longest` [m]: no iteration moves a node farther;  `reach` [m]: a node that gets farther than this from its start
    shows that nothing holds the sheet;  `predicts`: geometric stiffness is that of predicted stress, see
    `Energy.predict`.
    """

    energy: float
    distance: float
    max_iterations: int = 60
    inertia: NodalQuadratic | None = None
    fraction: float = 0.0
    slow_patience: int = NEVER
    slow_factor: float = 1.0
    patience: int = 0
    loose_energy: float = 0.0
    loose_distance: float = 0.0
    exact_pause: int = 1
    longest_pause: int = LONGEST_PAUSE
    may_shorten: bool = False
    longest: float = np.inf
    reach: float = np.inf
    predicts: bool = False

    def stop_at(self, x: Floats) -> Stop:
        """The errors that are allowed at the pose x (node_count, 3) [m]."""
        energy, distance = self.energy, self.distance
        if self.inertia is not None:
            stored, farthest_node = self.spread(self.inertia, x)
            energy += self.fraction**2 * stored
            distance += self.fraction * farthest_node
        return Stop(
            energy,
            distance,
            self.slow_patience,
            self.slow_factor,
            self.patience,
            self.loose_energy,
            self.loose_distance,
        )

    def spread(self, inertia: NodalQuadratic, x: Floats) -> tuple[float, float]:
        """The energy [J] of the `inertia` at x, and how far a node is from its centre at most [m]."""
        return float(np.sum(inertia.value(x))), farthest(x[inertia.stencil[:, 0]] - inertia.center)

    def farthest(self, displacement: Floats) -> float:
        """The longest of the displacements (n, 3) [m]."""
        return farthest(displacement)


def farthest(displacement: Floats) -> float:
    """The longest of the displacements (n, 3) [m]."""
    return float(np.sqrt(np.max(np.einsum("ij,ij->i", displacement, displacement), initial=0.0)))
