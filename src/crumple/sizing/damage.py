"""Criterion: damage may differ by at most Δδ along an edge (off by default).

    M = ∇δ ∇δᵀ / Δδ²

[Narain2013] §5.2 fears that a crease which is forced flat is coarsened and its damage smeared over a larger area,
and suggests a term of this kind. δ is averaged to the nodes by area first; along a crease of one row of elements
the nodes on the crease stand out against those beside it, so that elements stay narrow across it and may be long
along it.
"""

from __future__ import annotations

import numpy as np

from crumple.typing import Floats, Ints


def sizing_damage(
    face_nodes: Ints,
    gradients: Floats,
    face_area: Floats,
    node_count: int,
    damage: Floats,
    refine_damage: float,
    out: Floats | None = None,
) -> Floats:
    """∇δ∇δᵀ/Δδ² of each face, (face_count, 3) [1/m²].

    `gradients` (face_count, 3, 2) [1/m]; `face_area` (face_count,) [m²]; `damage` δ (face_count,); Δδ > 0.
    """
    out = np.empty((len(face_nodes), 3)) if out is None else out
    corner = face_nodes.ravel()
    weight = np.bincount(corner, weights=np.repeat(face_area, 3), minlength=node_count)
    total = np.bincount(corner, weights=np.repeat(face_area * damage, 3), minlength=node_count)
    node_damage = total / np.where(weight > 0.0, weight, 1.0)
    slope = np.einsum("fk,fkd->fd", node_damage[face_nodes], gradients) / refine_damage
    out[:, 0], out[:, 1], out[:, 2] = slope[:, 0] ** 2, slope[:, 1] ** 2, slope[:, 0] * slope[:, 1]
    return out
