"""Elastic energies and their stiffness-proportional damping.

With the damping time β [s] and the step dt, a membrane dissipates through A β/(2 dt) (E−E₀):C:(E−E₀) and a hinge
through ½ k β/dt (θ−θ₀)², E₀ and θ₀ taken before the step: Rayleigh's β K v written on the rates of strain and angle, so
that rigid motion is not damped. Both are the elastic energies with other rest values, so that elastic energy and
dissipation are *one* energy of the same kind, at no cost:

    C/2 D(E₁)² + r C/2 D(E₀)² = (1+r) C/2 D((E₁ + r E₀)/(1+r))² + constant,   r = β/dt
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from crumple.contract import Stage
from crumple.contract.energy import Energy
from crumple.runtime.typing import Floats


class ElasticEnergy(Energy):
    """An energy of a deformation (strain, angle) beyond its rest value."""

    @abstractmethod
    def deformation(self, x: Floats) -> Floats:
        """The deformation of each element in the pose x, (n, …)."""

    @abstractmethod
    def damped(self, before: Floats, ratio: Floats) -> Sequence[Energy]:
        """Elastic energy plus its dissipation over a step, up to a constant per element.

        `before` (n, …): the deformation before the step;  `ratio` (n,): β/dt.
        """

    @abstractmethod
    def dissipation(self, before: Floats, ratio: Floats) -> Energy:
        """The dissipation of `damped` alone. It is quadratic in the deformation's change, so that the power [W] which
        it takes at the rate (deformation − before)/dt is twice its value over dt."""


def drained_power(energy: ElasticEnergy, damping: Floats, stage: Stage, x: Floats) -> float:
    """The power [W] that damping with the times `damping` (n,) [s] takes at the end of a `stage`, at x
    (node_count, 3)."""
    if not damping.any():
        return 0.0
    loss = energy.dissipation(stage.past(energy.deformation), damping / stage.span)
    return 2.0 * float(np.sum(loss.value(x))) / stage.span
