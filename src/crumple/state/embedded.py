"""Plastic curvature across a change of the mesh: its shape is kept by the embedding, only the rest is averaged.

Before:  S_r = S_p - S(y)                       on the old faces
After:   S_p = S(y') + Σ_old a S_r / Σ_old a    with a the overlap areas of a new face with the old ones

([Narain2013] §3). Damage has no shape that could keep it and is averaged itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from crumple.geometry.curvature import shape_curvature
from crumple.geometry.overlap import overlap_average
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats
from crumple.state.change import Change

if TYPE_CHECKING:
    from crumple.state.state import State


def plastic_residual(mesh: SheetMesh, y: Floats, plastic_curvature: Floats) -> Floats:
    """S_r: the plastic strain that the embedding y (node_count, 3) does not show, (face_count, 3) [1/m]."""
    return plastic_curvature - shape_curvature(mesh, y)


def restore_plastic(mesh: SheetMesh, y: Floats, residual: Floats, overlap: csr_matrix) -> Floats:
    """S_p of the new `mesh` with the embedding y: its bending strain plus the resampled residual of the old faces.

    `residual` (old_face_count, 3) [1/m]; `overlap` areas (new × old faces) of `geometry.overlap.overlap_area`.
    """
    return shape_curvature(mesh, y) + overlap_average(overlap, residual)


def follow_plastic_curvature(state: State, y: Floats, change: Change) -> Floats:
    """S_p (face_count, 3) [1/m] on the new mesh, whose embedding is y (node_count, 3) [m]."""
    if not np.any(state.plastic_curvature):
        return np.zeros((change.mesh.face_count, 3))
    residual = plastic_residual(state.mesh, state.y, state.plastic_curvature)
    return restore_plastic(change.mesh, y, residual, change.face_operator)
