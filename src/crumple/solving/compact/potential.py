"""The potential of a small sheet: the same sum as `solving.potential.Potential`, with energies made ready once."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np

from crumple.contact.friction import ReadyFriction
from crumple.contract.energy import Energy
from crumple.contract.ready import ReadyEnergy
from crumple.runtime.compiled import kernel
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats
from crumple.solving.pose import Pose
from crumple.solving.potential import Expansion, Potential
from crumple.solving.step_contact import StepContact
from crumple.solving.system import TurnTerm


class CompactPotential(Potential):
    """Σ energies + barrier + friction over a pose; see `Potential`. Energies of a kind are taken together."""

    def __init__(
        self,
        free_count: int,
        energies: Sequence[Energy],
        step_contact: StepContact | None,
        timer: PhaseTimer,
        *,
        turn_count: int = 0,
    ) -> None:
        super().__init__(free_count, energies, step_contact, timer, turn_count=turn_count)
        self._known: tuple[Pose, list[Energy], float] | None = None
        self._made_of: list[Energy] = []
        self._turning_of: list[Energy] = []
        self._turning: list[Energy] = []
        self._made: list[tuple[ReadyEnergy, bool]] = []

    @property
    def _ready(self) -> list[tuple[ReadyEnergy, bool]]:
        """The energies ready, each with whether it keeps stress; made again when multipliers have moved."""
        if self._made_of is not self._energies:
            self._made = _joined([(energy.ready(), energy.keeps_stress) for energy in self._energies])
            self._made_of = self._energies
        return self._made

    def value(self, pose: Pose) -> float:
        total = self._lasting_value(pose)
        if self.step_contact is not None:
            total += self.step_contact.value(pose.x)
        return total if isfinite(total) else inf

    def _lasting_value(self, pose: Pose) -> float:
        """The value without contact [J], kept for the next who asks: friction that is frozen anew leaves it as it
        is."""
        x, half_turn, known = pose.x, pose.half_turn, self._known
        if (
            known is not None
            and known[1] is self._energies
            and is_same_pose(known[0].x, known[0].half_turn, x, half_turn)
        ):
            return known[2]
        total = 0.0
        for energy, _ in self._ready:
            total += energy.value(x, half_turn)
        self._known = pose.copy(), self._energies, total
        return total

    def expand(self, pose: Pose, exact: bool, *, slips: bool = False, before: Floats | None = None) -> Expansion:
        gradient, moments = np.zeros((self.free_count, 3)), np.zeros(self.turn_count)
        terms, turn_terms, contacts = [], [], 0
        with self._timer("energy"):
            for energy, keeps_stress in self._ready:
                energy.expand(pose.x, pose.half_turn, not (exact and keeps_stress), gradient, moments)
                if before is not None:
                    energy.predict(pose.x, before, not (exact and keeps_stress))
                terms.append((energy.stencil, energy.blocks))
                if energy.turns.shape[1]:
                    turn_terms.append(TurnTerm(energy.stencil, energy.turns, energy.mixed, energy.own))
        if self.step_contact is not None:
            with self._timer("contact"):
                for ready in self.step_contact.ready_energies(pose.x):
                    project = not (slips and isinstance(ready, ReadyFriction))
                    ready.expand(pose.x, pose.half_turn, project, gradient, moments)
                    terms.append((ready.stencil, ready.blocks))
            contacts = self.step_contact.contacts
        return Expansion(gradient, moments, terms, turn_terms, contacts)

    def half_direction(self, pose: Pose, direction: Floats, turn: Floats) -> Floats:
        if self.turn_count < len(pose.half_turn):
            return super().half_direction(pose, direction, turn)
        if self._turning_of is not self._energies:
            self._turning = [energy for energy in self._energies if energy.turns.shape[1]]
            self._turning_of = self._energies
        turning = self._turning
        change = turning[0].half_direction(pose.x, direction, turn)
        for energy in turning[1:]:
            change = change + energy.half_direction(pose.x, direction, turn)
        return change


@kernel
def is_same_pose(x, half_turn, other_x, other_half_turn):
    """Whether two poses are the same in every number."""
    for e in range(half_turn.shape[0]):
        if half_turn[e] != other_half_turn[e]:
            return False
    for i in range(x.shape[0]):
        for k in range(3):
            if x[i, k] != other_x[i, k]:
                return False
    return True


def _joined(ready: list[tuple[ReadyEnergy, bool]]) -> list[tuple[ReadyEnergy, bool]]:
    """The energies with those of a kind taken together where the first of them was."""
    found: list[tuple[ReadyEnergy, bool]] = []
    for energy, keeps_stress in ready:
        for place, (other, _) in enumerate(found):
            both = other.joined(energy)
            if both is not None:
                found[place] = both, keeps_stress
                break
        else:
            found.append((energy, keeps_stress))
    return found
