"""Lagged Coulomb friction [Li2020, §5]: normal forces and tangents are frozen, the slip is free.

For each contact of the barrier at x_lag, with normal force λ = |∂E/∂d|, damping included, weights w, tangents T (3×2)
and coefficient μ:

    E(x) = μ λ f(|s|),   s = Tᵀ Σ w_i (x_i − x_start_i),   h = eps_v dt,
    f(y) = y for y ≥ h,  −y³/(3h²) + y²/h + h/3 below,     f'(y) = min(1, 2y/h − y²/h²).

Sticking contacts creep at less than eps_v [m/s]. The Hessian μ λ (w wᵀ) ⊗ T [f'/y (I − ŝŝᵀ) + f'' ŝŝᵀ] Tᵀ is always
positive semi-definite, but 0 along a slip: Newton's method then overshoots the point where contacts stick, and comes
back, for ever. With `project` it is μ λ (w wᵀ) ⊗ T Tᵀ f'/y instead, the quadratic that touches E at x and lies above
it everywhere, so no step along it can overshoot (the weights of iteratively reweighted least squares).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from crumple.contact.barrier import Barrier, example_pairs
from crumple.contact.barrier_law import damped_slopes
from crumple.contact.mollifier import cross_square, mollify
from crumple.contact.pair import closest, load
from crumple.contact.pair_energy import direction
from crumple.contact.tuning import TUNING
from crumple.contract.energy import Energy, Example, Projection, projection_mask, register
from crumple.contract.ready import NO_TURNS, ReadyEnergy
from crumple.linalg.block_matrix import sum_vectors
from crumple.runtime.compiled import ONE, TWO, ZERO, device, kernel, run_chunks
from crumple.runtime.typing import Floats, Ints

CHUNK = TUNING.contacts_per_chunk.value


@device
def _tangents(nx, ny, nz):
    """Two unit vectors orthogonal to the unit vector n and to each other, as six numbers [Duff2017]."""
    sign = 1.0 if nz >= 0.0 else -1.0
    a = -1.0 / (sign + nz)
    b = nx * ny * a
    return 1.0 + sign * nx * nx * a, sign * b, -sign * nx, b, sign + ny * ny * a, -ny


@kernel
def _freeze(x, stencil, is_edges, thickness, dhat, stiffness, limit, begin, damping, force, weights, tangents):
    """Normal force [N], damping included, weights (n, 4) and tangents (n, 6) of the barrier's pairs at x."""
    corner, weight, normal = np.empty((4, 3)), np.empty(4), np.empty(3)
    for k in range(stencil.shape[0]):
        load(x, stencil[k, 0], stencil[k, 1], stencil[k, 2], stencil[k, 3], corner)
        d2, _ = closest(is_edges[k], corner, weight)
        d = sqrt(d2)
        s = (d - thickness[k]) / dhat[k]
        force[k] = 0.0
        if s < 1.0:
            slope, _ = damped_slopes(s, begin[k], damping[k])
            force[k] = -stiffness[k] * slope / dhat[k]
        if is_edges[k]:
            m, _, _ = mollify(cross_square(corner), limit[k])
            force[k] *= m
        direction(corner, weight, d, normal)
        basis = _tangents(normal[0], normal[1], normal[2])
        for i in range(4):
            weights[k, i] = weight[i]
        for i in range(6):
            tangents[k, i] = basis[i]


@device
def slip_energy(y, h):
    """(f, f'/y, f'') of the slip y ≥ 0 with the threshold h [m]."""
    if y >= h:
        return y, 1.0 / y, 0.0
    return y * y * (1.0 / h - y / (3.0 * h * h)) + h / 3.0, 2.0 / h - y / (h * h), 2.0 / h - 2.0 * y / (h * h)


@kernel
def _evaluate(first, step, x, start, stencil, strength, weights, tangents, h, level, project, value, gradient, hessian):
    """Value (level 0), gradient (1) or gradient and Hessian (2) of every contact."""
    n = stencil.shape[0]
    for e in range(n):
        if e // CHUNK % step != first:
            continue
        sa = sb = 0.0
        for i in range(4):
            node = stencil[e, i]
            for k in range(3):
                move = weights[e, i] * (x[node, k] - start[e, i, k])
                sa += tangents[e, k] * move
                sb += tangents[e, 3 + k] * move
        y = sqrt(sa * sa + sb * sb)
        f, ratio, bend = slip_energy(y, h[e])
        if level == 0:
            value[e] = strength[e] * f
            continue
        for i in range(4):
            w = strength[e] * ratio * weights[e, i]
            for k in range(3):
                gradient[e, i, k] = w * (tangents[e, k] * sa + tangents[e, 3 + k] * sb)
        if level < 2:
            continue
        # 2×2 curvature: ratio I + (f'' − ratio) ŝŝᵀ
        aa = bb = ratio
        ab = 0.0
        if y > 0.0 and not project[e]:
            excess = (bend - ratio) / (y * y)
            aa, ab, bb = ratio + excess * sa * sa, excess * sa * sb, ratio + excess * sb * sb
        block = 0
        for i in range(4):
            for j in range(i, 4):
                w = strength[e] * weights[e, i] * weights[e, j]
                for k in range(3):
                    p, q = tangents[e, k], tangents[e, 3 + k]
                    left, right = w * (aa * p + ab * q), w * (ab * p + bb * q)
                    for m in range(3):
                        hessian[e, block, k, m] = left * tangents[e, m] + right * tangents[e, 3 + m]
                block += 1


@dataclass(frozen=True)
class Friction(Energy):
    """Friction of the contacts frozen at one pose, as an energy; make it with `make_friction`.

    `stencil` (n, 4);  `strength` (n,) μ λ [N];  `weights` (n, 4);  `tangents` (n, 6) two unit vectors;
    `start` (n, 4, 3) positions from which slip counts [m];  `threshold` (n,) h = eps_v dt [m].
    """

    stencil: Ints
    strength: Floats
    weights: Floats
    tangents: Floats
    start: Floats
    threshold: Floats

    @property
    def count(self) -> int:
        """Number of contacts with friction."""
        return len(self.stencil)

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        """See `Energy`; with `project`, the Hessian is the one that lies above the energy."""
        if self.count:
            run_chunks(
                _evaluate, -(-self.count // CHUNK),
                x, self.start, self.stencil, self.strength, self.weights, self.tangents, self.threshold,
                order, projection_mask(project, self.count), value, gradient, hessian,
            )  # fmt: skip

    def ready(self) -> ReadyEnergy:
        return ReadyFriction(self)


class ReadyFriction(ReadyEnergy):
    """Friction in one thread."""

    def __init__(self, friction: Friction) -> None:
        self.stencil, self.turns = friction.stencil, NO_TURNS
        self._fields = (
            friction.start, friction.stencil, friction.strength, friction.weights, friction.tangents,
            friction.threshold,
        )  # fmt: skip

    def value(self, x: Floats, half_turn: Floats) -> float:
        return float(_total(x, *self._fields))

    def expand(self, x: Floats, half_turn: Floats, project: bool, gradient: Floats, moments: Floats) -> None:
        self.blocks = _sum(x, *self._fields, project, gradient)

    def add_gradient(self, x: Floats, factor: float, gradient: Floats) -> None:
        """Add `factor` times the derivative by nodes to `gradient` (free_count, 3) [N]."""
        _sum_forces(x, *self._fields, factor, gradient)

    def work(self, x: Floats) -> float:
        """The work of friction [J] if its forces at x (node_count, 3) had acted all the way since the start."""
        return float(_sum_work(x, *self._fields))


@kernel
def _sum_work(x, start, stencil, strength, weights, tangents, h):
    n = stencil.shape[0]
    vectors, total = np.empty((n, 4, 3)), 0.0
    _evaluate(
        ZERO, ONE, x, start, stencil, strength, weights, tangents, h,
        ONE, np.empty(0, np.bool_), np.empty(0), vectors, np.empty((0, 10, 3, 3)),
    )  # fmt: skip
    for e in range(n):
        for i in range(4):
            for k in range(3):
                total += vectors[e, i, k] * (x[stencil[e, i], k] - start[e, i, k])
    return total


@kernel
def _total(x, start, stencil, strength, weights, tangents, h):
    """The energy of all contacts [J]."""
    value = np.empty(stencil.shape[0])
    _evaluate(
        ZERO, ONE, x, start, stencil, strength, weights, tangents, h,
        ZERO, np.empty(0, np.bool_), value, np.empty((0, 4, 3)), np.empty((0, 10, 3, 3)),
    )  # fmt: skip
    return value.sum()


@kernel
def _sum(x, start, stencil, strength, weights, tangents, h, project, gradient):
    """The Hessian blocks of all contacts (n, 10, 3, 3); their gradients are added to `gradient`."""
    n = stencil.shape[0]
    vectors, blocks = np.empty((n, 4, 3)), np.empty((n, 10, 3, 3))
    mask, value = np.full(n, project), np.empty(0)
    _evaluate(ZERO, ONE, x, start, stencil, strength, weights, tangents, h, TWO, mask, value, vectors, blocks)
    sum_vectors(stencil, vectors, gradient)
    return blocks


@kernel
def _sum_forces(x, start, stencil, strength, weights, tangents, h, factor, gradient):
    """Add the gradients of all contacts to `gradient`."""
    n = stencil.shape[0]
    vectors = np.empty((n, 4, 3))
    _evaluate(
        ZERO, ONE, x, start, stencil, strength, weights, tangents, h,
        ONE, np.empty(0, np.bool_), np.empty(0), vectors, np.empty((0, 10, 3, 3)),
    )  # fmt: skip
    vectors *= factor
    sum_vectors(stencil, vectors, gradient)


def make_friction(barrier: Barrier, x_lag: Floats, x_start: Floats, *, dt: float, eps_v: float) -> Friction:
    """Friction for the contacts of `barrier` with forces and tangents taken at `x_lag` (node_count, 3) [m].

    `x_start` are the positions at the start of the step of length `dt` [s]; `eps_v` [m/s] is the speed below which a
    contact counts as sticking. Contacts without force or friction are left out.
    """
    n = barrier.count
    force, weights, tangents = np.empty(n), np.empty((n, 4)), np.empty((n, 6))
    _freeze(
        x_lag, barrier.stencil, barrier.is_edges, barrier.thickness, barrier.dhat, barrier.stiffness,
        barrier.parallel, barrier.start, barrier.damping, force, weights, tangents,
    )  # fmt: skip
    strength = barrier.friction * force
    keep = np.flatnonzero(strength > 0.0)
    stencil = barrier.stencil[keep]
    threshold = np.full(len(keep), float(dt * eps_v))
    return Friction(stencil, strength[keep], weights[keep], tangents[keep], x_start[stencil], threshold)


@kernel
def freeze_pairs(x, before, step, stencil, is_edges, thickness, dhat, stiffness, limit, begin, damping, friction):
    """The fields of the `Friction` of a barrier's pairs with forces and tangents taken at x, in one thread;  `step`:
    the slip below which contacts stick [m]."""
    n = stencil.shape[0]
    force, weights, tangents = np.empty(n), np.empty((n, 4)), np.empty((n, 6))
    _freeze(x, stencil, is_edges, thickness, dhat, stiffness, limit, begin, damping, force, weights, tangents)
    count = 0
    kept, strength, start = np.empty((n, 4), np.int32), np.empty(n), np.empty((n, 4, 3))
    for k in range(n):
        if not friction[k] * force[k] > 0.0:
            continue
        strength[count] = friction[k] * force[k]
        for i in range(4):
            kept[count, i] = stencil[k, i]
            weights[count, i] = weights[k, i]
            for c in range(3):
                start[count, i, c] = before[stencil[k, i], c]
        for i in range(6):
            tangents[count, i] = tangents[k, i]
        count += 1
    return kept[:count], strength[:count], weights[:count], tangents[:count], start[:count], np.full(count, step)


@register("friction")
def example(rng: np.random.Generator) -> Example:
    """Contacts that stick, that slip, and some of each; slip by h begins at a millimetre."""
    barrier, poses = example_pairs(rng)
    start = poses["random"]
    friction = make_friction(barrier, start, start, dt=0.01, eps_v=0.1)
    slip = rng.standard_normal(start.shape)
    moved = {
        "start": start,
        "sticking": start + 1e-4 * slip,
        "random": start + 1e-3 * slip,
        "slipping": start + 0.02 * slip,
    }
    return Example(friction, moved, rest=start)
