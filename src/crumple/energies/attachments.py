"""Attachments: springs that draw pairs of nodes together until they are close enough.

    E = ½ k max(0, |x₀ − x₁| − l)²

per pair, with a stiffness k and a free length l within which nothing pulls. Convex: the stiffness across the spring,
k (1 − l/r), is positive wherever it pulls (r > l), so no projection is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.contract.energy import GRADIENT, HESSIAN, Energy, Example, Projection, register
from crumple.energies.examples import patch_poses
from crumple.runtime.typing import Floats, Ints


@dataclass(frozen=True)
class AttachmentSprings(Energy):
    """Springs between nodes: `stencil` (n, 2);  `stiffness` (n,) [N/m];  `length` (n,) free of force [m]."""

    stencil: Ints
    stiffness: Floats
    length: Floats

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        offset = x[self.stencil[:, 0]] - x[self.stencil[:, 1]]
        distance = np.sqrt(np.einsum("ni,ni->n", offset, offset))
        stretch = np.maximum(distance - self.length, 0.0)
        value[:] = 0.5 * self.stiffness * stretch**2
        if order < GRADIENT:
            return
        # the fraction stretch/distance is 1 for springs without a free length, also where the nodes coincide
        share = np.where(self.length > 0.0, stretch / np.where(distance > 0.0, distance, 1.0), 1.0)
        pull = (self.stiffness * share)[:, None] * offset
        gradient[:, 0] = pull
        gradient[:, 1] = -pull
        if order >= HESSIAN:
            along = np.where(stretch > 0.0, 1.0 - share, 0.0) / np.where(distance > 0.0, distance, 1.0) ** 2
            outer = offset[:, :, None] * offset[:, None, :]
            block = self.stiffness[:, None, None] * (share[:, None, None] * np.eye(3) + along[:, None, None] * outer)
            hessian[:, 0] = hessian[:, 2] = block
            hessian[:, 1] = -block


def make_attachments(pairs: Ints, stiffness: Floats, length: Floats) -> AttachmentSprings:
    """Springs between the nodes of `pairs` (n, 2); `stiffness` (n,) with the fade-out included, `length` (n,) [m]."""
    return AttachmentSprings(
        stencil=np.ascontiguousarray(pairs, np.int32),
        stiffness=np.ascontiguousarray(stiffness, np.float64),
        length=np.ascontiguousarray(length, np.float64),
    )


@register("attachments")
def example(rng: np.random.Generator) -> Example:
    """A spring without free length, one that pulls and one that is slack."""
    poses = patch_poses(rng)
    pairs = np.array([[1, 4], [0, 6], [2, 5]], np.int32)
    offset = poses["flat"][pairs[:, 0]] - poses["flat"][pairs[:, 1]]
    length = np.linalg.norm(offset, axis=1) * [0.0, 0.1, 10.0]
    energy = make_attachments(pairs, rng.uniform(1, 9, 3), length)
    return Example(energy, poses, invariant=True, convex=tuple(poses))
