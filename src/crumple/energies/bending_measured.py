"""Bending of measured fabrics: the stiffness across a hinge depends on its curvature [Wang2011].

With the curvature κ = (θ − θ_rest) l/(A1+A2) of a hinge, its moment per width is B(|κ|) κ, B piecewise linear
between the measured curvatures and constant beyond, and its energy the integral

    E = (A1+A2) ∫₀^κ B(|s|) s ds

in closed form (piecewise cubic), so that value, gradient and Hessian are exact. A constant B gives
`bending_hinge` exactly. In terms of the angle φ = θ − θ_rest it is a spring of stiffness
k(|φ|) = B l²/(A1+A2) with knots at the angles κ_knot (A1+A2)/l.

Projection takes the larger of secant and tangent stiffness in k g gᵀ (a falling B can make the tangent negative).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.contract.energy import Energy, Example, Projection, projection_mask, register
from crumple.energies.bending_hinge import BendingHinge, bend
from crumple.energies.elastic_energy import ElasticEnergy
from crumple.energies.examples import PATCH, patch_poses
from crumple.geometry.hinge import dihedral_angles
from crumple.runtime.typing import Floats, Ints


@dataclass(frozen=True)
class BendingMeasured(ElasticEnergy):
    """Hinge springs whose stiffness is piecewise linear in the angle from rest.

    `stencil` (n, 4) nodes i, j, k, l;  `stiffness` (n, 5) k at the knots [N m], damage included;
    `spacing` (n,) angle between knots [rad];  `rest_angle` (n,) [rad].
    """

    stencil: Ints
    stiffness: Floats
    spacing: Floats
    rest_angle: Floats

    def deformation(self, x: Floats) -> Floats:
        """The angle of each hinge [rad], (n,)."""
        return dihedral_angles(x, self.stencil)

    def damped(self, before: Floats, ratio: Floats) -> Sequence[Energy]:
        """The energy itself, and a dissipation with the stiffness at zero curvature."""
        return [self, self.dissipation(before, ratio)]

    def dissipation(self, before: Floats, ratio: Floats) -> BendingHinge:
        return BendingHinge(self.stencil, self.stiffness[:, 0] * ratio, before)

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        mask = projection_mask(project, len(self.stencil))
        bend(x, self.stencil, self.stiffness, self.spacing, self.rest_angle, order, mask, value, gradient, hessian)


def knot_angles(curvature_step: float, length: Floats, area: Floats) -> Floats:
    """Angle between knots that are `curvature_step` [1/m] apart, κ (A1+A2)/l [rad], (n,)."""
    return curvature_step * area / length


@register("bending_measured")
def example(rng: np.random.Generator) -> Example:
    """Hinges with random tables and knots at 0, 16, 32 … degrees on the sample patch."""
    nodes = PATCH.hinges.nodes
    n = len(nodes)
    energy = BendingMeasured(nodes, rng.uniform(1e-4, 1e-3, (n, 5)), np.full(n, np.radians(16.0)), np.zeros(n))
    poses = patch_poses(rng)
    return Example(energy, poses, rest=poses["flat"], invariant=True, convex=("flat",))
