"""What a step leaves behind for good: yielding in bending and in plane, damage and the plastic embedding
([Narain2013] §3)."""

from __future__ import annotations

import numpy as np

from crumple.energies.elastic import Elastic, make_elastic, rebend, restretch
from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.linalg import CholeskySolver
from crumple.plasticity import (
    PlasticityOptions,
    follow_curvature,
    follow_fraction,
    make_yield_law,
    total_curvature,
    total_strain,
    yield_curvature,
    yield_strain,
)
from crumple.simulation.embedding import Embedding
from crumple.simulation.model import Model
from crumple.simulation.state import State
from crumple.timing import PhaseTimer


class Creasing:
    """Plasticity on one mesh; elastic sheets pass through unchanged."""

    def __init__(self, model: Model, state: State, solver: CholeskySolver, timer: PhaseTimer) -> None:
        mesh = state.mesh
        self._options: PlasticityOptions = model.plasticity
        self._materials = model.materials
        self._timer = timer
        self.stencil = curvature_stencil(mesh)
        self._law = make_yield_law(
            mesh,
            model.materials,
            hardening=self._options.hardening,
            crease_radius=self._options.crease_radius,
        )
        limits = np.array([material.yield_strain for material in model.materials], np.float64)
        self._strain_limit = limits[mesh.face_material]
        self._embedding = Embedding(mesh, stencil=self.stencil, solver=solver)

    @property
    def is_active(self) -> bool:
        """Whether any face can yield."""
        return self._can_bend or self._can_stretch

    @property
    def _can_bend(self) -> bool:
        if self._options.rule == "curvature":
            return bool(np.isfinite(self._law.yield_curvature).any())
        return self._options.rule == "rest-angle"

    @property
    def _can_stretch(self) -> bool:
        return self._options.rule != "none" and bool(np.isfinite(self._strain_limit).any())

    def elastic(self, state: State) -> Elastic:
        """The elastic energies with the rest angles, the rest strains and the damage of the state."""
        angle = rest_angle(self.stencil, state.plastic_curvature)
        return make_elastic(
            state.mesh, self._materials, rest_angle=angle, damage=state.damage, rest_strain=state.plastic_strain
        )

    def advance(self, state: State, elastic: Elastic, step: float) -> tuple[State, Elastic]:
        """The state after faces have yielded in the shape x, and the elastic energies that follow from it."""
        if not self.is_active:
            return state, elastic
        with self._timer("plasticity"):
            creased = self._bend(state, step) if self._can_bend else state
            if creased is not state:
                angle = rest_angle(self.stencil, creased.plastic_curvature)
                elastic = rebend(elastic, state.mesh, self._materials, rest_angle=angle, damage=creased.damage)
            stretched = self._stretch(creased) if self._can_stretch else creased
            if stretched is not creased:
                elastic = restretch(elastic, state.mesh, self._materials, rest_strain=stretched.plastic_strain)
            if stretched is state and self._embedding.settled:
                return state, elastic
            y = self._embedding.advance(
                state.y, stretched.plastic_curvature, stretched.plastic_strain, before=state.plastic_curvature
            )
            return stretched.replaced(y=y), elastic

    def _stretch(self, state: State) -> State:
        """The state with E_p after yielding in plane; the same object when nothing yields."""
        plastic = yield_strain(total_strain(state.mesh, state.x), state.plastic_strain, self._strain_limit)
        same = np.array_equal(plastic, state.plastic_strain)
        return state if same else state.replaced(plastic_strain=plastic)

    def _bend(self, state: State, step: float) -> State:
        """The state with S_p and δ after yielding in bending; the same object when nothing yields."""
        if self._options.rule == "rest-angle":
            angle = dihedral_angles(state.x, state.mesh.hinges.nodes)
            fraction = follow_fraction(self._options.follow_rate, step)
            plastic = follow_curvature(
                self.stencil,
                angle,
                state.plastic_curvature,
                threshold=self._options.follow_threshold,
                fraction=fraction,
            )
            same = np.array_equal(plastic, state.plastic_curvature)
            return state if same else state.replaced(plastic_curvature=plastic)
        total = total_curvature(state.mesh, self.stencil, state.x)
        yielded = yield_curvature(self._law, total, state.plastic_curvature, state.damage)
        if not yielded.count:
            return state
        return state.replaced(plastic_curvature=yielded.plastic_curvature, damage=yielded.damage)
