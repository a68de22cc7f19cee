"""Criterion: an edge is not longer than the distance to the obstacle it points at ([Narain2013] eq. 6).

    M = ⅓ Σ_i (d_iᵀ∇x)ᵀ(d_iᵀ∇x) / |d_i|⁴        over the corners i of the face

with d_i the vector from corner i to the nearest obstacle point. An edge w whose world vector ∇x w points at
the obstacle satisfies wᵀM w ≤ 1 when it is at most |d| long; edges along the obstacle are free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from crumple.boundary.obstacles import Obstacle
from crumple.geometry.triangle import deformation
from crumple.remeshing.proximity import nearest_obstacle
from crumple.runtime.typing import Floats, Ints
from crumple.state import State


@dataclass(frozen=True)
class ObstacleDistance:
    """Eq. 6 for each face: the `obstacles` of the model, of which those count that are present;  `size_min` [m]:
    smaller distances count as this one (an edge is never asked to be shorter);  `size_max` [m]: what is farther has no
    say;  `gradients` of the shape functions (face_count, 3, 2) [1/m]."""

    obstacles: tuple[Obstacle, ...]
    size_min: float
    size_max: float
    gradients: Floats

    def __call__(self, state: State) -> Floats:
        """The tensors of the faces, (face_count, 3) [1/m²]."""
        vector = nearest_obstacle(state.x, self._faces(state.time), state.obstacle_x, self.size_max)
        return sizing_obstacle(state.mesh.face_nodes, self.gradients, state.x, vector, self.size_min)

    def _faces(self, time: float) -> Ints:
        """The faces of the obstacles that are present at `time` [s], (n, 3) numbers of obstacle nodes."""
        faces, offset = [np.zeros((0, 3), np.int32)], 0
        for obstacle in self.obstacles:
            if obstacle.active(time):
                faces.append(obstacle.faces + np.int32(offset))
            offset += obstacle.node_count
        return np.concatenate(faces)


def sizing_obstacle(face_nodes: Ints, gradients: Floats, x: Floats, vector: Floats, distance_min: float) -> Floats:
    """Eq. 6 for each face, (face_count, 3) [1/m²].

    `x` (node_count, 3) [m]; `vector` (node_count, 3) from each node to the nearest obstacle point [m], NaN or infinite
    where there is none, 0 where the node touches (no direction: no say); `distance_min` [m]: see `ObstacleDistance`.
    """
    sizing = np.empty((len(face_nodes), 3))
    _proximity(face_nodes, gradients, x, vector, distance_min, sizing)
    return sizing


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
