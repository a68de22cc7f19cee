"""Bending across hinges, with damping, yielding and damage ([Narain2013] §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.contract import Energy, MountedTerm, Stage, Term
from crumple.energies.sheets import HingeParts, make_hinges
from crumple.geometry.curvature import CurvatureStencil, curvature_stencil, rest_angle, shape_curvature
from crumple.geometry.hinge import dihedral_angles
from crumple.materials.material import Material
from crumple.plasticity import (
    PlasticityOptions,
    YieldLaw,
    follow_curvature,
    follow_fraction,
    make_yield_law,
    yield_curvature,
)
from crumple.state import State


@dataclass(frozen=True)
class Bending(Term):
    """The bending of sheets of the `materials`, which yield by the rule of `plasticity`."""

    materials: tuple[Material, ...]
    plasticity: PlasticityOptions
    name = "bending"
    is_in_play = True

    @property
    def yields(self) -> bool:
        rule = self.plasticity.rule
        bends = any(np.isfinite(material.yield_curvature) for material in self.materials)
        return rule == "rest-angle" or (rule == "curvature" and bends)

    def mount(self, state: State) -> MountedTerm:
        law = make_yield_law(
            state.mesh,
            self.materials,
            hardening=self.plasticity.hardening,
            crease_radius=self.plasticity.crease_radius,
        )
        hinges = make_hinges(state.mesh, self.materials)
        return MountedBending(hinges, curvature_stencil(state.mesh), law, self.plasticity)


@dataclass(frozen=True)
class MountedBending(MountedTerm):
    """The hinges of one mesh and where its faces yield."""

    hinges: HingeParts
    stencil: CurvatureStencil
    law: YieldLaw
    plasticity: PlasticityOptions

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        angle = rest_angle(self.stencil, state.plastic_curvature)
        return [energy for energy, _ in self.hinges.at(angle, state.damage)]

    def over(self, stage: Stage) -> Sequence[Energy]:
        state = stage.state
        energies: list[Energy] = []
        for energy, damping in self.hinges.at(rest_angle(self.stencil, state.plastic_curvature), state.damage):
            if stage.is_static or not damping.any():
                energies.append(energy)
            else:
                energies += energy.damped(stage.past(energy.deformation), damping / stage.step)
        return energies

    @property
    def can_yield(self) -> bool:
        """Whether any face can yield."""
        if self.plasticity.rule == "curvature":
            return bool(np.isfinite(self.law.yield_curvature).any())
        return self.plasticity.rule == "rest-angle"

    def settle(self, state: State, step: float) -> State:
        if not self.can_yield:
            return state
        if self.plasticity.rule == "rest-angle":
            return self._follow(state, step)
        total = shape_curvature(state.mesh, state.x, self.stencil)
        yielded = yield_curvature(self.law, total, state.plastic_curvature, state.damage)
        if not yielded.count:
            return state
        return state.replaced(plastic_curvature=yielded.plastic_curvature, damage=yielded.damage)

    def _follow(self, state: State, step: float) -> State:
        """The state after the rest angles have followed the angles beyond the threshold."""
        plastic = follow_curvature(
            self.stencil,
            dihedral_angles(state.x, state.mesh.hinges.nodes),
            state.plastic_curvature,
            threshold=self.plasticity.follow_threshold,
            fraction=follow_fraction(self.plasticity.follow_rate, step),
        )
        same = np.array_equal(plastic, state.plastic_curvature)
        return state if same else state.replaced(plastic_curvature=plastic)
