"""Limits on the combined field: smallest and largest edge, smallest aspect ratio.

A tensor with eigenvalues λ asks for edges of length 1/√λ along its axes. λ is brought into
[1/size_max², 1/size_min²], then the smaller one raised to at least aspect_min² × the larger.
All of these are convex conditions on M, so area-weighted averages (the transfer to vertices) keep them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.geometry.metric import scalar_clamp
from crumple.runtime.typing import Floats


def limit_sizing(
    sizing: Floats, size_min: float, size_max: float, aspect_min: float, out: Floats | None = None
) -> Floats:
    """The tensors (n, 3) [1/m²] within the limits; sizes in m."""
    out = np.empty_like(sizing) if out is None else out
    _limit(sizing, 1.0 / size_max**2, 1.0 / size_min**2, aspect_min, out)
    return out


@njit(cache=True)
def _limit(sizing, low, high, aspect, out):
    """Eigenvalues in [low, high] and in a ratio ≥ aspect²."""
    for f in range(len(sizing)):
        out[f, 0], out[f, 1], out[f, 2] = scalar_clamp(sizing[f, 0], sizing[f, 1], sizing[f, 2], low, high, aspect)
