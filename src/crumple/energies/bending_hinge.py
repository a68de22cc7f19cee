"""Bending across interior edges: a spring on the signed dihedral angle of every hinge.

    E = ½ k (θ − θ_rest)²,   k = B l²/(A1 + A2)

with the bending stiffness B [N m] across the edge, its material length l and the material areas of its two
faces (the classic `c l²/(A1+A2) (θ−θ_rest)²` with c = B/2: a sheet bent along aligned edges then has the
stiffness B). Plastic folding moves θ_rest, damage lowers k. The same kernel serves `bending_measured`,
where k depends on the angle.

Projection keeps k g gᵀ, g = ∂θ/∂x (Gauss–Newton): semi-definite, exact at rest, no eigenvectors needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numba import njit, prange

from crumple.contract.energy import Example, Projection, projection_mask, register
from crumple.energies.elastic_energy import ElasticEnergy
from crumple.energies.examples import PATCH, patch_poses
from crumple.geometry.hinge import add_dihedral_hessian, dihedral_angle, dihedral_angles, dihedral_gradient
from crumple.runtime.typing import Floats, Ints


@dataclass(frozen=True)
class BendingHinge(ElasticEnergy):
    """Hinge springs of constant stiffness.

    `stencil` (n, 4) nodes i, j, k, l;  `stiffness` (n,) k [N m], damage included;  `rest_angle` (n,) [rad].
    """

    stencil: Ints
    stiffness: Floats
    rest_angle: Floats

    def deformation(self, x: Floats) -> Floats:
        """The angle of each hinge [rad], (n,)."""
        return dihedral_angles(x, self.stencil)

    def damped(self, before: Floats, ratio: Floats) -> Sequence[BendingHinge]:
        rest_angle = (self.rest_angle + ratio * before) / (1.0 + ratio)
        return [replace(self, stiffness=self.stiffness * (1.0 + ratio), rest_angle=rest_angle)]

    def dissipation(self, before: Floats, ratio: Floats) -> BendingHinge:
        return replace(self, stiffness=self.stiffness * ratio, rest_angle=before)

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        mask = projection_mask(project, len(self.stencil))
        knots = self.stiffness.reshape(-1, 1)
        bend(x, self.stencil, knots, _NO_KNOTS, self.rest_angle, order, mask, value, gradient, hessian)


def hinge_stiffness(bending: Floats, length: Floats, area: Floats) -> Floats:
    """Spring constant k = B l²/(A1+A2) [N m] of hinges with the bending stiffness B [N m].

    `length` (n,) material length of the edge [m], `area` (n,) material area A1 + A2 of both faces [m²].
    """
    return bending * length**2 / area


@njit(cache=True, parallel=True)
def bend(x, stencil, knots, spacing, rest_angle, order, mask, value, gradient, hessian):
    """Energy, gradient and Hessian of hinge springs, see `angle_law` for `knots` (n, m) and `spacing`."""
    for h in prange(len(stencil)):
        i, j, a, b = stencil[h, 0], stencil[h, 1], stencil[h, 2], stencil[h, 3]
        if order == 0:
            value[h] = angle_law(knots, spacing, h, dihedral_angle(x, i, j, a, b) - rest_angle[h])[0]
            continue
        g = gradient[h]
        angle = dihedral_gradient(x, i, j, a, b, g)
        energy, moment, secant, tangent = angle_law(knots, spacing, h, angle - rest_angle[h])
        value[h] = energy
        if order == 2:
            curvature = max(tangent, secant) if mask[h] else tangent
            block = 0
            for p in range(4):
                for q in range(p, 4):
                    for c in range(3):
                        for d in range(3):
                            hessian[h, block, c, d] = curvature * g[p, c] * g[q, d]
                    block += 1
            if not mask[h]:
                add_dihedral_hessian(x, i, j, a, b, moment, hessian[h])
        for p in range(4):
            for c in range(3):
                g[p, c] *= moment


@njit(cache=True)
def angle_law(knots, spacing, h, angle):
    """Energy ∫ k(|φ|) φ dφ of hinge `h` turned by φ = `angle` from rest; moment; secant k; tangent d(kφ)/dφ.

    k is piecewise linear in |φ|: `knots[h]` at multiples of the angle `spacing[h]`, constant beyond the last.
    With a single knot it is constant and `spacing` is not read.
    """
    size = abs(angle)
    energy, start = 0.0, 0.0
    for m in range(knots.shape[1] - 1):
        stop = min(size, (m + 1) * spacing[h])
        slope = (knots[h, m + 1] - knots[h, m]) / spacing[h]
        base = knots[h, m] - slope * m * spacing[h]
        energy += 0.5 * base * (stop * stop - start * start) + slope / 3.0 * (stop**3 - start**3)
        start = stop
        if size <= stop:
            secant = base + slope * size
            return energy, secant * angle, secant, secant + slope * size
    stiffness = knots[h, knots.shape[1] - 1]
    return energy + 0.5 * stiffness * (size * size - start * start), stiffness * angle, stiffness, stiffness


@register("bending_hinge")
def example(rng: np.random.Generator) -> Example:
    """Hinges of the sample patch with random stiffness, flat at rest."""
    nodes = PATCH.hinges.nodes
    energy = BendingHinge(nodes, rng.uniform(1e-4, 1e-3, len(nodes)), np.zeros(len(nodes)))
    poses = patch_poses(rng)
    return Example(energy, poses, rest=poses["flat"], invariant=True, convex=("flat", "stretched"))


@register("bending_hinge_creased")
def example_creased(rng: np.random.Generator) -> Example:
    """The same with random rest angles, as after plastic folding."""
    nodes = PATCH.hinges.nodes
    energy = BendingHinge(nodes, rng.uniform(1e-4, 1e-3, len(nodes)), rng.uniform(-2.5, 2.5, len(nodes)))
    return Example(energy, patch_poses(rng), invariant=True)


_NO_KNOTS = np.empty(0)
