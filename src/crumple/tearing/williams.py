"""The field of stress around a crack's tip: its intensities, fitted to the tension of the faces there [Williams1957].

In a sheet that is torn in its own plane, with the tip at the origin, the crack along −x and its lips free,

    n(r, θ) = K_I f_I(θ)/√(2πr) + K_II f_II(θ)/√(2πr) + T e_x e_xᵀ + √r (A f_3(θ) + B h_3(θ)) + …      [N/m]

whatever the sheet is like far away. The first five terms are fitted to the tension n of the faces between two circles
around the tip by least squares, weighted by area/r: within a disk of about an edge no field of linear elements is
right, and far out more terms count. K_I and K_II here are those of fracture mechanics times the thickness [N/√m], and
a crack that runs straight on frees (K_I² + K_II²)/Y, Y = E t. The field is that of an isotropic sheet.

A crack kinks to where the hoop tension is largest [Erdogan1963]: the intensity of the tension across a ray at θ is

    K(θ) = cos(θ/2) (K_I cos²(θ/2) − (3/2) K_II sin θ)

and the kink frees about K(θ)²/Y.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, pi, sin, sqrt

import numpy as np
from numba import njit

from crumple.runtime.typing import Floats
from crumple.tearing.tuning import TUNING

INNER = TUNING.field_inner.value
LEAST_FACES = TUNING.field_faces.value


@dataclass(frozen=True)
class Field:
    """The field around a tip: K_I and K_II `opening` and `sliding` [N/√m], the `axis` (2,) along which the crack ends,
    and the `residual`: the part of the tension that the field does not explain, 0 to 1."""

    opening: float
    sliding: float
    axis: Floats
    residual: float

    @property
    def straight(self) -> float:
        """K_I² + K_II² [N²/m]; 0 where the lips are pressed together."""
        return self.opening**2 + self.sliding**2 if self.opening > 0.0 else 0.0

    @property
    def kink(self) -> Floats:
        """The direction (2,) in which K(θ) is largest: tan(θ/2) = (K_I − √(K_I² + 8 K_II²))/(4 K_II)."""
        root = sqrt(self.opening**2 + 8.0 * self.sliding**2)
        # the same without a difference of nearly equal numbers
        half = atan2(-2.0 * self.sliding, self.opening + root)
        c, s = cos(2.0 * half), sin(2.0 * half)
        return np.array([c * self.axis[0] - s * self.axis[1], s * self.axis[0] + c * self.axis[1]])

    def hoop(self, directions: Floats) -> Floats:
        """K(θ) ≥ 0 of each of the unit `directions` (n, 2) on the pattern, (n,) [N/√m]."""
        along = directions @ self.axis
        across = directions[:, 1] * self.axis[0] - directions[:, 0] * self.axis[1]
        half = 0.5 * np.arctan2(across, along)
        intensity = np.cos(half) * (self.opening * np.cos(half) ** 2 - 1.5 * self.sliding * across)
        return np.maximum(np.asarray(intensity), 0.0)


def fit_field(middle: Floats, area: Floats, tension: Floats, axis: Floats, size: float) -> Field | None:
    """The field of faces with their `middle` (n, 2) [m] from the tip, `area` (n,) [m²] and `tension` (n, 3) [N/m] on
    the axes of the pattern, around a crack that ends along the unit `axis` (2,); `size` ℓ [m].

    Faces nearer than `INNER` ℓ are left out; None when too few are left.
    """
    matrix, right = np.zeros((5, 5)), np.zeros(5)
    count, total = _gather(middle / size, area / size**2, tension, axis, INNER, matrix, right)
    if count < LEAST_FACES or total == 0.0:
        return None
    scale = np.sqrt(np.diag(matrix))
    found = np.linalg.lstsq(matrix / np.outer(scale, scale), right / scale, rcond=1e-10)[0] / scale
    residual = sqrt(max(0.0, 1.0 - float(found @ right) / total))
    return Field(float(found[0]) * sqrt(size), float(found[1]) * sqrt(size), axis, residual)


@njit(cache=True)
def _gather(middle, area, tension, axis, inner, matrix, right):
    """Fill the normal equations of the fit, all lengths over ℓ; returns the number of faces and Σ w |n|²."""
    basis = np.empty((5, 3))
    along = np.empty(3)
    count, total = 0, 0.0
    c, s = axis[0], axis[1]
    for f in range(len(middle)):
        x, y = c * middle[f, 0] + s * middle[f, 1], c * middle[f, 1] - s * middle[f, 0]
        r = sqrt(x * x + y * y)
        if r < inner:
            continue
        _terms(r, atan2(y, x), basis)
        xx, yy, xy = tension[f, 0], tension[f, 1], tension[f, 2]
        along[0] = c * c * xx + s * s * yy + 2.0 * c * s * xy
        along[1] = s * s * xx + c * c * yy - 2.0 * c * s * xy
        along[2] = c * s * (yy - xx) + (c * c - s * s) * xy
        weight = area[f] / r
        count += 1
        for i in range(3):
            total += weight * along[i] * along[i]
            for a in range(5):
                right[a] += weight * basis[a, i] * along[i]
                for b in range(5):
                    matrix[a, b] += weight * basis[a, i] * basis[b, i]
    return count, total


@njit(cache=True)
def _terms(r, angle, basis):
    """Fill the tension (xx, yy, xy) of the five terms with unit coefficients at r and θ, (5, 3)."""
    c, s = cos(0.5 * angle), sin(0.5 * angle)
    c3, s3 = cos(1.5 * angle), sin(1.5 * angle)
    steep, root = 1.0 / sqrt(2.0 * pi * r), sqrt(r)
    basis[0, 0], basis[0, 1], basis[0, 2] = steep * c * (1.0 - s * s3), steep * c * (1.0 + s * s3), steep * c * s * c3
    basis[1, 0], basis[1, 1] = -steep * s * (2.0 + c * c3), steep * s * c * c3
    basis[1, 2] = steep * c * (1.0 - s * s3)
    basis[2, 0], basis[2, 1], basis[2, 2] = 1.0, 0.0, 0.0
    basis[3, 0], basis[3, 1] = root * (2.5 * c - 0.5 * c3), root * (1.5 * c + 0.5 * c3)
    basis[3, 2] = root * (-0.5 * s3 - 0.5 * s)
    basis[4, 0], basis[4, 1] = -root * (4.5 * s + 0.5 * s3), root * (0.5 * s + 0.5 * s3)
    basis[4, 2] = -root * (2.5 * c - 0.5 * c3)
