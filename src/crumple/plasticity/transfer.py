"""Plastic state across remeshing: the shape is kept by the embedding, only what it cannot hold is resampled.

Before:  S_r = S_p - S(y)                       on the old faces
After:   S_p = S(y') + Σ_old a S_r / Σ_old a    with a the overlap areas of a new face with the old ones

([Narain2013] §3). Damage has no shape that could keep it and is resampled itself.

The embedding can only keep a fold whose nodes stay on it: a node that is collapsed to the side takes a corner off the
fold, and after some dozens of remeshes a tenth of the angle is gone. `mark_creases` labels the edges on folds, which
remeshing then keeps: nodes on them may still be collapsed along a straight fold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from crumple.geometry.curvature import CurvatureStencil, curvature_stencil, rest_angle
from crumple.geometry.overlap import overlap_average
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity.crease_lines import label_hinges
from crumple.plasticity.yielding import total_curvature
from crumple.typing import Bools, Floats

SHARP_ANGLE = 0.5
"""Hinges with larger rest angles than this are creases [rad]; a well resolved bend has some 0.3 per hinge."""
CREASE_LABEL = (1 << 30) + 1
"""Label of edges that are kept only because they are creases; removed after remeshing."""


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


def crease_hinges(
    mesh: SheetMesh,
    plastic_curvature: Floats,
    stencil: CurvatureStencil | None = None,
    *,
    sharp_angle: float = SHARP_ANGLE,
) -> Bools:
    """Hinges whose rest angle exceeds `sharp_angle` [rad], (hinge_count,).

    The angles of S_p, not those of the embedding: on crumpled sheets they pick the same hinges (but for 5 % near the
    limit), and they are there when the embedding has not caught up yet.
    """
    stencil = curvature_stencil(mesh) if stencil is None else stencil
    return np.abs(rest_angle(stencil, plastic_curvature)) > sharp_angle


def mark_creases(mesh: SheetMesh, hinges: Bools) -> SheetMesh:
    """The mesh with `CREASE_LABEL` on the marked hinges (hinge_count,) that have no label of their own."""
    free = mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]] == 0
    return label_hinges(mesh, hinges & free, CREASE_LABEL) if np.any(hinges & free) else mesh


def unmark_creases(mesh: SheetMesh) -> SheetMesh:
    """The mesh without the labels of `mark_creases`."""
    marked = mesh.edge_label == CREASE_LABEL
    return replace(mesh, edge_label=np.where(marked, 0, mesh.edge_label).astype(np.int32)) if marked.any() else mesh
