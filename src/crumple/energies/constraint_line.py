"""Ridges that are held straight: three consecutive nodes of a crease line lie on a line.

    c = Pᵀ [(x_c − x_b)/ℓ_bc − (x_b − x_a)/ℓ_ab]

with the material lengths ℓ and two directions P normal to the chord, which stay while a step is solved: two linear
rows, exact for straight ridges. c is the angle by which the ridge is bent [rad], its multiplier a moment [N m]; the
strength bounds the length of both rows together, so that it is the same in all directions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.contract.constraint import Constraint
from crumple.contract.energy import HESSIAN, Example, Projection, block_pairs, projection_mask, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.runtime.typing import Bools, Floats, Ints


@dataclass(frozen=True)
class ConstraintLine(Constraint):
    """Held ridges.

    `stencil` (n, 3) nodes a, b, c;  `share` (n, 3) their weights in the bend, (1/ℓ_ab, −1/ℓ_ab − 1/ℓ_bc, 1/ℓ_bc) [1/m];
    `normals` (n, 2, 3) P as rows;  `multiplier` (n, 2), `weight` (n,), `strength` (n,) [N m];  `tolerance` (n,) [rad].
    """

    stencil: Ints
    share: Floats
    normals: Floats
    multiplier: Floats
    weight: Floats
    strength: Floats
    tolerance: Floats

    def residual(self, x: Floats) -> Floats:
        bend = np.einsum("na,nai->ni", self.share, x[self.stencil])
        return np.einsum("nri,ni->nr", self.normals, bend)

    def slopes(self, x: Floats) -> Floats:
        return np.einsum("nri,na->nrai", self.normals, self.share)

    def clip(self, moment: Floats) -> Floats:
        size = np.linalg.norm(moment, axis=1)
        return moment * np.minimum(1.0, self.strength / np.maximum(size, 1e-300))[:, None]

    def is_equality(self) -> Bools:
        return np.ones(len(self.stencil), bool)

    def remembered(self, x: Floats) -> Floats:
        """The moments as vectors in space, (n, 3)."""
        return np.einsum("nri,nr->ni", self.normals, self.clip(self.wanted(self.residual(x))))

    def resumed(self, memory: Floats) -> ConstraintLine:
        return replace(self, multiplier=self.clip(np.einsum("nri,ni->nr", self.normals, memory)))

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        if not len(self.stencil):
            return
        wanted = self.wanted(self.residual(x))
        size, limit = np.linalg.norm(wanted, axis=1), self.strength
        inside = size <= limit
        bent = np.where(inside, size**2, 2.0 * limit * size - limit**2)
        value[:] = 0.5 * (bent - np.einsum("nr,nr->n", self.multiplier, self.multiplier)) / self.weight
        if order == 0:
            return
        force = np.einsum("nri,nr->ni", self.normals, self.clip(wanted))
        gradient[:] = self.share[:, :, None] * force[:, None, :]
        if order < HESSIAN:
            return
        secant = self.weight * np.where(inside, 1.0, limit / np.maximum(size, 1e-300))
        core = secant[:, None, None] * np.einsum("nri,nrj->nij", self.normals, self.normals)
        exact = ~inside & ~projection_mask(project, len(self.stencil))
        along = np.einsum("nri,nr->ni", self.normals, wanted) / np.maximum(size, 1e-300)[:, None]
        core -= np.where(exact, secant, 0.0)[:, None, None] * np.einsum("ni,nj->nij", along, along)
        for block, (a, b) in enumerate(block_pairs(3)):
            hessian[:, block] = (self.share[:, a] * self.share[:, b])[:, None, None] * core


def chord_normals(x: Floats, stencil: Ints) -> Floats:
    """Two unit vectors normal to each chord from the first to the last node and to each other, (n, 2, 3).

    The first is normal to the coordinate axis that the chord is farthest from, so that small motions turn it little.
    """
    chord = x[stencil[:, 2]] - x[stencil[:, 0]]
    chord /= np.maximum(np.linalg.norm(chord, axis=1, keepdims=True), 1e-300)
    axis = np.eye(3)[np.argmin(np.abs(chord), axis=1)]
    first = np.cross(chord, axis)
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-300)
    return np.ascontiguousarray(np.stack([first, np.cross(chord, first)], axis=1))


def bend_weights(before: Floats, after: Floats) -> Floats:
    """The weights (n, 3) [1/m] of the nodes in the bend between edges of the lengths `before` and `after` (n,) [m]."""
    return np.stack([1.0 / before, -1.0 / before - 1.0 / after, 1.0 / after], axis=1)


@register("constraint_line")
def example(rng: np.random.Generator) -> Example:
    """Held triples of the sample patch, one of them beyond its strength."""
    stencil = np.array([[1, 0, 3], [5, 0, 2], [1, 2, 6], [4, 3, 6]], np.int32)
    x = PATCH.node_rest
    lengths = [np.linalg.norm(x[stencil[:, k + 1]] - x[stencil[:, k]], axis=1) for k in range(2)]
    energy = ConstraintLine(
        stencil=stencil,
        share=bend_weights(*lengths),
        normals=chord_normals(x + 0.01 * rng.standard_normal(x.shape), stencil),
        multiplier=rng.uniform(-1e-4, 1e-4, (4, 2)),
        weight=rng.uniform(1e-4, 1e-3, 4),
        strength=np.array([1.0, 1.0, 1e-4, 1e-4]),
        tolerance=np.full(4, 1e-3),
    )
    return Example(energy, patch_poses(rng))
