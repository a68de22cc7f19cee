"""Criterion: the velocity may differ by at most Δv along an edge ([Narain2013] eq. 5).

M = (∇v)ᵀ(∇v) / Δv²,      wᵀM w ≤ 1 ⇔ |∇v w| ≤ Δv.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from crumple.geometry.triangle import deformation
from crumple.runtime.typing import Floats
from crumple.state import State


@dataclass(frozen=True)
class Velocity:
    """(∇v)ᵀ(∇v)/Δv² of each face: `refine_velocity` Δv [m/s];  `gradients` of the shape functions (face_count, 3, 2)
    [1/m]."""

    refine_velocity: float
    gradients: Floats

    def __call__(self, state: State) -> Floats:
        """The tensors of the faces, (face_count, 3) [1/m²]."""
        sizing = np.empty((state.mesh.face_count, 3))
        _gram(state.mesh.face_nodes, self.gradients, state.v, 1.0 / self.refine_velocity**2, sizing)
        return sizing


@njit(cache=True)
def _gram(face_nodes, gradients, v, scale, out):
    """out = scale GᵀG with G the 3×2 gradient of v."""
    for f in range(len(face_nodes)):
        px, py, pz, qx, qy, qz = deformation(v, face_nodes[f, 0], face_nodes[f, 1], face_nodes[f, 2], gradients, f)
        out[f, 0] = scale * (px * px + py * py + pz * pz)
        out[f, 1] = scale * (qx * qx + qy * qy + qz * qz)
        out[f, 2] = scale * (px * qx + py * qy + pz * qz)
