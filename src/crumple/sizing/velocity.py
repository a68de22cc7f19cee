"""Criterion: the velocity may differ by at most Δv along an edge ([Narain2013] eq. 5).

M = (∇v)ᵀ(∇v) / Δv²,      wᵀM w ≤ 1 ⇔ |∇v w| ≤ Δv.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.geometry.triangle import deformation
from crumple.typing import Floats, Ints


def sizing_velocity(
    face_nodes: Ints, gradients: Floats, v: Floats, refine_velocity: float, out: Floats | None = None
) -> Floats:
    """(∇v)ᵀ(∇v)/Δv² of each face, (face_count, 3) [1/m²].

    `gradients` (face_count, 3, 2) of the shape functions [1/m]; `v` (node_count, 3) [m/s]; Δv [m/s].
    """
    out = np.empty((len(face_nodes), 3)) if out is None else out
    _gram(face_nodes, gradients, v, 1.0 / refine_velocity**2, out)
    return out


@njit(cache=True)
def _gram(face_nodes, gradients, v, scale, out):
    """out = scale GᵀG with G the 3×2 gradient of v."""
    for f in range(len(face_nodes)):
        px, py, pz, qx, qy, qz = deformation(v, face_nodes[f, 0], face_nodes[f, 1], face_nodes[f, 2], gradients, f)
        out[f, 0] = scale * (px * px + py * py + pz * pz)
        out[f, 1] = scale * (qx * qx + qy * qy + qz * qz)
        out[f, 2] = scale * (px * qx + py * qy + pz * qz)
