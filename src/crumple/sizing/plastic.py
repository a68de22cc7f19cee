"""Criterion: a crease that is flattened in world space keeps its resolution ([Narain2013] §4, eq. 7).

    M = S_pᵀS_p / Δn²

the same bound on the turn of the normal as for the world shape, in the plastic rest shape.
"""

from __future__ import annotations

from crumple.sizing.curvature import sizing_curvature
from crumple.typing import Floats


def sizing_plastic(plastic_curvature: Floats, refine_angle: float, out: Floats | None = None) -> Floats:
    """S_p²/Δn² of each face, (face_count, 3) [1/m²], from S_p (face_count, 3) [1/m] and Δn [rad]."""
    return sizing_curvature(plastic_curvature, refine_angle, out)
