"""Criterion: compression alone, blind to ribs, for comparison with `buckling` (Narain et al. 2012).

M = (-ε)⁺ / c²        ε Green strain; an edge along the compression |ε| may be c/√|ε| long.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.geometry.metric import scalar_positive_part
from crumple.typing import Floats


def sizing_compression(strain: Floats, refine_compression: float, out: Floats | None = None) -> Floats:
    """(-ε)⁺/c² of each face, (face_count, 3) [1/m²], from the Green strain (face_count, 3) and c [m]."""
    out = np.empty_like(strain) if out is None else out
    _negative_part(strain, 1.0 / refine_compression**2, out)
    return out


@njit(cache=True)
def _negative_part(strain, scale, out):
    """out = scale (-strain)⁺."""
    for f in range(len(strain)):
        xx, yy, xy = scalar_positive_part(-strain[f, 0], -strain[f, 1], -strain[f, 2])
        out[f, 0], out[f, 1], out[f, 2] = scale * xx, scale * yy, scale * xy
