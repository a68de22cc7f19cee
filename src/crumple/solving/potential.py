"""The function that a step minimises: a sum of energies with fixed stencils plus the contact barrier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.contact import Friction
from crumple.contract.constraint import Constraint
from crumple.contract.energy import EdgeDerivatives, EdgeEnergy, Energy
from crumple.linalg import add_vectors, multiply_elements
from crumple.solving.multipliers import worst
from crumple.solving.pose import Pose
from crumple.solving.touching import Touching
from crumple.timing import PhaseTimer
from crumple.typing import Floats, Ints


@dataclass(frozen=True)
class Expansion:
    """Gradient at a point and the element Hessians.

    `gradient` (free_count, 3) [N], `moments` (turn_count,) [N m];  `terms`: (stencil, blocks) [N/m];
    `edge_terms`: (energy, derivatives) of those with turns, whose node blocks are among `terms`.
    """

    gradient: Floats
    moments: Floats
    terms: list[tuple[Ints, Floats]]
    edge_terms: list[tuple[EdgeEnergy, EdgeDerivatives]]
    contacts: int

    def pull(self, displacement: Floats) -> Floats:
        """Force on the free nodes that a displacement (node_count, 3) causes to first order, (free_count, 3) [N]."""
        force = np.zeros_like(self.gradient)
        for stencil, blocks in self.terms:
            add_vectors(stencil, multiply_elements(stencil, blocks, displacement), -1.0, force)
        return force


class Potential:
    """Σ energies + barrier + friction over a pose, of which the first `free_count` nodes and the first `turn_count`
    turns are unknown."""

    def __init__(
        self,
        free_count: int,
        energies: Sequence[Energy | EdgeEnergy],
        touching: Touching | None,
        timer: PhaseTimer,
        *,
        turn_count: int = 0,
    ) -> None:
        self.free_count = free_count
        self.turn_count = turn_count
        self.touching = touching
        self._energies = [energy for energy in energies if not isinstance(energy, EdgeEnergy)]
        self._edge_energies = [energy for energy in energies if isinstance(energy, EdgeEnergy)]
        self._timer = timer

    def add(self, energy: Energy) -> None:
        """Add an energy with a fixed stencil."""
        self._energies.append(energy)

    def step_limit(self, x: Floats, direction: Floats) -> float:
        """The share of the `direction` (node_count, 3) that the barriers among the energies allow."""
        return min((energy.step_limit(x, direction) for energy in self._energies), default=1.0)

    def half_direction(self, pose: Pose, direction: Floats, turn: Floats) -> Floats:
        """The change of the half turns (edge_count,) with a direction (node_count, 3) and free turns (turn_count,)."""
        change = np.zeros_like(pose.half_turn)
        every = np.zeros_like(change)
        every[: self.turn_count] = turn
        for bending in self._edge_energies:
            if bending.owns_turns:
                change[: self.turn_count] = bending.half_direction(pose.x, direction, every)[: self.turn_count]
        return change

    @property
    def constraints(self) -> list[Constraint]:
        """The energies that are constraints."""
        return [energy for energy in self._energies if isinstance(energy, Constraint)]

    def take_multipliers(self, multipliers: Sequence[Floats]) -> None:
        """Give each constraint its new multipliers (n, r)."""
        found = iter(multipliers)
        self._energies = [
            energy.with_multiplier(next(found)) if isinstance(energy, Constraint) else energy
            for energy in self._energies
        ]

    def resume_multipliers(self, memory: Sequence[Floats]) -> None:
        """Give each constraint what another solve has left in its `Outcome.multipliers`, (n, 3) each."""
        self.take_multipliers(
            [one.resumed(rows).multiplier for one, rows in zip(self.constraints, memory, strict=True)]
        )

    def worst_residual(self, x: Floats) -> float:
        """The largest residual of the constraints over its tolerance, of those neither slack nor saturated."""
        constraints = self.constraints
        return worst(constraints, [one.residual(x) for one in constraints])

    def value(self, pose: Pose) -> float:
        """The value [J]; infinite where surfaces touch or pass through each other."""
        with self._timer("line search"):
            total = 0.0
            for energy in self._energies:
                total += float(np.sum(energy.value(pose.x)))
            for bending in self._edge_energies:
                total += float(np.sum(bending.value(pose.x, pose.half_turn)))
            if self.touching is not None:
                total += self.touching.value(pose.x)
        return total if np.isfinite(total) else np.inf

    def gradient(self, pose: Pose) -> Floats:
        """The derivative by the free nodes, (free_count, 3) [N]."""
        gradient = np.zeros((self.free_count, 3))
        contacts = [] if self.touching is None else self.touching.energies(pose.x)
        for energy in (*self._energies, *contacts):
            add_vectors(energy.stencil, energy.gradient(pose.x), 1.0, gradient)
        for bending in self._edge_energies:
            add_vectors(bending.stencil, bending.gradient(pose.x, pose.half_turn)[0], 1.0, gradient)
        return gradient

    def expand(self, pose: Pose, exact: bool, *, slips: bool = False) -> Expansion:
        """Gradient and Hessian blocks; PSD blocks unless `exact`, which keeps compressive membrane stress.

        `slips`: friction with its own curvature, none along a slip, instead of the quadratic above it.
        """
        gradient, moments = np.zeros((self.free_count, 3)), np.zeros(self.turn_count)
        terms, edge_terms = [], []
        with self._timer("energy"):
            for energy in self._energies:
                project = not (exact and energy.keeps_stress)
                vectors, blocks = energy.gradient_hessian(pose.x, project)
                add_vectors(energy.stencil, vectors, 1.0, gradient)
                terms.append((energy.stencil, blocks))
            for bending in self._edge_energies:
                found = bending.gradient_hessian(pose.x, pose.half_turn)
                add_vectors(bending.stencil, found.vectors, 1.0, gradient)
                edges = bending.edges.ravel()
                free = edges < self.turn_count
                moments += np.bincount(edges[free], found.moments.ravel()[free], self.turn_count)
                terms.append((bending.stencil, found.blocks))
                edge_terms.append((bending, found))
        contacts = 0
        if self.touching is not None:
            for energy in self.touching.energies(pose.x):
                with self._timer("contact"):
                    vectors, blocks = energy.gradient_hessian(pose.x, not (slips and isinstance(energy, Friction)))
                    add_vectors(energy.stencil, vectors, 1.0, gradient)
                terms.append((energy.stencil, blocks))
            contacts = self.touching.contacts
        return Expansion(gradient, moments, terms, edge_terms, contacts)
