"""Conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crumple.linalg.tuning import TUNING
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats

FEW = TUNING.short_vector.value


def inner(a: Floats, b: Floats) -> float:
    """a·b. Without BLAS where they are many: its threads take a hundred times as long for it where the processor has
    other work."""
    if a.size < FEW:
        return float(np.dot(a.ravel(), b.ravel()))
    return float(np.einsum("i,i->", a.ravel(), b.ravel()))


def conjugate_gradients(
    apply: Callable[[Floats], Floats],
    b: Floats,
    precondition: Callable[[Floats], Floats],
    *,
    tolerance: float,
    max_iterations: int,
) -> Floats | None:
    """x like b with A x ≈ b for a symmetric matrix A, or None when `max_iterations` do not suffice.

    `apply` multiplies with A;  `precondition` applies the inverse of a matrix M like A. The residual r is measured as
    √(r·M⁻¹r), about the error of x in the energy norm, relative to that of b. None, too, when a direction shows that A
    is not positive definite.
    """
    x, residual = np.zeros_like(b), b.copy()
    image = precondition(residual)
    direction = image
    square = inner(residual, image)
    goal = tolerance**2 * square
    for _ in range(max_iterations):
        if not square > 0.0:  # nothing to do, or M is no good, or not a number
            return x if square == 0.0 else None
        product = apply(direction)
        curvature = inner(direction, product)
        if not curvature > 0.0:
            return None
        x += square / curvature * direction
        residual -= square / curvature * product
        image = precondition(residual)
        before, square = square, inner(residual, image)
        if 0.0 <= square <= goal:
            return x
        direction = image + square / before * direction
    return None


@kernel
def solve_rows(start, column, values, diagonal, b, tolerance, max_iterations):
    """The same in one call for a matrix in rows, `start` (n + 1,), `column`, `values` (…,), preconditioned by its
    `diagonal` (n,): x (n,), and whether it was found."""
    n = b.shape[0]
    x, residual, direction, product = np.zeros(n), b.copy(), b / diagonal, np.empty(n)
    square = 0.0
    for i in range(n):
        square += residual[i] * direction[i]
    goal = tolerance**2 * square
    for _ in range(max_iterations):
        if not square > 0.0:
            return x, square == 0.0
        curvature = 0.0
        for i in range(n):
            total = 0.0
            for k in range(start[i], start[i + 1]):
                total += values[k] * direction[column[k]]
            product[i] = total
            curvature += direction[i] * total
        if not curvature > 0.0:
            return x, False
        length, before, square = square / curvature, square, 0.0
        for i in range(n):
            x[i] += length * direction[i]
            residual[i] -= length * product[i]
            square += residual[i] * residual[i] / diagonal[i]
        if square <= goal:
            return x, True
        for i in range(n):
            direction[i] = residual[i] / diagonal[i] + square / before * direction[i]
    return x, False
