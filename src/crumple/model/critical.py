"""How long an explicit step may be.

An undamped oscillation of the frequency ω is stable in steps h < 2/ω, a damped one (stiffness-proportional, with the
damping time β and the rates of the step before) in

    h < 2/ω (√(1 + ζ²) − ζ),   ζ = ½ β ω,

and beyond that it grows exponentially: at twice the critical step by the factor 14 in every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from crumple.contract import Energy
from crumple.linalg import add_vectors, multiply_elements
from crumple.runtime.typing import Floats


def critical_step(energies: Sequence[Energy], x: Floats, mass: Floats, damping: float) -> float:
    """The critical step [s] of nodes of the `mass` (node_count,) [kg] under elastic `energies` in the pose x, with the
    damping time `damping` [s]; by the largest eigenvalue ω² of M⁻¹K, K the projected Hessian."""
    terms = [(energy.stencil, energy.hessian(x, True)) for energy in energies]
    root = np.sqrt(mass)[:, None]

    def product(vector: Floats) -> Floats:
        scaled = np.ascontiguousarray(vector.reshape(-1, 3) / root)
        force = np.zeros_like(scaled)
        for stencil, blocks in terms:
            add_vectors(stencil, multiply_elements(stencil, blocks, scaled), 1.0, force)
        return np.asarray(force / root).ravel()

    size = 3 * len(mass)
    start = np.random.default_rng(0).standard_normal(size)
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    largest = eigsh(operator, k=1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)[0]
    if not largest > 0.0:
        return np.inf
    frequency = sqrt(largest)
    share = 0.5 * damping * frequency
    return 2.0 / frequency * (sqrt(1.0 + share**2) - share)
