"""Criterion: damage may differ by at most Δδ along an edge (off by default).

    M = ∇δ ∇δᵀ / Δδ²

[Narain2013] §5.2 fears that a crease which is forced flat is coarsened and its damage smeared over a larger area,
and suggests a term of this kind. δ is averaged to the nodes by area first; along a crease of one row of elements
the nodes on the crease stand out against those beside it, so that elements stay narrow across it and may be long
along it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.runtime.typing import Floats
from crumple.state import State


@dataclass(frozen=True)
class Damage:
    """∇δ∇δᵀ/Δδ² of each face: `refine_damage` Δδ > 0;  `gradients` of the shape functions (face_count, 3, 2) [1/m]."""

    refine_damage: float
    gradients: Floats

    def __call__(self, state: State) -> Floats:
        """The tensors of the faces, (face_count, 3) [1/m²]."""
        mesh, corner = state.mesh, state.mesh.face_nodes.ravel()
        weight = np.bincount(corner, weights=np.repeat(mesh.face_area, 3), minlength=mesh.node_count)
        total = np.bincount(corner, weights=np.repeat(mesh.face_area * state.damage, 3), minlength=mesh.node_count)
        damage = total / np.where(weight > 0.0, weight, 1.0)
        p, q = (np.einsum("fk,fkd->fd", damage[mesh.face_nodes], self.gradients) / self.refine_damage).T
        return np.stack([p**2, q**2, p * q], axis=1)
