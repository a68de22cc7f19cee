"""Criterion: an edge is not longer than the distance to the obstacle it points at ([Narain2013] eq. 6).

    M = ⅓ Σ_i (d_iᵀ∇x)ᵀ(d_iᵀ∇x) / |d_i|⁴        over the corners i of the face

with d_i the vector from corner i to the nearest obstacle point. An edge w whose world vector ∇x w points at
the obstacle satisfies wᵀM w ≤ 1 when it is at most |d| long; edges along the obstacle are free.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crumple.geometry.triangle import deformation
from crumple.typing import Floats, Ints


def sizing_obstacle(
    face_nodes: Ints,
    gradients: Floats,
    x: Floats,
    obstacle_vector: Floats,
    distance_min: float,
    out: Floats | None = None,
) -> Floats:
    """Eq. 6 for each face, (face_count, 3) [1/m²].

    `x` (node_count, 3) [m]; `obstacle_vector` (node_count, 3) from each node to the nearest obstacle point [m],
    NaN or infinite where there is none, 0 where the node touches (no direction: no say).
    `distance_min` [m]: smaller distances count as this one (an edge is never asked to be shorter).
    """
    out = np.empty((len(face_nodes), 3)) if out is None else out
    _proximity(face_nodes, gradients, x, obstacle_vector, distance_min, out)
    return out


@njit(cache=True)
def _proximity(face_nodes, gradients, x, vector, distance_min, out):
    """Eq. 6 with |d|⁴ = |d|² max(|d|, distance_min)²."""
    for f in range(len(face_nodes)):
        px, py, pz, qx, qy, qz = deformation(x, face_nodes[f, 0], face_nodes[f, 1], face_nodes[f, 2], gradients, f)
        xx, yy, xy = 0.0, 0.0, 0.0
        for k in range(3):
            n = face_nodes[f, k]
            dx, dy, dz = vector[n, 0], vector[n, 1], vector[n, 2]
            square = dx * dx + dy * dy + dz * dz
            if not (square > 0.0 and math.isfinite(square)):
                continue
            scale = 1.0 / (3.0 * square * max(square, distance_min * distance_min))
            p = dx * px + dy * py + dz * pz
            q = dx * qx + dy * qy + dz * qz
            xx += scale * p * p
            yy += scale * q * q
            xy += scale * p * q
        out[f, 0], out[f, 1], out[f, 2] = xx, yy, xy
