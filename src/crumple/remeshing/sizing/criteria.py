"""The criteria that are built in. They have the form of the user's own: called with a state, each says what it asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np

from crumple.boundary.creases import loose_hinges
from crumple.geometry.curvature import CurvatureStencil, bending_strain, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.geometry.triangle import green_strain
from crumple.model.derived import Derived
from crumple.options.remeshing import Criterion
from crumple.options.sizing import SizingOptions
from crumple.remeshing.sizing.buckling import Buckling
from crumple.remeshing.sizing.compression import Compression
from crumple.remeshing.sizing.curvature import Curvature
from crumple.remeshing.sizing.damage import Damage
from crumple.remeshing.sizing.floor import sizing_floor
from crumple.remeshing.sizing.obstacle import ObstacleDistance
from crumple.remeshing.sizing.velocity import Velocity
from crumple.runtime.typing import Bools, Floats
from crumple.state import State


def built_in_criteria(derived: Derived, options: SizingOptions) -> tuple[Criterion, ...]:
    """What `options` ask for, on the mesh of `derived`; bounds that are infinite ask for nothing."""
    return tuple(_criteria(derived, options))


def _criteria(derived: Derived, options: SizingOptions) -> Iterator[Criterion]:
    model, mesh, gradients = derived.model, derived.state.mesh, derived.gradients
    strains = Strains(gradients, derived.curvature_stencil, loose_hinges(mesh, model.creases))
    if isfinite(options.refine_angle):
        yield Curvature(options.refine_angle, strains.bending)
        yield Curvature(options.refine_angle, strains.plastic_bending)
    if isfinite(options.refine_velocity):
        yield Velocity(options.refine_velocity, gradients)
    if isfinite(options.refine_compression):
        if options.rib_stiffening:
            ratio = np.array([m.bend_stiffness / m.stretch_stiffness for m in model.materials])[mesh.face_material]
            yield Buckling(options.refine_compression, strains.membrane, strains.bending, ratio)
        else:
            yield Compression(options.refine_compression, strains.membrane)
    if options.refine_obstacle and model.contact.enabled:
        yield ObstacleDistance(model.obstacles, options.size_min, options.longest_edge(), gradients)
    if isfinite(options.refine_damage):
        yield Damage(options.refine_damage, gradients)
    yield sizing_floor


@dataclass(frozen=True)
class Strains:
    """How the faces of a mesh are strained by a state, (face_count, 3) each; `gradients` of the shape functions
    (face_count, 3, 2) [1/m];  `loose` (hinge_count,): hinges at which the bending of the sheet ends.

    Curvatures are those of eq. 1, by the angles of hinges: where edges follow a fold they have no part along it, so the
    mesh gets long faces there. Those of mid-edge bending are right on average, but beside a sharp fold they spread into
    the direction along it, which would ask for twice as many faces.
    """

    gradients: Floats
    stencil: CurvatureStencil
    loose: Bools

    def membrane(self, state: State) -> Floats:
        """The Green strain ε."""
        return green_strain(state.x, state.mesh.face_nodes, self.gradients)

    def bending(self, state: State) -> Floats:
        """S of the shape x [1/m]."""
        angle = dihedral_angles(state.x, state.mesh.hinges.nodes)
        angle[self.loose] = 0.0  # a hinge that is driven needs no fine mesh
        return bending_strain(self.stencil, angle)

    def plastic_bending(self, state: State) -> Floats:
        """S_p of the plastic rest shape [1/m]."""
        return bending_strain(self.stencil, rest_angle(self.stencil, state.plastic_curvature))
