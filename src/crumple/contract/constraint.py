"""The contract of conditions that a solve enforces by multipliers, up to a finite strength.

A row demands c(x) = 0, or that c has no wrong sign. With its multiplier λ, weight ρ, strength S and m = λ + ρ c it is
the energy of an augmented Lagrangian,

    ψ = (h(m) − λ²)/2ρ,   h = m² where |m| ≤ S, else 2 S |m| − S²;   h = 0 where an inequality is slack,

whose gradient is clip(m) ∇c: what a row bears is never more than its strength. The solver moves λ (see
`solving.multipliers`) until c vanishes or the row is saturated.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Self

import numpy as np

from crumple.contract.energy import Energy
from crumple.runtime.typing import Bools, Floats

FULL = 1.0 - 1e-9
"""Share of its strength from which a row is saturated."""


class Constraint(Energy):
    """A batch of conditions of r rows each on k nodes.

    `multiplier` (n, r) λ;  `weight` (n,) ρ;  `strength` (n,) S;  `tolerance` (n,) of |c| at which a solve may end.
    """

    multiplier: Floats
    weight: Floats
    strength: Floats
    tolerance: Floats

    @abstractmethod
    def residual(self, x: Floats) -> Floats:
        """c of each row, (n, r)."""

    @abstractmethod
    def slopes(self, x: Floats) -> Floats:
        """∂c/∂x, (n, r, k, 3)."""

    @abstractmethod
    def clip(self, moment: Floats) -> Floats:
        """What rows bear that m (n, r) asks for: no more than S, nothing where an inequality is slack."""

    @abstractmethod
    def is_equality(self) -> Bools:
        """Which conditions hold in both directions, (n,)."""

    @abstractmethod
    def remembered(self, x: Floats) -> Floats:
        """What the rows bear at x in a form that does not depend on the solve, (n, 3)."""

    @abstractmethod
    def resumed(self, memory: Floats) -> Self:
        """The same with the multipliers that were `remembered`, (n, 3)."""

    def with_multiplier(self, multiplier: Floats) -> Self:
        """The same with other multipliers (n, r)."""
        return replace(self, multiplier=multiplier)  # type: ignore[type-var]

    def wanted(self, residual: Floats) -> Floats:
        """m = λ + ρ c, (n, r)."""
        return self.multiplier + self.weight[:, None] * residual

    def is_saturated(self, residual: Floats) -> Bools:
        """Which conditions bear all that they can, (n,)."""
        borne = self.clip(self.wanted(residual))
        return np.asarray(np.linalg.norm(borne, axis=1) >= FULL * self.strength)

    def excess(self, residual: Floats) -> Floats:
        """|c| over its tolerance, (n,); 0 where the condition is slack or saturated.

        A slack inequality is met: what its multiplier still asks for has the wrong sign.
        """
        wanted = self.wanted(residual)
        borne = self.clip(wanted)
        met = ~self.is_equality() & ~np.any(borne, axis=1)
        off = np.linalg.norm(residual, axis=1) / self.tolerance
        return np.where(met | self.is_saturated(residual), 0.0, off)
