"""A barrier that keeps sheets from stretching beyond a limit.

With λ the larger eigenvalue of FᵀF of a face, the square of its largest stretch, and its limit Λ,

    E = A k b(λ),   b(λ) = −(λ − λ₀)² ln((Λ − λ)/(Λ − λ₀))   for λ > λ₀,   0 below,   as a rule λ₀ = 1 + ACTIVE (Λ − 1),

grows without bound at the limit, as the barrier of contact does [Li2021, C-IPC]. λ is convex in x, and b is convex and
rising, so the Hessian is semi-definite as it stands: with n, p the eigenvectors of λ and of the smaller eigenvalue μ,

    dλ = 2 Fn·dF n,   d²λ = 2 |dF n|² + 2 (Fp·dF n + Fn·dF p)²/(λ − μ).

Compression is not limited: a thin sheet buckles instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf, log

import numpy as np
from numba import njit

from crumple.contract.energy import Energy, Example, Projection, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.tuning import TUNING
from crumple.geometry.triangle import deformation, shape_gradients
from crumple.runtime.typing import Floats, Ints

ACTIVE = TUNING.strain_barrier_start.value
SAFETY = TUNING.strain_step_fraction.value
SMALLEST_GAP = TUNING.smallest_stretch_gap.value


@dataclass(frozen=True)
class StrainLimit(Energy):
    """The barrier of some faces.

    `stencil` (n, 3) nodes;  `gradients` (n, 3, 2) shape gradients in the pattern [1/m];  `stiffness` (n,) A k [J];
    `limit` (n,) Λ: square of the largest stretch;  `start` (n,) λ₀: that from which the barrier is felt.
    """

    stencil: Ints
    gradients: Floats
    stiffness: Floats
    limit: Floats
    start: Floats

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        _barrier(
            x, self.stencil, self.gradients, self.stiffness, self.limit, self.start, order, value, gradient, hessian
        )

    def step_limit(self, x: Floats, direction: Floats) -> float:
        """How much of the `direction` (node_count, 3) can be taken before a face is stretched to its limit."""
        return float(_largest_step(x, direction, self.stencil, self.gradients, self.limit))


def make_strain_limit(corners: Floats, nodes: Ints, stiffness: Floats, stretch: Floats) -> StrainLimit:
    """The barrier of faces with the pattern corners (n, 3, 2) [m] and nodes (n, 3).

    `stiffness` k (n,) [N/m];  `stretch` (n,) > 1: the largest stretch allowed.
    """
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = 0.5 * np.abs(e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0])
    limit = np.asarray(stretch, np.float64) ** 2
    return StrainLimit(
        stencil=np.ascontiguousarray(nodes, np.int32),
        gradients=shape_gradients(corners),
        stiffness=area * stiffness,
        limit=limit,
        start=1.0 + ACTIVE * (limit - 1.0),
    )


def squared_stretches(x: Floats, nodes: Ints, gradients: Floats) -> Floats:
    """λ of each face, the square of its largest stretch, (n,)."""
    out = np.empty(len(nodes))
    _squares(x, nodes, gradients, out)
    return out


@njit(cache=True)
def _principal(ux, uy, uz, vx, vy, vz):
    """λ, μ and the eigenvector n of λ of FᵀF, as four numbers; p = (−n₂, n₁)."""
    c00 = ux * ux + uy * uy + uz * uz
    c11 = vx * vx + vy * vy + vz * vz
    c01 = ux * vx + uy * vy + uz * vz
    half, mean = 0.5 * (c00 - c11), 0.5 * (c00 + c11)
    radius = hypot(half, c01)
    a, b = half + radius, c01
    if half < 0.0:
        a, b = c01, radius - half
    size = hypot(a, b)
    if size == 0.0:
        return mean, mean, 1.0, 0.0
    return mean + radius, mean - radius, a / size, b / size


@njit(cache=True)
def _squares(x, stencil, gradients, out):
    for f in range(len(stencil)):
        ux, uy, uz, vx, vy, vz = deformation(x, stencil[f, 0], stencil[f, 1], stencil[f, 2], gradients, f)
        out[f] = _principal(ux, uy, uz, vx, vy, vz)[0]


@njit(cache=True)
def _law(square, limit, start):
    """b, b' and b'' at λ = `square`; infinite at and beyond the limit."""
    if square <= start:
        return 0.0, 0.0, 0.0
    if square >= limit:
        return inf, inf, inf
    over, left, whole = square - start, limit - square, limit - start
    logarithm = log(left / whole)
    return (
        -over * over * logarithm,
        -2.0 * over * logarithm + over * over / left,
        -2.0 * logarithm + 4.0 * over / left + over * over / (left * left),
    )


@njit(cache=True)
def _barrier(x, stencil, gradients, stiffness, limit, start, order, value, gradient, hessian):
    fn, fp, w = np.empty(3), np.empty(3), np.empty((3, 3))
    alpha, beta = np.empty(3), np.empty(3)
    for f in range(len(stencil)):
        ux, uy, uz, vx, vy, vz = deformation(x, stencil[f, 0], stencil[f, 1], stencil[f, 2], gradients, f)
        large, small, a, b = _principal(ux, uy, uz, vx, vy, vz)
        energy, slope, bend = _law(large, limit[f], start[f])
        value[f] = stiffness[f] * energy
        if order == 0:
            continue
        slope, bend = stiffness[f] * slope, stiffness[f] * bend
        fn[0], fn[1], fn[2] = a * ux + b * vx, a * uy + b * vy, a * uz + b * vz
        fp[0], fp[1], fp[2] = a * vx - b * ux, a * vy - b * uy, a * vz - b * uz
        for p in range(3):
            alpha[p] = a * gradients[f, p, 0] + b * gradients[f, p, 1]
            beta[p] = a * gradients[f, p, 1] - b * gradients[f, p, 0]
            for c in range(3):
                gradient[f, p, c] = 2.0 * slope * alpha[p] * fn[c]
                w[p, c] = alpha[p] * fp[c] + beta[p] * fn[c]
        if order == 1:
            continue
        turn = 2.0 * slope / max(large - small, SMALLEST_GAP)
        block = 0
        for p in range(3):
            for q in range(p, 3):
                outer = 4.0 * bend * alpha[p] * alpha[q]
                for c in range(3):
                    for d in range(3):
                        hessian[f, block, c, d] = outer * fn[c] * fn[d] + turn * w[p, c] * w[q, d]
                    hessian[f, block, c, c] += 2.0 * slope * alpha[p] * alpha[q]
                block += 1


@njit(cache=True)
def _largest_step(x, direction, stencil, gradients, limit):
    """The largest share of the direction along which no face reaches its limit; λ is convex along it."""
    step = 1.0
    for f in range(len(stencil)):
        i, j, k = stencil[f, 0], stencil[f, 1], stencil[f, 2]
        ux, uy, uz, vx, vy, vz = deformation(x, i, j, k, gradients, f)
        du, dv, dw, eu, ev, ew = deformation(direction, i, j, k, gradients, f)
        now = _principal(ux, uy, uz, vx, vy, vz)[0]
        bound = now + SAFETY * (limit[f] - now)
        while step > 0.0:
            large = _principal(
                ux + step * du, uy + step * dv, uz + step * dw, vx + step * eu, vy + step * ev, vz + step * ew
            )[0]
            if large <= bound:
                break
            # λ is convex: the chord lies above it, so going as far as the chord allows is safe
            step *= max(min((bound - now) / (large - now), 0.99), 1e-3) if large > now else 0.5
    return step


@register("strain_limit")
def example(rng: np.random.Generator) -> Example:
    """Faces that are far from their limit, near it, and not stretched at all."""
    poses = patch_poses(rng)
    gradients = shape_gradients(PATCH.u[PATCH.faces])
    stretch = np.sqrt(max(squared_stretches(x, PATCH.face_nodes, gradients).max() for x in poses.values()))
    limits = stretch * rng.uniform(1.01, 1.2, len(PATCH.faces))
    energy = make_strain_limit(PATCH.u[PATCH.faces], PATCH.face_nodes, rng.uniform(100, 900, len(PATCH.faces)), limits)
    return Example(energy, poses, rest=poses["flat"], invariant=True, convex=("flat",))
