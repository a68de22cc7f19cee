"""Newton's method with collision-bounded steps.

Obstacles and the sheet move together: the remaining displacement of the obstacles is part of the direction until
they have arrived (those steps are bounded by collisions only); from then on every step must decrease the potential.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.solving.potential import Expansion, Potential
from crumple.solving.system import NewtonSystem
from crumple.typing import Floats, Ints

ARMIJO = 1e-4
"""Share of the decrease that the gradient promises which a step must deliver."""
BACKTRACKS = 40
"""Halvings of a step before the line search gives up."""
ROUNDING = 1e-13
"""Relative decrease of the potential below which rounding decides."""
BLOCKED_STEP = 0.02
"""A collision-free fraction below this, several times in a row, means that an obstacle has no room."""
BLOCKED_PATIENCE = 6


@dataclass(frozen=True)
class NewtonOptions:
    """When to stop.

    `energy` [J]: stop when half the Newton decrement, the predicted decrease, is below it;
    `distance` [m]: and no node would move farther than this.
    """

    energy: float
    distance: float
    max_iterations: int = 100


@dataclass(frozen=True)
class Outcome:
    """Where Newton's method ended: x (node_count, 3), obstacles included; `reason` is "" when it converged.

    `held`: obstacle parts that could not follow their motion;  `gap`: predicted decrease still possible [J].
    """

    x: Floats
    reason: str
    iterations: int
    contacts: int
    gap: float
    min_gap: float = float("inf")
    held: tuple[int, ...] = ()

    @property
    def converged(self) -> bool:
        return self.reason == ""


class Newton:
    """One minimisation; keeps what its iterations share."""

    def __init__(self, potential: Potential, system: NewtonSystem, options: NewtonOptions) -> None:
        self._potential = potential
        self._system = system
        self._options = options
        self._exact = False
        self._exact_wait = 0
        self._exact_pause = 1

    def minimise(self, x: Floats, obstacle_target: Floats, node_part: Ints, *, hold: bool) -> Outcome:
        """Minimise from x (node_count, 3) while the obstacle nodes go to `obstacle_target` (obstacle_nodes, 3).

        `hold`: let obstacles that have no room stay behind instead of giving up.
        """
        free = self._potential.free_count
        x = x.copy()
        held: set[int] = set()
        blocked = 0
        contacts = 0
        energy: float | None = None
        for iteration in range(1, self._options.max_iterations + 1):
            remaining = obstacle_target - x[free:]
            remaining[np.isin(node_part[free:], sorted(held))] = 0.0
            moving = bool(np.any(remaining))
            direction, expansion = self._direction(x, remaining, moving)
            contacts = max(contacts, expansion.contacts)
            if direction is None:
                return Outcome(x, "the linear system is not positive definite", iteration, contacts, np.inf)
            decrement = -float(np.vdot(expansion.gradient, direction[:free]))
            if not np.isfinite(decrement):
                return Outcome(x, "a force is not finite", iteration, contacts, np.inf)
            if not moving and self._is_small(decrement, direction):
                return Outcome(x, "", iteration, contacts, 0.5 * decrement, held=tuple(sorted(held)))
            limit, parts = self._limit(x, direction)
            if moving:
                x += limit * direction
                energy = None
                if limit >= 1.0:
                    x[free:] = np.where(remaining != 0.0, obstacle_target, x[free:])
                blocked = blocked + 1 if limit < BLOCKED_STEP else 0
                if blocked >= BLOCKED_PATIENCE:
                    if not hold:
                        return Outcome(x, "an obstacle has no room", iteration, contacts, np.inf, held=parts)
                    held |= self._obstacles_to_hold(parts, node_part)
                    blocked = 0
                continue
            energy = self._potential.value(x) if energy is None else energy
            step, energy_new = self._search(x, direction, limit, energy, decrement)
            if step == 0.0:
                rounding = 0.5 * decrement <= ROUNDING * abs(energy)
                reason = "" if rounding else "no step along the Newton direction decreases the energy"
                return Outcome(x, reason, iteration, contacts, 0.5 * decrement, held=tuple(sorted(held)))
            x += step * direction
            energy = energy_new
        return Outcome(x, "Newton's method did not converge", iteration, contacts, np.inf, held=tuple(sorted(held)))

    def _direction(self, x: Floats, remaining: Floats, moving: bool) -> tuple[Floats | None, Expansion]:
        """The Newton direction of the free nodes together with the obstacles' remaining displacement."""
        expansion = self._potential.expand(x, False)
        right = -expansion.gradient
        direction = np.zeros_like(x)
        direction[self._potential.free_count :] = remaining
        if moving:
            right = right + expansion.pull(direction)
        if not self._system.factorise(self._system.assemble(expansion.terms)):
            return None, expansion
        direction[: self._potential.free_count] = self._system.solve(right)
        return direction, expansion

    def _is_small(self, decrement: float, direction: Floats) -> bool:
        distance = float(np.sqrt(np.max(np.einsum("ij,ij->i", direction, direction))))
        return 0.5 * decrement <= self._options.energy and distance <= self._options.distance

    def _limit(self, x: Floats, direction: Floats) -> tuple[float, tuple[int, ...]]:
        touching = self._potential.touching
        return (1.0, ()) if touching is None else touching.sweep(x, x + direction)

    def _search(
        self, x: Floats, direction: Floats, limit: float, energy: float, decrement: float
    ) -> tuple[float, float]:
        """Backtracking from the collision-free limit; (0, energy) when no step decreases the potential."""
        step = limit
        for _ in range(BACKTRACKS):
            trial = self._potential.value(x + step * direction)
            if trial <= energy - ARMIJO * step * decrement:
                return step, trial
            step *= 0.5
        return 0.0, energy

    @staticmethod
    def _obstacles_to_hold(parts: tuple[int, ...], node_part: Ints) -> set[int]:
        """The obstacle among the two blocking parts, or all obstacles when the sheet blocks itself."""
        obstacles = set(parts)
        return obstacles or set(np.unique(node_part).tolist())
