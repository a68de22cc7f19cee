"""Criterion: the normal may turn by at most Δn along an edge ([Narain2013] eq. 1 and 7).

    M = SᵀS / Δn²

Along an edge w (pattern vector [m]) of a sheet with bending strain S the normal turns by |S w|, and
wᵀM w ≤ 1 ⇔ |S w| ≤ Δn. Eq. 7 prints S/Δn², which has the unit 1/m instead of 1/m² and no definite sign:
it is to be read as the square, as in the older M = (∇n)ᵀ(∇n)/Δn².

With the bending strain of the plastic rest shape, S_p, it is the criterion by which a crease that is flattened in
world space keeps its resolution (§4, eq. 7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from crumple.geometry.metric import scalar_square
from crumple.runtime.typing import Floats
from crumple.state import State


@dataclass(frozen=True)
class Curvature:
    """S²/Δn² of each face: `refine_angle` Δn [rad];  `strain`: bending strain S of a state, (face_count, 3) [1/m]."""

    refine_angle: float
    strain: Callable[[State], Floats]

    def __call__(self, state: State) -> Floats:
        """The tensors of the faces, (face_count, 3) [1/m²]."""
        strain = self.strain(state)
        sizing = np.empty_like(strain)
        _square(strain, 1.0 / self.refine_angle**2, sizing)
        return sizing


@njit(cache=True)
def _square(tensor, scale, out):
    """out = scale tensor²."""
    for f in range(len(tensor)):
        xx, yy, xy = scalar_square(tensor[f, 0], tensor[f, 1], tensor[f, 2])
        out[f, 0], out[f, 1], out[f, 2] = scale * xx, scale * yy, scale * xy
