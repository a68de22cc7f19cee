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
from crumple.contract.ready import NO_TURNS, ReadyEnergy
from crumple.energies.elastic_energy import ElasticEnergy
from crumple.energies.examples import PATCH, patch_poses
from crumple.geometry.hinge import add_dihedral_hessian, dihedral_angle, dihedral_angles, dihedral_gradient
from crumple.linalg.block_matrix import sum_vectors
from crumple.runtime.compiled import kernel
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

    def ready(self) -> ReadyEnergy:
        return ReadyHinges(self.stencil, self.stiffness, self.rest_angle, 0.0)


class ReadyHinges(ReadyEnergy):
    """Hinge springs in one thread, those at the same hinges as one: two springs k₁, k₂ with the rest angles θ₁, θ₂ are
    one of k₁ + k₂ at their weighted mean, but for the constant ½ k₁ k₂/(k₁ + k₂) (θ₁ − θ₂)²."""

    def __init__(self, stencil: Ints, stiffness: Floats, rest_angle: Floats, constant: float) -> None:
        """Fields as in `BendingHinge`;  `constant` energy [J]."""
        n = len(stencil)
        self.stencil, self.turns = stencil, NO_TURNS
        self.blocks, self.mixed, self.own = np.empty((n, 10, 3, 3)), np.empty((n, 4, 0, 3)), np.empty((n, 0))
        self._fields, self._constant = (stencil, stiffness, rest_angle), constant
        self._vectors = np.empty((n, 4, 3))

    def joined(self, other: ReadyEnergy) -> ReadyEnergy | None:
        if not isinstance(other, ReadyHinges) or not np.array_equal(self.stencil, other.stencil):
            return None
        (_, one, first), (_, two, second) = self._fields, other._fields
        both = one + two
        safe = np.maximum(both, np.finfo(float).tiny)
        constant = 0.5 * float(np.sum(one * two / safe * (first - second) ** 2))
        constant += self._constant + other._constant
        return ReadyHinges(self.stencil, both, (one * first + two * second) / safe, constant)

    def value(self, x: Floats, half_turn: Floats) -> float:
        return self._constant + float(_hinge_total(x, *self._fields))

    def expand(self, x: Floats, half_turn: Floats, project: bool, gradient: Floats, moments: Floats) -> None:
        _hinge_sum(x, *self._fields, bool(project), self._vectors, self.blocks, gradient)


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


@kernel
def _hinge_total(x, stencil, stiffness, rest_angle):
    """The energy of all hinges [J]."""
    total = 0.0
    for h in range(len(stencil)):
        angle = dihedral_angle(x, stencil[h, 0], stencil[h, 1], stencil[h, 2], stencil[h, 3]) - rest_angle[h]
        total += 0.5 * stiffness[h] * angle * angle
    return total


@kernel
def _hinge_sum(x, stencil, stiffness, rest_angle, project, vectors, blocks, gradient):
    """Fill all derivatives of hinges and add the first ones to the gradient."""
    for h in range(len(stencil)):
        i, j, a, b = stencil[h, 0], stencil[h, 1], stencil[h, 2], stencil[h, 3]
        g = vectors[h]
        moment = stiffness[h] * (dihedral_gradient(x, i, j, a, b, g) - rest_angle[h])
        block = 0
        for p in range(4):
            for q in range(p, 4):
                for c in range(3):
                    for d in range(3):
                        blocks[h, block, c, d] = stiffness[h] * g[p, c] * g[q, d]
                block += 1
        if not project:
            add_dihedral_hessian(x, i, j, a, b, moment, blocks[h])
        for p in range(4):
            for c in range(3):
                g[p, c] *= moment
    sum_vectors(stencil, vectors, gradient)


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
