"""The function that a step minimises: a sum of energies with fixed stencils plus the contact barrier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crumple.contact import Friction
from crumple.contract.constraint import Constraint
from crumple.contract.energy import Energy
from crumple.linalg import add_vectors, multiply_elements
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats, Ints
from crumple.solving.multipliers import worst
from crumple.solving.pose import Pose
from crumple.solving.step_contact import StepContact
from crumple.solving.system import TurnTerm


class Expansion(NamedTuple):
    """Gradient at a point and the element Hessians.

    `gradient` (free_count, 3) [N], `moments` (turn_count,) [N m];  `terms`: (stencil, blocks) [N/m];
    `turn_terms`: what of the Hessians belongs to turns.
    """

    gradient: Floats
    moments: Floats
    terms: list[tuple[Ints, Floats]]
    turn_terms: list[TurnTerm]
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
        energies: Sequence[Energy],
        step_contact: StepContact | None,
        timer: PhaseTimer,
        *,
        turn_count: int = 0,
    ) -> None:
        self.free_count = free_count
        self.turn_count = turn_count
        self.step_contact = step_contact
        self._energies = _turns_last(energies)
        self._timer = timer

    def add(self, energy: Energy) -> None:
        """Add an energy with a fixed stencil."""
        self._energies = _turns_last([*self._energies, energy])

    def step_limit(self, x: Floats, direction: Floats) -> float:
        """The fraction of the `direction` (node_count, 3) that the barriers among the energies allow."""
        limits = [energy.step_limit(x, direction) for energy in self._energies if energy.is_barrier]
        return min(limits, default=1.0)

    def free_length(self, pose: Pose, motion: Pose, length: float = 1.0) -> tuple[float, tuple[int, ...]]:
        """How much of `length` times the way is free of collisions and within other barriers, and the parts that limit
        it."""
        along = motion.x if length == 1.0 else length * motion.x
        allowed = self.step_limit(pose.x, along)
        if self.step_contact is None:
            return allowed, ()
        free, parts = self.step_contact.sweep(pose.x, pose.x + allowed * along)
        return free * allowed, parts

    def relative_gap(self, x: Floats) -> float:
        """Smallest gap at x over the activation distance; infinite when nothing is near."""
        return (
            np.inf if self.step_contact is None else self.step_contact.smallest_gap(x) / self.step_contact.surface.dhat
        )

    def half_direction(self, pose: Pose, direction: Floats, turn: Floats) -> Floats:
        """The change of the half turns (edge_count,) with a direction (node_count, 3) and free turns (turn_count,)."""
        change = np.zeros_like(pose.half_turn)
        every = np.zeros_like(change)
        every[: self.turn_count] = turn
        for energy in self._energies:
            if energy.turns.shape[1]:
                change[: self.turn_count] += energy.half_direction(pose.x, direction, every)[: self.turn_count]
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
                total += float(np.sum(energy.value(pose.x, pose.half_turn)))
            if self.step_contact is not None:
                total += self.step_contact.value(pose.x)
        return total if np.isfinite(total) else np.inf

    def gradient(self, pose: Pose) -> Floats:
        """The derivative by the free nodes, (free_count, 3) [N]."""
        gradient = np.zeros((self.free_count, 3))
        contacts = [] if self.step_contact is None else self.step_contact.energies(pose.x)
        for energy in _turns_last([*self._energies, *contacts]):
            add_vectors(energy.stencil, energy.gradient(pose.x, pose.half_turn), 1.0, gradient)
        return gradient

    def expand(self, pose: Pose, exact: bool, *, slips: bool = False, before: Floats | None = None) -> Expansion:
        """Gradient and Hessian blocks; PSD blocks unless `exact`, which keeps compressive membrane stress.

        `slips`: friction with its own curvature, none along a slip, instead of the quadratic above it;
        `before` (node_count, 3): where the last step came from, if its predicted stress counts, see `Energy.predict`.
        """
        gradient, moments = np.zeros((self.free_count, 3)), np.zeros(self.turn_count)
        terms, turn_terms = [], []
        with self._timer("energy"):
            for energy in self._energies:
                found = energy.derivatives(pose.x, pose.half_turn, not (exact and energy.keeps_stress))
                add_vectors(energy.stencil, found.vectors, 1.0, gradient)
                if before is not None:
                    energy.predict(pose.x, before, not (exact and energy.keeps_stress), found.blocks)
                terms.append((energy.stencil, found.blocks))
                if found.moments.size:
                    turns = energy.turns.ravel()
                    free = turns < self.turn_count
                    moments += np.bincount(turns[free], found.moments.ravel()[free], self.turn_count)
                    turn_terms.append(TurnTerm(energy.stencil, energy.turns, found.mixed, found.own))
        contacts = 0
        if self.step_contact is not None:
            for energy in self.step_contact.energies(pose.x):
                with self._timer("contact"):
                    vectors, blocks = energy.gradient_hessian(pose.x, not (slips and isinstance(energy, Friction)))
                    add_vectors(energy.stencil, vectors, 1.0, gradient)
                terms.append((energy.stencil, blocks))
            contacts = self.step_contact.contacts
        return Expansion(gradient, moments, terms, turn_terms, contacts)


def _turns_last(energies: Sequence[Energy]) -> list[Energy]:
    """The energies in their order, but those with turns at the end: the order in which all sums are taken."""
    return sorted(energies, key=lambda energy: energy.turns.shape[1] > 0)
