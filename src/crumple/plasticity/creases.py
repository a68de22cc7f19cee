"""Creases that a sheet has from the start: fold angles on edges become plastic curvature of the faces beside them.

Rest angles θ_0 on hinges give S_p = S(θ_0) by eq. 1 of [Narain2013], from which the same angles follow again exactly.
Positive angles are mountain folds (normals diverge), π is folded flat. Creases along lines of the pattern that have no
edges yet: see `crease_lines`.
"""

from __future__ import annotations

import numpy as np

from crumple.geometry.curvature import CurvatureStencil, bending_strain, curvature_stencil, rest_angle, shape_curvature
from crumple.geometry.metric import tensor_norm
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats


def crease_from_edges(
    mesh: SheetMesh,
    hinges: Bools,
    angle: float | Floats,
    *,
    plastic_curvature: Floats | None = None,
    stencil: CurvatureStencil | None = None,
) -> Floats:
    """S_p (face_count, 3) [1/m] with the rest angle `angle` [rad] on the marked hinges.

    `hinges` (hinge_count,) mask;  `angle` in (-π, π), one or one per hinge (hinge_count,). The other hinges keep
    their rest angles in `plastic_curvature`, flat when that is left out.
    """
    angles = np.broadcast_to(np.asarray(angle, np.float64), hinges.shape)
    if hinges.shape != (len(mesh.hinges.nodes),):
        raise InputError("crease", f"must mark each of the {len(mesh.hinges.nodes)} hinges", hinges.shape)
    if not np.all(np.abs(angles[hinges]) <= np.pi):
        raise InputError("crease.angle", "must lie between -π and π, in rad", float(np.abs(angles[hinges]).max()))
    stencil = curvature_stencil(mesh) if stencil is None else stencil
    if plastic_curvature is None:
        return bending_strain(stencil, np.where(hinges, angles, 0.0))
    change = np.where(hinges, angles - rest_angle(stencil, plastic_curvature), 0.0)
    return plastic_curvature + bending_strain(stencil, change)


def crease_from_labels(
    mesh: SheetMesh, angle_of_label: dict[int, float], *, plastic_curvature: Floats | None = None
) -> Floats:
    """S_p (face_count, 3) [1/m] with a rest angle [rad] on the edges that carry each label."""
    label = hinge_labels(mesh)
    stencil = curvature_stencil(mesh)
    result = np.zeros((mesh.face_count, 3)) if plastic_curvature is None else plastic_curvature
    for name, angle in angle_of_label.items():
        if not np.any(label == name):
            raise InputError("crease.label", "no inner edge of the mesh carries this label", name)
        result = crease_from_edges(mesh, label == name, angle, plastic_curvature=result, stencil=stencil)
    return result


def hinge_labels(mesh: SheetMesh) -> np.ndarray:
    """Label of each hinge, (hinge_count,), 0 = none."""
    return mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]]


def crease_from_shape(mesh: SheetMesh, y: Floats, stencil: CurvatureStencil | None = None) -> Floats:
    """S_p (face_count, 3) [1/m] of a sheet whose natural shape is y (node_count, 3) [m]."""
    return shape_curvature(mesh, y, stencil)


def crease_damage(plastic_curvature: Floats, yield_curvature: Floats) -> Floats:
    """δ = ‖S_p‖/κ_y (face_count,): the damage of faces that were bent from flat to S_p in one go.

    0 where κ_y is infinite. Creases that were worked back and forth are weaker than this.
    """
    return tensor_norm(plastic_curvature) / yield_curvature
