"""Criterion: the normal may turn by at most Δn along an edge ([Narain2013] eq. 1 and 7).

    M = SᵀS / Δn²

Along an edge w (pattern vector [m]) of a sheet with bending strain S the normal turns by |S w|, and
wᵀM w ≤ 1 ⇔ |S w| ≤ Δn. Eq. 7 prints S/Δn², which has the unit 1/m instead of 1/m² and no definite sign:
it is to be read as the square, as in the older M = (∇n)ᵀ(∇n)/Δn².
"""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.geometry.metric import scalar_square
from crumple.typing import Floats


def sizing_curvature(curvature: Floats, refine_angle: float, out: Floats | None = None) -> Floats:
    """S²/Δn² of each face, (face_count, 3) [1/m²], from S (face_count, 3) [1/m] and Δn [rad]."""
    out = np.empty_like(curvature) if out is None else out
    _square(curvature, 1.0 / refine_angle**2, out)
    return out


@njit(cache=True)
def _square(tensor, scale, out):
    """out = scale tensor²."""
    for f in range(len(tensor)):
        xx, yy, xy = scalar_square(tensor[f, 0], tensor[f, 1], tensor[f, 2])
        out[f, 0], out[f, 1], out[f, 2] = scale * xx, scale * yy, scale * xy
