"""From a mesh and its materials to elastic energies: which faces are constant, which are measured.

A hinge lies between two faces, which bend in series: with the stiffness B, damage δ and weakening γ of each,

    (A1+A2)/B = A1 (1 + γ1 δ1)/B1 + A2 (1 + γ2 δ2)/B2

where B1 and B2 are those of a curvature across the edge, in the pattern directions of each face.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crumple.energies.bending_hinge import BendingHinge, hinge_stiffness
from crumple.energies.bending_measured import BendingMeasured, knot_angles
from crumple.energies.elastic_energy import ElasticEnergy
from crumple.energies.membrane_baraff_witkin import make_baraff_witkin
from crumple.energies.membrane_measured import MembraneMeasured, make_membrane_measured
from crumple.energies.membrane_stvk import MembraneStvk, make_membrane_stvk
from crumple.energies.traced.energy import TracedResiduals
from crumple.materials.material import CURVATURE_KNOTS, Material, bending_along
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Bools, Floats, Ints

Hinge: TypeAlias = BendingHinge | BendingMeasured
Indices: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class MembraneParts:
    """The membranes of all faces of a mesh, unstrained at rest: `constant` ones, `measured` ones, and `stretched` ones
    by the model of [Baraff1998], if any.

    `faces`: which faces each has;  `damping`: their damping time β [s];  `grain` (face_count,): see `_grain`.
    """

    constant: MembraneStvk | None
    measured: MembraneMeasured | None
    stretched: TracedResiduals | None
    faces: tuple[Indices, Indices, Indices]
    damping: tuple[Floats, Floats, Floats]
    grain: Floats

    def at(self, x: Floats, rest_strain: Floats) -> list[tuple[ElasticEnergy, Floats]]:
        """The energies with the Green strain `rest_strain` (face_count, 3) at rest, and the damping times of each.

        The stiffness of measured membranes is that of the pose x.
        """
        parts: list[tuple[ElasticEnergy, Floats]] = [
            (energy, damping) for energy, damping, _ in self.by_strain(x, rest_strain)
        ]
        if self.stretched is not None:
            parts.append((self.stretched, self.damping[2]))
        return parts

    def by_strain(self, x: Floats, rest_strain: Floats) -> list[tuple[MembraneStvk, Floats, Indices]]:
        """Those whose energy is about the Green strain, likewise, and the faces of each."""
        parts: list[tuple[MembraneStvk, Floats, Indices]] = []
        rest_strain = _strain_along_grain(rest_strain, self.grain)
        if self.constant is not None:
            rested = replace(self.constant, rest_strain=rest_strain[self.faces[0]])
            parts.append((rested, self.damping[0], self.faces[0]))
        if self.measured is not None:
            sampled = replace(self.measured, rest_strain=rest_strain[self.faces[1]]).sampled(x)
            parts.append((sampled, self.damping[1], self.faces[1]))
        return parts


def make_membranes(mesh: SheetMesh, materials: tuple[Material, ...]) -> MembraneParts:
    """The membranes of `mesh`, whose faces name their material in `face_material`."""
    kinds = np.array([2 if one.is_baraff_witkin else int(one.membrane_is_measured) for one in materials])
    kind = kinds[mesh.face_material]
    damping = np.array([material.damping for material in materials])[mesh.face_material]
    corners = _corners_along_grain(mesh, materials)
    faces = np.flatnonzero(kind == 0), np.flatnonzero(kind == 1), np.flatnonzero(kind == 2)
    constant, measured, stretched = None, None, None
    if len(faces[0]):
        table = np.array([m.membrane if not m.membrane_is_measured else np.zeros(4) for m in materials])
        which = faces[0]
        constant = make_membrane_stvk(corners[which], mesh.face_nodes[which], table[mesh.face_material[which]])
    if len(faces[1]):
        table = np.array([m.membrane if m.membrane_is_measured else np.zeros((6, 4)) for m in materials])
        which = faces[1]
        measured = make_membrane_measured(corners[which], mesh.face_nodes[which], table[mesh.face_material[which]])
    if len(faces[2]):
        which = faces[2]
        chosen = [materials[k] for k in mesh.face_material[which]]
        stretched = make_baraff_witkin(
            corners[which],
            mesh.face_nodes[which],
            np.array([[one.membrane[0], 0.5 * one.membrane[3]] for one in chosen]),
            np.array([one.rest_scale for one in chosen]),
            np.array([one.area_power for one in chosen]),
        )
    times = (damping[faces[0]], damping[faces[1]], damping[faces[2]])
    return MembraneParts(constant, measured, stretched, faces, times, _grain(mesh, materials))


@dataclass(frozen=True)
class HingeParts:
    """The hinges of a mesh: `hinges` between constant faces, then others, and the stencil of each group (n, 4).

    `length` (hinge_count,) [m];  `faces` (hinge_count, 2);  `face_area` (face_count,) [m²];
    `side_stiffness` two of (hinge_count, width) [N m];  `weakening` (face_count,);  `damping` (hinge_count,) [s];
    `is_squared` (hinge_count,): see `Material.area_power`.
    """

    hinges: tuple[Indices, Indices]
    stencils: tuple[Ints, Ints]
    length: Floats
    faces: Ints
    face_area: Floats
    side_stiffness: tuple[Floats, Floats]
    weakening: Floats
    damping: Floats
    is_squared: Bools

    def stiffness(self, damage: Floats | None = None) -> Floats:
        """Bending stiffness B across each hinge, `damage` (face_count,) included [N m].

        (hinge_count, 1), or (hinge_count, 5) at the measured curvatures when some material is measured.
        """
        softening = np.ones(len(self.face_area)) if damage is None else 1.0 + self.weakening * damage
        compliance = np.zeros_like(self.side_stiffness[0])
        for side in range(2):
            face = self.faces[:, side]
            with np.errstate(divide="ignore"):  # a face without bending stiffness makes a hinge without
                compliance += (self.face_area[face] * softening[face])[:, None] / self.side_stiffness[side]
        bending: Floats = self._area[:, None] / compliance
        if self.is_squared.any():  # |e|/h_e = 3 l²/(A1+A2) once more
            bending[self.is_squared] *= (3.0 * self.length**2 / self._area)[self.is_squared, None]
        return bending

    def at(self, rest_angle: Floats, damage: Floats | None = None) -> list[tuple[Hinge, Floats]]:
        """The energies with the angles `rest_angle` (hinge_count,) [rad] at rest, and the damping times of each."""
        bending, area = self.stiffness(damage), self._area
        parts: list[tuple[Hinge, Floats]] = []
        constant, measured = self.hinges
        if len(constant):
            stiffness = hinge_stiffness(bending[constant, 0], self.length[constant], area[constant])
            energy = BendingHinge(self.stencils[0], stiffness, rest_angle[constant])
            parts.append((energy, self.damping[constant]))
        if len(measured):
            stiffness = hinge_stiffness(bending[measured], self.length[measured, None], area[measured, None])
            spacing = knot_angles(CURVATURE_KNOTS[1], self.length[measured], area[measured])
            cloth = BendingMeasured(self.stencils[1], stiffness, spacing, rest_angle[measured])
            parts.append((cloth, self.damping[measured]))
        return parts

    @property
    def _area(self) -> Floats:
        """Area of both faces of each hinge [m²]."""
        area: Floats = self.face_area[self.faces].sum(axis=1)
        return area


def make_hinges(mesh: SheetMesh, materials: tuple[Material, ...]) -> HingeParts:
    """The hinges of `mesh`, whose faces name their material in `face_material`."""
    hinges = mesh.hinges
    group = mesh.face_material[hinges.faces]
    is_measured = np.array([material.bending_is_measured for material in materials])[group].any(axis=1)
    width = len(CURVATURE_KNOTS) if any(material.bending_is_measured for material in materials) else 1
    chosen = np.flatnonzero(~is_measured), np.flatnonzero(is_measured)
    return HingeParts(
        hinges=chosen,
        stencils=(hinges.nodes[chosen[0]], hinges.nodes[chosen[1]]),
        length=mesh.corner_length[hinges.corners].mean(axis=1),
        faces=hinges.faces,
        face_area=np.abs(mesh.face_area),
        side_stiffness=(
            _side_bending(mesh, materials, hinges.corners[:, 0], width),
            _side_bending(mesh, materials, hinges.corners[:, 1], width),
        ),
        weakening=np.array([material.weakening for material in materials])[mesh.face_material],
        damping=np.array([material.damping for material in materials])[group].mean(axis=1),
        is_squared=np.asarray(np.array([material.area_power for material in materials])[group].min(axis=1) == 2),
    )


def _side_bending(mesh: SheetMesh, materials: tuple[Material, ...], corners: Ints, width: int) -> Floats:
    """Bending stiffness of one face of each hinge when curved across the half-edge `corners`, (n, width)."""
    face, k = corners // 3, corners % 3
    edge = mesh.u[mesh.faces[face, (k + 1) % 3]] - mesh.u[mesh.faces[face, k]]
    across = np.arctan2(edge[:, 0], -edge[:, 1])
    group = mesh.face_material[face]
    stiffness = np.empty((len(corners), width))
    for index, material in enumerate(materials):
        chosen: Bools = group == index
        values = bending_along(material.bending, across[chosen] - material.grain_angle)
        stiffness[chosen] = values if values.ndim == 2 else values[:, None]
    return stiffness


def _corners_along_grain(mesh: SheetMesh, materials: tuple[Material, ...]) -> Floats:
    """Pattern corners (face_count, 3, 2) [m] on axes along and across the grain, which stiffnesses refer to."""
    corners: Floats = mesh.u[mesh.faces]
    grain = _grain(mesh, materials)
    if not grain.any():
        return corners
    c, s = np.cos(grain)[:, None], np.sin(grain)[:, None]
    return np.stack([c * corners[..., 0] + s * corners[..., 1], c * corners[..., 1] - s * corners[..., 0]], axis=2)


def _strain_along_grain(strain: Floats, grain: Floats) -> Floats:
    """A strain (face_count, 3) xx, yy, xy on the pattern axes, on axes along and across the grain (face_count,)."""
    if not grain.any():
        return strain
    c, s = np.cos(grain), np.sin(grain)
    xx, yy, xy = strain.T
    along, across = c * c * xx + s * s * yy + 2.0 * c * s * xy, s * s * xx + c * c * yy - 2.0 * c * s * xy
    return np.stack([along, across, c * s * (yy - xx) + (c * c - s * s) * xy], axis=1)


def _grain(mesh: SheetMesh, materials: tuple[Material, ...]) -> Floats:
    """Angle of the grain of each face, from u [rad], (face_count,)."""
    return np.array([material.grain_angle for material in materials])[mesh.face_material]
