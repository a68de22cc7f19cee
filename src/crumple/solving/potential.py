"""The function that a step minimises: a sum of energies with fixed stencils plus the contact barrier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.contract.energy import Energy
from crumple.linalg import add_vectors, multiply_elements
from crumple.solving.touching import Touching
from crumple.timing import PhaseTimer
from crumple.typing import Floats, Ints


@dataclass(frozen=True)
class Expansion:
    """Gradient (free_count, 3) [N] at a point and the element Hessians as (stencil, blocks) terms [N/m]."""

    gradient: Floats
    terms: list[tuple[Ints, Floats]]
    contacts: int

    def pull(self, displacement: Floats) -> Floats:
        """Force on the free nodes that a displacement (node_count, 3) causes to first order, (free_count, 3) [N]."""
        force = np.zeros_like(self.gradient)
        for stencil, blocks in self.terms:
            add_vectors(stencil, multiply_elements(stencil, blocks, displacement), -1.0, force)
        return force


class Potential:
    """Σ energies + barrier + friction over x (node_count, 3), of which the first `free_count` nodes are unknown."""

    def __init__(
        self, free_count: int, energies: Sequence[Energy], touching: Touching | None, timer: PhaseTimer
    ) -> None:
        self.free_count = free_count
        self.touching = touching
        self._energies = list(energies)
        self._timer = timer

    def add(self, energy: Energy) -> None:
        """Add an energy with a fixed stencil."""
        self._energies.append(energy)

    def step_limit(self, x: Floats, direction: Floats) -> float:
        """The share of the `direction` (node_count, 3) that the barriers among the energies allow."""
        return min((energy.step_limit(x, direction) for energy in self._energies), default=1.0)

    def value(self, x: Floats) -> float:
        """The value [J]; infinite where surfaces touch or pass through each other."""
        with self._timer("line search"):
            total = 0.0
            for energy in self._energies:
                total += float(np.sum(energy.value(x)))
            if self.touching is not None:
                total += self.touching.value(x)
        return total if np.isfinite(total) else np.inf

    def gradient(self, x: Floats) -> Floats:
        """The derivative by the free nodes at x, (free_count, 3) [N]."""
        gradient = np.zeros((self.free_count, 3))
        contacts = [] if self.touching is None else self.touching.energies(x)
        for energy in (*self._energies, *contacts):
            add_vectors(energy.stencil, energy.gradient(x), 1.0, gradient)
        return gradient

    def expand(self, x: Floats, exact: bool) -> Expansion:
        """Gradient and Hessian blocks at x; PSD blocks unless `exact`, which keeps compressive membrane stress."""
        gradient = np.zeros((self.free_count, 3))
        terms = []
        with self._timer("energy"):
            for energy in self._energies:
                project = not (exact and energy.keeps_stress)
                vectors, blocks = energy.gradient_hessian(x, project)
                add_vectors(energy.stencil, vectors, 1.0, gradient)
                terms.append((energy.stencil, blocks))
        contacts = 0
        if self.touching is not None:
            for energy in self.touching.energies(x):
                with self._timer("contact"):
                    vectors, blocks = energy.gradient_hessian(x, True)
                    add_vectors(energy.stencil, vectors, 1.0, gradient)
                terms.append((energy.stencil, blocks))
            contacts = self.touching.contacts
        return Expansion(gradient, terms, contacts)
