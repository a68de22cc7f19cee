"""Stiffness matrices of a sheet on its pattern, for any Poisson's ratio and any direction of the grain.

Voigt order (11, 22, 2·12), so that with the curvature κ = (S11, S22, 2 S12) [1/m] and the Green strain
ε = (E11, E22, 2 E12) the energy per material area is ½ κᵀ D κ + ½ εᵀ C ε.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from crumple.errors import InputError
from crumple.materials.material import Material
from crumple.typing import Floats


def bending_matrix(material: Material) -> Floats:
    """D (3, 3) [N m] on the pattern axes u and v, turned by the grain.

    Along the grain D11 = B_u, across D22 = B_v, and with ν = √(ν_uv ν_vu) (`mean_poisson`)

        D12 = ν √(B_u B_v),   D66 = ½ (½ (4 B_45 − B_u − B_v) − D12),

    which for an isotropic sheet is B [[1, ν, 0], [ν, 1, 0], [0, 0, (1−ν)/2]]. A table over curvature gives its values
    at zero curvature. Raises InputError when D is not positive definite (B_45 too small for the ratio).
    """
    along, diagonal, across = (float(b) for b in material.bending.reshape(3, -1)[:, 0])
    coupling = 0.5 * (4.0 * diagonal - along - across)
    side = mean_poisson(material) * sqrt(max(along, 0.0) * max(across, 0.0))
    twist = 0.5 * (coupling - side)
    if min(along, across) <= 0.0 or twist <= 0.0:
        remedy = "must be > 0 along u and v, and at 45° above (B_u + B_v + 2 ν √(B_u B_v))/4, in N m"
        raise InputError(f"material {material.name!r}: bending", remedy, [along, diagonal, across])
    return turned(np.array([[along, side, 0.0], [side, across, 0.0], [0.0, 0.0, twist]]), material.grain_angle)


def membrane_matrix(material: Material) -> Floats:
    """C (3, 3) [N/m] on the pattern axes, turned by the grain; a table over strain gives its values at zero strain.

    `Material.membrane` counts shear as S12 = C33 E12, here S12 = C66 · 2 E12, so C66 = C33/2.
    """
    c11, c12, c22, c33 = (float(c) for c in material.membrane.reshape(-1, 4)[0])
    return turned(np.array([[c11, c12, 0.0], [c12, c22, 0.0], [0.0, 0.0, 0.5 * c33]]), material.grain_angle)


def mean_poisson(material: Material) -> float:
    """ν = √(ν_uv ν_vu) = C12/√(C11 C22), Poisson's ratio of an isotropic sheet.

    Raises InputError unless |ν| < 1: beyond, some strain would cost no energy.
    """
    c11, c12, c22, _ = (float(c) for c in material.membrane.reshape(-1, 4)[0])
    ratio = c12 / sqrt(c11 * c22) if min(c11, c22) > 0.0 else float("nan")
    if not abs(ratio) < 1.0:
        raise InputError(f"material {material.name!r}: poisson", "ν_uv ν_vu must be below 1", ratio)
    return ratio


def turned(matrix: Floats, angle: float) -> Floats:
    """A stiffness (3, 3) given on axes that lie `angle` [rad] counter-clockwise from u, on the axes u and v.

    Strains on the turned axes are T ε with the engineering shear 2 E12, so the result is Tᵀ M T.
    """
    c, s = cos(angle), sin(angle)
    turn = np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2.0 * c * s, 2.0 * c * s, c * c - s * s]])
    return turn.T @ matrix @ turn if angle else matrix
