"""The membrane: resistance to stretching, with damping and yielding in plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from crumple.contract import Energy, MountedTerm, Stage, Term
from crumple.energies.driving_force import membrane_force
from crumple.energies.elastic_energy import ElasticEnergy, drained_power
from crumple.energies.sheets import MembraneParts, make_membranes
from crumple.energies.stress import on_pattern_axes
from crumple.materials.material import Material
from crumple.plasticity import total_strain, yield_strain
from crumple.runtime.remembered import Equal, Remembered
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import Change, State
from crumple.state.transfer import Custom


@dataclass(frozen=True)
class Membrane(Term):
    """The membranes of sheets of the `materials`; they yield if `is_plastic` and their material has a yield strain."""

    materials: tuple[Material, ...]
    is_plastic: bool = True
    name = "membrane"
    is_in_play = True

    @property
    def yields(self) -> bool:
        return self.is_plastic and any(np.isfinite(material.yield_strain) for material in self.materials)

    def mount(self, state: State) -> MountedTerm:
        known = state.mesh, Equal(self.is_plastic), *self.materials
        return _MOUNTED.find(known, lambda: self._mount(state))

    def _mount(self, state: State) -> MountedMembrane:
        limits = np.array([material.yield_strain for material in self.materials], np.float64)[state.mesh.face_material]
        yields = self.is_plastic and bool(np.isfinite(limits).any())
        return MountedMembrane(make_membranes(state.mesh, self.materials), limits if yields else None)


_MOUNTED: Remembered[MountedMembrane] = Remembered(2)
"""The same on the same mesh, from frame to frame."""


class _Known:
    """What was found last on one mesh: the energies, and their values."""

    def __init__(self) -> None:
        self.parts: Remembered[list[tuple[ElasticEnergy, Floats]]] = Remembered()
        self.value: Remembered[float] = Remembered()


@dataclass(frozen=True)
class MountedMembrane(MountedTerm):
    """The membranes of one mesh; `limit` (face_count,): strain at which faces yield, None when none can; `known`: see
    `_Known`."""

    parts: MembraneParts
    limit: Floats | None
    known: _Known = field(default_factory=_Known, compare=False, repr=False)

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return [energy for energy, _ in self._at(state.x, state.plastic_strain)]

    def measure(self, state: State) -> float:
        parts = state.x, state.plastic_strain
        return self.known.value.find(parts, lambda: super(MountedMembrane, self).measure(state))

    def _at(self, x: Floats, rest_strain: Floats) -> list[tuple[ElasticEnergy, Floats]]:
        """The energies and damping times, see `MembraneParts.at`; only measured membranes depend on the pose."""
        pose = None if self.parts.measured is None else x
        return self.known.parts.find((rest_strain, pose), lambda: self.parts.at(x, rest_strain))

    def over(self, stage: Stage) -> Sequence[Energy]:
        energies: list[Energy] = []
        for energy, damping in self._at(stage.start, stage.state.plastic_strain):
            if stage.is_static or not damping.any():
                energies.append(energy)
            else:
                energies += energy.damped(stage.past(energy.deformation), damping / stage.span)
        return energies

    def drained(self, stage: Stage, x: Floats, half_turn: Floats) -> float:
        if stage.is_static:
            return 0.0
        return sum(
            drained_power(energy, damping, stage, x)
            for energy, damping in self._at(stage.start, stage.state.plastic_strain)
        )

    def undamped(self, faces: Bools) -> MountedMembrane:
        parts = self.parts
        a, b, c = (np.where(faces[own], 0.0, time) for own, time in zip(parts.faces, parts.damping, strict=True))
        return replace(self, parts=replace(parts, damping=(a, b, c)), known=_Known())

    def driving_force(self, state: State, weight: Floats, stage: Stage | None) -> Sequence[Floats]:
        parts: list[Floats] = []
        for energy, damping, own in self.parts.by_strain(state.x, state.plastic_strain):
            faces = own.astype(np.int32)
            parts.append(membrane_force(state.mesh, energy, faces, state.x, weight))
            if stage is not None and damping.any():
                lag = replace(
                    energy,
                    coefficients=energy.coefficients * (damping / stage.span)[:, None],
                    rest_strain=stage.past(energy.deformation),
                )
                parts.append(membrane_force(state.mesh, lag, faces, state.x, weight))
        return parts

    def tension(self, state: State, faces: Ints, stage: Stage | None) -> tuple[Floats, Floats] | None:
        tension, modulus = np.zeros((state.mesh.face_count, 3)), np.full(state.mesh.face_count, np.inf)
        for energy, damping, own in self.parts.by_strain(state.x, state.plastic_strain):
            among = np.flatnonzero(np.isin(own, faces)).astype(np.int32)
            if stage is not None and damping.any():
                (energy,) = energy.damped(stage.past(energy.deformation), damping / stage.span)
            tension[own[among]] = energy.tension(state.x, among)
            modulus[own[among]] = energy.modulus(among)
        return on_pattern_axes(tension[faces], self.parts.grain[faces]), modulus[faces]

    def field_rules(self, *, is_cut: bool) -> Mapping[str, Custom]:
        """Where nothing yields in plane, E_p is that of a rest shape, which the embedding has on any mesh."""
        return {} if self.limit is not None else {"plastic_strain": follow_rest_shape}

    def settle(self, state: State, step: float) -> State:
        if self.limit is None:
            return state
        plastic = yield_strain(total_strain(state.mesh, state.x), state.plastic_strain, self.limit)
        same = np.array_equal(plastic, state.plastic_strain)
        return state if same else state.replaced(plastic_strain=plastic)


def follow_rest_shape(state: State, y: Floats, change: Change) -> Mapping[str, Floats]:
    """E_p (face_count, 3) on the new mesh: that of the embedding `y` (node_count, 3) [m], and what the old one lacked.

    A mean over the old faces belongs to no shape, and a new node that is placed on the smooth surface would be
    strained: glass would break by being remeshed.
    """
    if not np.any(state.plastic_strain):
        return {"plastic_strain": np.zeros((change.mesh.face_count, 3))}
    lacking = state.plastic_strain - total_strain(state.mesh, state.y)
    return {"plastic_strain": np.asarray(total_strain(change.mesh, y) + change.face_operator @ lacking, np.float64)}
