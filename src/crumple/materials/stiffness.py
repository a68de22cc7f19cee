"""The bending stiffness matrix of a sheet on its pattern, for any Poisson's ratio and any direction of the grain."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from crumple.materials.material import Material
from crumple.runtime.typing import Floats

LEAST_TWIST = 1e-3
"""Floor of the twisting stiffness 4 D66 over √(D11 D22), for materials whose stiffness at 45° leaves none."""


def plate_stiffness(material: Material) -> Floats:
    """D (3, 3) [N m] of a material: moments (xx, yy, xy) per curvature (xx, yy, xy), energy ½ S·D·S per area.

    D11, D22 and D12 + 2 D66 come from `bending`, curved along u, v and 45°; D12 = ν √(D11 D22) with Poisson's ratio
    ν = C12/√(C11 C22) of the membrane; then D is turned by the grain. Isotropic: B [[1, ν, 0], [ν, 1, 0],
    [0, 0, 2 (1−ν)]]. Measured tables of bending count with their stiffness at zero curvature, measured membranes with
    ν at zero strain.
    """
    along_u, diagonal, along_v = (float(b) for b in np.maximum(material.bending.reshape(3, -1)[:, 0], 0.0))
    c11, c12, c22, _ = material.membrane.reshape(-1, 4)[0]
    mean = sqrt(along_u * along_v)
    coupling = 0.5 * (4.0 * diagonal - along_u - along_v)
    across = float(np.clip(c12 / sqrt(c11 * c22), -0.99, 0.99)) * mean
    twist = max(2.0 * (coupling - across), LEAST_TWIST * mean)
    on_grain = np.array([[along_u, across, 0.0], [across, along_v, 0.0], [0.0, 0.0, 0.25 * twist]])
    double = np.array([1.0, 1.0, 2.0])  # S12 counts once here, twice in `turned`
    return np.asarray(turned(on_grain, material.grain_angle) * np.outer(double, double), np.float64)


def turned(matrix: Floats, angle: float) -> Floats:
    """A stiffness (3, 3) given on axes that lie `angle` [rad] counter-clockwise from u, on the axes u and v.

    In the order (11, 22, 2·12): strains on the turned axes are T ε with the engineering shear 2 E12, so the result is
    Tᵀ M T.
    """
    c, s = cos(angle), sin(angle)
    turn = np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2.0 * c * s, 2.0 * c * s, c * c - s * s]])
    return turn.T @ matrix @ turn if angle else matrix
