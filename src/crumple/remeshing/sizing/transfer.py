"""From faces to vertices: the area-weighted average, which also smooths the field ([Narain2013] §4)."""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats


def vertex_sizing(mesh: SheetMesh, sizing: Floats) -> Floats:
    """Average of the tensors of the faces around each vertex, weighted by area, (vertex_count, 3).

    Vertices, not nodes: a tensor lives in the pattern frame of its own panel, which a seam does not continue.
    A vertex without faces gets 0.
    """
    out = np.zeros((mesh.vertex_count, 3))
    _average(mesh.faces, mesh.face_area, sizing, np.zeros(mesh.vertex_count), out)
    return out


@njit(cache=True)
def _average(faces, area, sizing, weight, out):
    """out[v] = Σ_f A_f sizing_f / Σ_f A_f, summed in the order of faces."""
    for f in range(len(faces)):
        for k in range(3):
            vertex = faces[f, k]
            weight[vertex] += area[f]
            for m in range(3):
                out[vertex, m] += area[f] * sizing[f, m]
    for vertex in range(len(weight)):
        if weight[vertex] > 0.0:
            for m in range(3):
                out[vertex, m] /= weight[vertex]
