"""Creases are marked for remeshing.

The embedding can only keep a fold whose nodes stay on it: a node that is collapsed to the side takes a corner off the
fold, and after some dozens of remeshes a tenth of the angle is gone. `mark_creases` labels the edges on folds, which
remeshing then keeps: nodes on them may still be collapsed along a straight fold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.geometry.curvature import CurvatureStencil, curvature_stencil, rest_angle
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity.crease_lines import label_hinges
from crumple.plasticity.tuning import TUNING
from crumple.runtime.typing import Bools, Floats

SHARP_ANGLE = TUNING.sharp_angle.value
CREASE_LABEL = (1 << 30) + 1
"""Label of edges that are kept only because they are creases; removed after remeshing."""


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
