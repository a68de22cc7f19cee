"""Symmetric 2×2 tensors stored as (xx, yy, xy): eigenvalues and what is built from them.

Any such tensor is `a I + b diag(1, -1) + c offdiag(1, 1)` with `a = (xx + yy)/2`, `b = (xx - yy)/2`, `c = xy`
([Narain2013] eq. 10). Its eigenvalues are `a ± r`, `r = √(b² + c²)`, and (b, c)/r is the doubled angle of the
first eigenvector. A function f of the tensor keeps the eigenvectors, so it keeps the direction of (b, c):

    f(A) = ½(f₁ + f₂) I + ½(f₁ - f₂)/r · (b, c),     f₁ = f(a + r), f₂ = f(a - r).

No eigenvector is ever formed in compiled code. The functions that start with `tensor_` take (n, 3) arrays;
`disk_of`, `join` and those that start with `scalar_` are for use inside kernels.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crumple.runtime.typing import Floats


@njit(cache=True)
def disk_of(xx: float, yy: float, xy: float) -> tuple[float, float, float, float]:
    """(a, b, c, r): half trace, the deviator (b, c) and its length; eigenvalues are a + r ≥ a - r."""
    b = 0.5 * (xx - yy)
    return 0.5 * (xx + yy), b, xy, math.sqrt(b * b + xy * xy)


@njit(cache=True)
def join(first: float, second: float, b: float, c: float, r: float) -> tuple[float, float, float]:
    """(xx, yy, xy) of the tensor with eigenvalues `first`, `second` and the eigenvectors of (b, c, r)."""
    mean = 0.5 * (first + second)
    scale = 0.5 * (first - second) / r if r > 0.0 else 0.0
    return mean + scale * b, mean - scale * b, scale * c


@njit(cache=True)
def scalar_form(xx: float, yy: float, xy: float, p: float, q: float) -> float:
    """Quadratic form wᵀ M w for w = (p, q)."""
    return xx * p * p + 2.0 * xy * p * q + yy * q * q


@njit(cache=True)
def scalar_square(xx: float, yy: float, xy: float) -> tuple[float, float, float]:
    """M² of a symmetric tensor."""
    return xx * xx + xy * xy, yy * yy + xy * xy, (xx + yy) * xy


@njit(cache=True)
def scalar_positive_part(xx: float, yy: float, xy: float) -> tuple[float, float, float]:
    """M⁺: negative eigenvalues replaced by 0."""
    a, b, c, r = disk_of(xx, yy, xy)
    if a >= r:
        return xx, yy, xy
    return join(max(a + r, 0.0), 0.0, b, c, r)


@njit(cache=True)
def scalar_signed_root(xx: float, yy: float, xy: float) -> tuple[float, float, float]:
    """Square root of each eigenvalue; √λ becomes -√-λ when λ < 0 ([Narain2013] appendix A)."""
    a, b, c, r = disk_of(xx, yy, xy)
    first, second = a + r, a - r
    root_1 = math.copysign(math.sqrt(abs(first)), first)
    root_2 = math.copysign(math.sqrt(abs(second)), second)
    return join(root_1, root_2, b, c, r)


@njit(cache=True)
def scalar_clamp(xx: float, yy: float, xy: float, low: float, high: float, aspect: float) -> tuple[float, float, float]:
    """Eigenvalues brought into [low, high], then the smaller raised to at least aspect² × the larger."""
    a, b, c, r = disk_of(xx, yy, xy)
    first = min(max(a + r, low), high)
    second = max(min(max(a - r, low), high), aspect * aspect * first)
    return join(first, second, b, c, r)


def tensor_eigen(tensor: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues (n, 2), largest first, and unit eigenvector (n, 2) of the largest ((1, 0) if both are equal)."""
    a, b, c, r = _disk_arrays(tensor)
    half_angle = 0.5 * np.arctan2(c, b)
    return np.stack([a + r, a - r], axis=-1), np.stack([np.cos(half_angle), np.sin(half_angle)], axis=-1)


def tensor_from_eigen(values: Floats, axis: Floats) -> Floats:
    """λ₁ e eᵀ + λ₂ (I - e eᵀ) for values (n, 2) and unit first eigenvectors e (n, 2), as (n, 3)."""
    first, second = values[..., 0], values[..., 1]
    p, q = axis[..., 0], axis[..., 1]
    return np.stack([first * p * p + second * q * q, first * q * q + second * p * p, (first - second) * p * q], axis=-1)


def tensor_form(tensor: Floats, w: Floats) -> Floats:
    """Quadratic form wᵀ M w of tensors (n, 3) and vectors (n, 2), (n,)."""
    p, q = w[..., 0], w[..., 1]
    return tensor[..., 0] * p * p + 2.0 * tensor[..., 2] * p * q + tensor[..., 1] * q * q


def tensor_norm(tensor: Floats) -> Floats:
    """Frobenius norm √(xx² + yy² + 2 xy²), (n,)."""
    return np.sqrt(tensor[..., 0] ** 2 + tensor[..., 1] ** 2 + 2.0 * tensor[..., 2] ** 2)


def tensor_matrix(tensor: Floats) -> Floats:
    """The same tensors as (n, 2, 2) matrices."""
    xx, yy, xy = tensor[..., 0], tensor[..., 1], tensor[..., 2]
    return np.stack([np.stack([xx, xy], axis=-1), np.stack([xy, yy], axis=-1)], axis=-2)


def _disk_arrays(tensor: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """`disk_of` for arrays."""
    b, c = 0.5 * (tensor[..., 0] - tensor[..., 1]), tensor[..., 2]
    return 0.5 * (tensor[..., 0] + tensor[..., 1]), b, c, np.hypot(b, c)
