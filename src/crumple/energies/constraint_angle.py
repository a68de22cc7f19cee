"""Angles that are held: the signed dihedral angle of four nodes equals a target, or does not pass it.

    c = wrap(θ − θ*),   equality: c = 0,   inequality: side · c ≥ 0

with the multiplier, weight and strength of `contract.constraint`. The flap of a crease is the hinge itself; torsion is
the angle between the wings of two consecutive edges, over the line through their far ends, with the target π.

Projection keeps the secant of the moment times ∇c ∇cᵀ: ρ min(1, S/|m|), semi-definite.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi

import numpy as np
from numba import njit, prange

from crumple.contract.constraint import Constraint
from crumple.contract.energy import Example, Projection, projection_mask, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.geometry.hinge import add_dihedral_hessian, dihedral_angle, dihedral_angles, dihedral_gradient
from crumple.runtime.typing import Bools, Floats, Ints


@dataclass(frozen=True)
class ConstraintAngle(Constraint):
    """Held angles.

    `stencil` (n, 4) nodes i, j, a, b as in `geometry.hinge`;  `target` (n,) θ* [rad];  `side` (n,): 0 for an equality,
    1 where the angle may be larger, −1 where it may be smaller;  `multiplier` (n, 1), `weight` (n,), `strength` (n,)
    [N m];  `tolerance` (n,) [rad].
    """

    stencil: Ints
    target: Floats
    side: Floats
    multiplier: Floats
    weight: Floats
    strength: Floats
    tolerance: Floats

    def residual(self, x: Floats) -> Floats:
        return wrap(dihedral_angles(x, self.stencil) - self.target)[:, None]

    def slopes(self, x: Floats) -> Floats:
        slopes = np.empty((len(self.stencil), 1, 4, 3))
        _fill_slopes(x, self.stencil, slopes[:, 0])
        return slopes

    def clip(self, moment: Floats) -> Floats:
        side = self.side[:, None]
        allowed = np.where(side > 0, np.minimum(moment, 0.0), np.where(side < 0, np.maximum(moment, 0.0), moment))
        return np.clip(allowed, -self.strength[:, None], self.strength[:, None])

    def is_equality(self) -> Bools:
        return np.asarray(self.side == 0.0)

    def remembered(self, x: Floats) -> Floats:
        memory = np.zeros((len(self.stencil), 3))
        memory[:, :1] = self.clip(self.wanted(self.residual(x)))
        return memory

    def resumed(self, memory: Floats) -> ConstraintAngle:
        return replace(self, multiplier=self.clip(memory[:, :1]))

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        mask = projection_mask(project, len(self.stencil))
        if len(self.stencil):
            hold_angles(
                x, self.stencil, self.target, self.side, self.multiplier[:, 0], self.weight, self.strength,
                order, mask, value, gradient, hessian,
            )  # fmt: skip


def wrap(angle: Floats) -> Floats:
    """Angles moved by whole turns into [−π, π) [rad]."""
    return np.mod(angle + np.pi, 2.0 * np.pi) - np.pi


@njit(cache=True, parallel=True)
def hold_angles(x, stencil, target, side, multiplier, weight, strength, order, mask, value, gradient, hessian):
    """Energy, gradient and Hessian of held angles."""
    for h in prange(len(stencil)):
        i, j, a, b = stencil[h, 0], stencil[h, 1], stencil[h, 2], stencil[h, 3]
        angle = dihedral_angle(x, i, j, a, b) if order == 0 else dihedral_gradient(x, i, j, a, b, gradient[h])
        c = (angle - target[h] + pi) % (2.0 * pi) - pi
        energy, moment, secant, tangent = _law(c, side[h], multiplier[h], weight[h], strength[h])
        value[h] = energy
        if order == 0:
            continue
        g = gradient[h]
        if order == 2:
            curvature = secant if mask[h] else tangent
            block = 0
            for p in range(4):
                for q in range(p, 4):
                    for k in range(3):
                        for m in range(3):
                            hessian[h, block, k, m] = curvature * g[p, k] * g[q, m]
                    block += 1
            if not mask[h]:
                add_dihedral_hessian(x, i, j, a, b, moment, hessian[h])
        for p in range(4):
            for k in range(3):
                g[p, k] *= moment


@njit(cache=True)
def _law(c, side, multiplier, weight, strength):
    """ψ, moment clip(m), secant and tangent of a row with the residual `c`."""
    m = multiplier + weight * c
    none = -0.5 * multiplier * multiplier / weight
    if (side > 0.0 and m >= 0.0) or (side < 0.0 and m <= 0.0):
        return none, 0.0, 0.0, 0.0
    size = abs(m)
    if size <= strength:
        return none + 0.5 * m * m / weight, m, weight, weight
    moment = strength if m > 0.0 else -strength
    return none + strength * (size - 0.5 * strength) / weight, moment, weight * strength / size, 0.0


@njit(cache=True)
def _fill_slopes(x, stencil, out):
    """∂θ/∂x of every row, (n, 4, 3) [1/m]."""
    for h in range(len(stencil)):
        dihedral_gradient(x, stencil[h, 0], stencil[h, 1], stencil[h, 2], stencil[h, 3], out[h])


@register("constraint_angle")
def example(rng: np.random.Generator) -> Example:
    """Held hinges of the sample patch: equalities and inequalities, some of them beyond their strength."""
    nodes, n = PATCH.hinges.nodes, len(PATCH.hinges.nodes)
    energy = ConstraintAngle(
        stencil=nodes,
        target=rng.uniform(-1.5, 1.5, n),
        side=np.array([0.0, 1.0, -1.0])[np.arange(n) % 3],
        multiplier=rng.uniform(-1e-4, 1e-4, (n, 1)),
        weight=rng.uniform(1e-4, 1e-3, n),
        strength=np.where(np.arange(n) % 2 == 0, 1.0, 2e-4),
        tolerance=np.full(n, 1e-3),
    )
    return Example(energy, patch_poses(rng), invariant=True)
