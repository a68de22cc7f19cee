"""What the statistics of a frame are computed from: faces, normals, masses, curvatures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crumple.analysis.enclosing import Ball, enclosing_ball
from crumple.geometry.curvature import CurvatureStencil, curvature_stencil, rest_angle, shape_curvature
from crumple.geometry.hinge import dihedral_angles
from crumple.geometry.triangle import face_areas
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

SMALLEST_LENGTH = 1e-30
"""Floor of lengths that are divided by, so that a collapsed face gives zeros [m]."""


@dataclass(frozen=True)
class SheetShape:
    """One frame as the statistics see it; made by `measure_shape`.

    `mesh`, `x` (node_count, 3) [m]; per face: `area` of the material [m²], `thickness` [m], `mass` [kg],
    `yield_curvature` [1/m] (inf: elastic), `plastic_curvature` (face_count, 3) S_p as (xx, yy, xy) [1/m],
    `damage` δ. What follows from these is computed when it is first asked for.
    """

    mesh: SheetMesh
    x: Floats
    area: Floats
    thickness: Floats
    mass: Floats
    yield_curvature: Floats
    plastic_curvature: Floats
    damage: Floats

    @cached_property
    def corners(self) -> Floats:
        """World positions of the corners of each face [m], (face_count, 3, 3)."""
        return self.x[self.mesh.face_nodes]

    @cached_property
    def normal(self) -> Floats:
        """Unit normal of each face, (face_count, 3); zero for a collapsed face."""
        a, b, c = self.corners[:, 0], self.corners[:, 1], self.corners[:, 2]
        vector = np.cross(b - a, c - a)
        return vector / np.maximum(np.linalg.norm(vector, axis=1, keepdims=True), SMALLEST_LENGTH)

    @cached_property
    def center(self) -> Floats:
        """Centre of mass [m], (3,)."""
        return np.asarray(self.mass @ self.corners.mean(axis=1) / self.mass.sum())

    @cached_property
    def ball(self) -> Ball:
        """The smallest ball that holds all nodes of the sheet."""
        return enclosing_ball(self.x[np.unique(self.mesh.face_nodes)])

    @cached_property
    def mean_thickness(self) -> float:
        """Volume over area [m]."""
        return float(self.area @ self.thickness / self.area.sum())

    @cached_property
    def volume(self) -> float:
        """Volume of the material [m³]."""
        return float(self.area @ self.thickness)

    @property
    def volume_fraction(self) -> float:
        """φ: the volume of the sheet over that of the enclosing ball."""
        return self.volume / self.ball.volume

    @cached_property
    def area_ratio(self) -> float:
        """Area in the world over that of the material: 1 for a sheet that bends; less when a mesh too coarse to fold
        is squeezed in plane instead, and the statistics are those of the mesh, not of the sheet."""
        return float(face_areas(self.x, self.mesh.face_nodes).sum() / self.area.sum())

    @cached_property
    def stencil(self) -> CurvatureStencil:
        """The maps between hinge angles and bending strain."""
        return curvature_stencil(self.mesh)

    @cached_property
    def angle(self) -> Floats:
        """Dihedral angle of each hinge [rad], (hinge_count,)."""
        return dihedral_angles(self.x, self.mesh.hinges.nodes)

    @cached_property
    def crease_angle(self) -> Floats:
        """Rest angle of each hinge [rad], (hinge_count,)."""
        return rest_angle(self.stencil, self.plastic_curvature)

    @cached_property
    def hinge_length(self) -> Floats:
        """Material length of each hinge [m], (hinge_count,)."""
        return self.mesh.corner_length[self.mesh.hinges.corners[:, 0]]

    @cached_property
    def curvature(self) -> Floats:
        """Total bending strain S of each face (eq. 1), (face_count, 3) [1/m]."""
        return shape_curvature(self.mesh, self.x, self.stencil)

    @cached_property
    def mean_curvature(self) -> Floats:
        """|tr S| of each face [1/m], twice the mean curvature: the curvature of a fold along one direction."""
        return np.abs(self.curvature[:, 0] + self.curvature[:, 1])


def measure_shape(
    mesh: SheetMesh,
    x: Floats,
    materials: tuple[Material, ...],
    *,
    plastic_curvature: Floats | None = None,
    damage: Floats | None = None,
) -> SheetShape:
    """The shape of `mesh` at positions `x` (node_count, 3) [m]; no creases unless given."""
    if not mesh.face_count:
        raise InputError("analysis", "the frame has no faces")
    pick = mesh.face_material
    area = np.abs(mesh.face_area)
    density = np.array([material.density for material in materials])[pick]
    return SheetShape(
        mesh=mesh,
        x=x,
        area=area,
        thickness=np.array([material.thickness for material in materials])[pick],
        mass=area * density,
        yield_curvature=np.array([material.yield_curvature for material in materials])[pick],
        plastic_curvature=np.zeros((mesh.face_count, 3)) if plastic_curvature is None else plastic_curvature,
        damage=np.zeros(mesh.face_count) if damage is None else damage,
    )


def principal_curvatures(strain: Floats) -> tuple[Floats, Floats]:
    """Larger and smaller absolute eigenvalue of symmetric tensors (n, 3) as (xx, yy, xy), each (n,)."""
    middle = 0.5 * (strain[:, 0] + strain[:, 1])
    radius = np.hypot(0.5 * (strain[:, 0] - strain[:, 1]), strain[:, 2])
    return np.abs(middle) + radius, np.abs(np.abs(middle) - radius)
