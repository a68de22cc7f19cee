"""Plastic state across remeshing: the shape is kept by the embedding, only what it cannot hold is resampled.

Before:  S_r = S_p - S(y)                       on the old faces
After:   S_p = S(y') + Σ_old a S_r / Σ_old a    with a the overlap areas of a new face with the old ones

([Narain2013] §3). Damage has no shape that could keep it and is resampled itself.
"""

from __future__ import annotations

from scipy.sparse import csr_matrix

from crumple.geometry.curvature import CurvatureStencil, curvature_stencil
from crumple.geometry.overlap import overlap_average
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity.yielding import total_curvature
from crumple.typing import Floats


def plastic_residual(
    mesh: SheetMesh, y: Floats, plastic_curvature: Floats, stencil: CurvatureStencil | None = None
) -> Floats:
    """S_r: the plastic strain that the embedding y (node_count, 3) does not show, (face_count, 3) [1/m]."""
    stencil = curvature_stencil(mesh) if stencil is None else stencil
    return plastic_curvature - total_curvature(mesh, stencil, y)


def restore_plastic(
    mesh: SheetMesh, y: Floats, residual: Floats, overlap: csr_matrix, stencil: CurvatureStencil | None = None
) -> Floats:
    """S_p of the new `mesh` with the embedding y: its bending strain plus the resampled residual of the old faces.

    `residual` (old_face_count, 3) [1/m]; `overlap` areas (new × old faces) of `geometry.overlap.overlap_area`.
    """
    stencil = curvature_stencil(mesh) if stencil is None else stencil
    return total_curvature(mesh, stencil, y) + overlap_average(overlap, residual)


def restore_damage(damage: Floats, overlap: csr_matrix) -> Floats:
    """δ of the new faces, the area-weighted average over the old ones (old_face_count,)."""
    return overlap_average(overlap, damage)
