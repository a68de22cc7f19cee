"""Criterion: compression alone, blind to ribs, for comparison with `buckling` (Narain et al. 2012).

M = (-ε)⁺ / c²        ε Green strain; an edge along the compression |ε| may be c/√|ε| long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from crumple.geometry.metric import scalar_positive_part
from crumple.runtime.typing import Floats
from crumple.state import State


@dataclass(frozen=True)
class Compression:
    """(-ε)⁺/c² of each face: `refine_compression` c [m];  `strain`: Green strain ε of a state, (face_count, 3)."""

    refine_compression: float
    strain: Callable[[State], Floats]

    def __call__(self, state: State) -> Floats:
        """The tensors of the faces, (face_count, 3) [1/m²]."""
        strain = self.strain(state)
        sizing = np.empty_like(strain)
        _negative_part(strain, 1.0 / self.refine_compression**2, sizing)
        return sizing


@njit(cache=True)
def _negative_part(strain, scale, out):
    """out = scale (-strain)⁺."""
    for f in range(len(strain)):
        xx, yy, xy = scalar_positive_part(-strain[f, 0], -strain[f, 1], -strain[f, 2])
        out[f, 0], out[f, 1], out[f, 2] = scale * xx, scale * yy, scale * xy
