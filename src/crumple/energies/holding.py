"""Soft handles: springs that hold chosen nodes at moving targets.

    E(d) = ½ k d²             where k d ≤ F,
           F d − F² / (2 k)   beyond,           d = |x − target|

A spring never pulls with more than its largest force F: a hand that is too far away, or on the other side of a table,
lags behind instead of tearing the sheet through what holds it back. Without a largest force all of it is the quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from crumple.contract.energy import GRADIENT, HESSIAN, Energy, Example, Projection, register
from crumple.contract.ready import NO_TURNS, ReadyEnergy
from crumple.energies.examples import patch_poses
from crumple.energies.nodal import NO_GRADIENT, NodalQuadratic, make_nodal
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats, Ints


def make_holding(nodes: Ints, targets: Floats, stiffness: Floats) -> NodalQuadratic:
    """Springs from `nodes` (m,) to `targets` (m, 3) [m]; `stiffness` (m,) with the fade-out included [N/m]."""
    return make_nodal(nodes, targets, stiffness)


@dataclass(frozen=True)
class LimitedHolding(Energy):
    """Springs that never pull with more than a largest force.

    `stencil` (n, 1) nodes;  `center` (n, 3) targets [m];  `stiffness` (n,) [N/m];  `largest` (n,) force [N].
    """

    stencil: Ints
    center: Floats
    stiffness: Floats
    largest: Floats
    keeps_stress: ClassVar[bool] = True

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        """Where it is projected, the Hessian is that of the paraboloid which touches the energy from above: the exact
        one has no curvature along the spring, and would send a light node far beyond its target. Where hands are too
        weak the paraboloid is far too stiff; with it alone Newton's method came nearer by a tenth per iteration."""
        offset = x[self.stencil[:, 0]] - self.center
        distance = np.linalg.norm(offset, axis=1)
        slack = 0.5 * self.largest**2 / np.maximum(self.stiffness, np.finfo(float).tiny)
        is_far = self.stiffness * distance > self.largest
        value[:] = np.where(is_far, self.largest * distance - slack, 0.5 * self.stiffness * distance**2)
        pull = np.where(is_far, self.largest / np.where(is_far, distance, 1.0), self.stiffness)
        if order >= GRADIENT:
            gradient[:, 0] = pull[:, None] * offset
        if order >= HESSIAN:
            hessian[:, 0] = pull[:, None, None] * np.eye(3)
            flat = is_far & ~np.broadcast_to(project, is_far.shape)
            along = offset[flat] / distance[flat, None]
            hessian[flat, 0] -= pull[flat, None, None] * along[:, :, None] * along[:, None, :]

    def ready(self) -> ReadyEnergy:
        return ReadyHolding(self)


class ReadyHolding(ReadyEnergy):
    """Springs with a largest force in one thread."""

    def __init__(self, energy: LimitedHolding) -> None:
        n = len(energy.stencil)
        self.stencil, self.turns = energy.stencil, NO_TURNS
        self.blocks, self.mixed, self.own = np.empty((n, 1, 3, 3)), np.empty((n, 1, 0, 3)), np.empty((n, 0))
        self._fields = energy.stencil, energy.center, energy.stiffness, energy.largest

    def value(self, x: Floats, half_turn: Floats) -> float:
        return float(_hold(x, *self._fields, True, self.blocks[:0], NO_GRADIENT))

    def expand(self, x: Floats, half_turn: Floats, project: bool, gradient: Floats, moments: Floats) -> None:
        _hold(x, *self._fields, bool(project), self.blocks, gradient)


@kernel
def _hold(x, stencil, center, stiffness, largest, project, blocks, gradient):
    """The energy of all springs [J]; its derivative is added to the gradient (free_count, 3), the second ones are
    filled if there is room for them."""
    total = 0.0
    for e in range(len(stencil)):
        node, square = stencil[e, 0], 0.0
        for a in range(3):
            square += (x[node, a] - center[e, a]) ** 2
        distance, pull = sqrt(square), stiffness[e]
        is_far = stiffness[e] * distance > largest[e]
        if is_far:
            pull = largest[e] / distance
            total += largest[e] * distance - 0.5 * largest[e] ** 2 / stiffness[e]
        else:
            total += 0.5 * stiffness[e] * square
        if node < gradient.shape[0]:
            for a in range(3):
                gradient[node, a] += pull * (x[node, a] - center[e, a])
        if len(blocks):
            for a in range(3):
                for b in range(3):
                    block = pull if a == b else 0.0
                    if is_far and not project:
                        one, other = (x[node, a] - center[e, a]) / distance, (x[node, b] - center[e, b]) / distance
                        block -= pull * one * other
                    blocks[e, 0, a, b] = block
    return total


def make_limited_holding(nodes: Ints, targets: Floats, stiffness: Floats, largest: Floats) -> LimitedHolding:
    """Springs as of `make_holding` that pull with at most `largest` (m,) [N] each."""
    return LimitedHolding(
        stencil=np.ascontiguousarray(nodes, np.int32).reshape(-1, 1),
        center=np.ascontiguousarray(targets, np.float64),
        stiffness=np.ascontiguousarray(stiffness, np.float64),
        largest=np.ascontiguousarray(largest, np.float64),
    )


@register("holding")
def example(rng: np.random.Generator) -> Example:
    """Three pinned nodes of the sample patch."""
    poses = patch_poses(rng)
    nodes = np.array([1, 4, 6], np.int32)
    rest = poses["flat"] + 0.01 * rng.standard_normal(poses["flat"].shape)
    return Example(make_holding(nodes, rest[nodes], rng.uniform(1, 9, 3)), poses, rest=rest, convex=tuple(poses))


@register("limited_holding")
def limited_example(rng: np.random.Generator) -> Example:
    """Four nodes of the sample patch in hands that are partly too weak."""
    poses = patch_poses(rng)
    nodes = np.array([0, 1, 4, 6], np.int32)
    rest = poses["flat"] + 0.01 * rng.standard_normal(poses["flat"].shape)
    energy = make_limited_holding(nodes, rest[nodes], rng.uniform(1, 9, 4), np.array([1e-9, 1e-3, 1e-2, 1e3]))
    return Example(energy, poses, rest=rest)
