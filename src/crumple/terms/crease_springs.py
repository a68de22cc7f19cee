"""Creases that springs fold: ½ κ ℓ (θ − θ̄)² on every hinge, in place of the sheet's own bending there.

The rest angle θ̄ is the wanted one plus what has yielded: beyond the yield moment it follows, |κ (θ − θ̄)| ≤ m_y, so that
a crease which is let go springs back by m_y/κ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crumple.boundary.creases import SPRING, Crease, crease_hinges, fold_targets, hinge_lengths, per_row
from crumple.contract import Energy, MountedTerm, Stage, Term
from crumple.energies.bending_hinge import BendingHinge
from crumple.energies.elastic_energy import drained_power
from crumple.materials.material import Material
from crumple.runtime.typing import Floats, Ints
from crumple.state import CreaseRows, State
from crumple.terms.crease_memory import SPRUNG, aligned_rows, aligned_state, fresh_rows, with_rows


@dataclass(frozen=True)
class CreaseSprings(Term):
    """The creases that springs fold."""

    creases: tuple[Crease, ...]
    materials: tuple[Material, ...]
    name = "crease springs"
    is_in_play = True

    def mount(self, state: State) -> MountedTerm:
        mesh = state.mesh
        owner, column = crease_hinges(mesh, self.creases)
        sprung = np.array([*(one.drive == SPRING for one in self.creases), False])
        chosen = np.flatnonzero(sprung[owner]).astype(np.int32)
        damping = np.array([material.damping for material in self.materials])
        return MountedSprings(
            creases=self.creases,
            rows=fresh_rows(mesh, chosen, SPRUNG),
            stencil=np.ascontiguousarray(mesh.hinges.nodes[chosen]),
            owner=owner[chosen],
            column=column[chosen],
            length=hinge_lengths(mesh)[chosen],
            damping=damping[mesh.face_material[mesh.hinges.faces[chosen]]].mean(axis=1),
        )


@dataclass(frozen=True)
class MountedSprings(MountedTerm):
    """The springs on one mesh: `rows` as they would be without memory, `stencil` (n, 4), `owner` and `column` (n,) as
    in `crease_hinges`, `length` (n,) [m], `damping` (n,) [s]."""

    creases: tuple[Crease, ...]
    rows: CreaseRows
    stencil: Ints
    owner: Ints
    column: Ints
    length: Floats
    damping: Floats

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return [self._energy(state, time)]

    def over(self, stage: Stage) -> Sequence[Energy]:
        energy = self._energy(stage.state, stage.time)
        if stage.is_static or not self.damping.any():
            return [energy]
        return energy.damped(stage.past(energy.deformation), self.damping / stage.span)

    def drained(self, stage: Stage, x: Floats, half_turn: Floats) -> float:
        if stage.is_static:
            return 0.0
        return drained_power(self._energy(stage.state, stage.time), self.damping, stage, x)

    def driven_work(self, before: State, after: State) -> float:
        """The mean of the moments before and after times the turn of the rest angles: with a stiffness that does not
        depend on time, that is the mean of what a shape stores more at the end than at the start of the step."""
        shapes = (before, after) if before.mesh is after.mesh else (after, after)
        gained = [
            float(np.sum(self._energy(one, after.time).value(one.x) - self._energy(one, before.time).value(one.x)))
            for one in shapes
        ]
        return 0.5 * sum(gained)

    def begin(self, state: State, step: float) -> State:
        return aligned_state(state, self.rows, (SPRUNG,))

    def relax(self, state: State) -> State:
        return aligned_state(state, self.rows, (SPRUNG,))

    def settle(self, state: State, step: float) -> State:
        """The state with the rest angles moved of springs that are bent beyond their yield moment."""
        limit = per_row(self.creases, self.owner, "yield_moment")
        if not np.isfinite(limit).any():
            return state
        stiffness = np.maximum(per_row(self.creases, self.owner, "stiffness"), 1e-300)
        rows = aligned_rows(state.creases, self.rows)
        energy = self._energy(state, state.time)
        bent = energy.deformation(state.x) - energy.rest_angle
        flow = bent - np.clip(bent, -limit / stiffness, limit / stiffness)
        if not np.any(flow):
            return state
        return with_rows(state, replace(rows, shift=rows.shift + flow), (SPRUNG,))

    def _energy(self, state: State, time: float) -> BendingHinge:
        shift = aligned_rows(state.creases, self.rows).shift
        stiffness = per_row(self.creases, self.owner, "stiffness") * self.length
        return BendingHinge(self.stencil, stiffness, fold_targets(self.creases, self.owner, self.column, time) + shift)
