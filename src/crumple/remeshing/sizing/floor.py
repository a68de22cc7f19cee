"""Criterion: the mesh is never coarser than where the sheet was folded before (M_init of [Jiang2016] §3).

The sizing field of the run that has folded the sheet is kept on the vertices (`State.sizing_floor`), so that what was
fine there is not coarsened when the sheet is laid flat.
"""

from __future__ import annotations

import numpy as np

from crumple.geometry.metric import tensor_eigen, tensor_from_eigen
from crumple.runtime.typing import Floats
from crumple.state import State


def sizing_floor(state: State) -> Floats:
    """The tensors M_init of the faces (face_count, 3) [1/m²]: the mean of those of their vertices.

    Interpolation leaves traces of rounding at vertices beside the field, of either sign: only the positive part counts.
    """
    if not state.sizing_floor.any():
        return np.zeros((state.mesh.face_count, 3))
    values, axis = tensor_eigen(state.sizing_floor[state.mesh.faces].mean(axis=1))
    return tensor_from_eigen(np.maximum(values, 0.0), axis)
