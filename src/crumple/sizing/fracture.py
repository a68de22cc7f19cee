"""The mesh where a sheet may begin to tear, and where it was folded before ([Jiang2016] §3).

    M_frac = (λ/(2 f σ_t ℓ))² I

λ is the largest tension of a face, σ_t the tensile strength, ℓ the edge length at tips: edges have that length where
the tension reaches 2 f σ_t. f = ½ is the paper's (2 λ/(τ x_min))² with its strength τ = 2 σ_t.

M_init, the sizing field of the run that has crumpled the sheet, is kept on the vertices (`State.sizing_floor`), so that
what was fine there is not coarsened when the sheet is laid flat.
"""

from __future__ import annotations

import numpy as np

from crumple.geometry.metric import tensor_eigen, tensor_from_eigen
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.typing import Floats


def sizing_fracture(tension: Floats, strength: Floats, share: float, size: float) -> Floats:
    """The longest edge 2 f σ_t ℓ/λ (face_count,) [m], infinite where nothing pulls or the sheet cannot tear.

    `tension` λ (face_count,) ≥ 0 [Pa];  `strength` σ_t (face_count,) [Pa], inf = never;  `share` f;  `size` ℓ [m].
    """
    pulled = tension > 0.0
    longest = np.full(len(tension), np.inf)
    longest[pulled] = np.maximum(2.0 * share * strength[pulled] / tension[pulled], 1.0) * size
    return longest


def sizing_floor(mesh: SheetMesh, floor: Floats) -> Floats:
    """The tensors M_init of the faces (face_count, 3) [1/m²]: the mean of those of their vertices (vertex_count, 3).

    Interpolation leaves traces of rounding at vertices beside the field, of either sign: only the positive part counts.
    """
    values, axis = tensor_eigen(floor[mesh.faces].mean(axis=1))
    return tensor_from_eigen(np.maximum(values, 0.0), axis)
