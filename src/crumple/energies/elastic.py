"""From a mesh and its materials to elastic energies: which faces are constant, which are measured.

A hinge lies between two faces, which bend in series: with the stiffness B, damage δ and weakening γ of each,

    (A1+A2)/B = A1 (1 + γ1 δ1)/B1 + A2 (1 + γ2 δ2)/B2

where B1 and B2 are those of a curvature across the edge, in the pattern directions of each face.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from crumple.energies.bending_hinge import BendingHinge, hinge_stiffness
from crumple.energies.bending_measured import BendingMeasured, knot_angles
from crumple.energies.contract import BatchEnergy
from crumple.energies.damping import fold_damping, make_damping
from crumple.energies.membrane_measured import MembraneMeasured, make_membrane_measured
from crumple.energies.membrane_stvk import MembraneStvk, make_membrane_stvk
from crumple.materials.material import CURVATURE_KNOTS, Material, bending_along
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.typing import Bools, Floats, Ints

Spring: TypeAlias = MembraneStvk | BendingHinge | BendingMeasured


@dataclass(frozen=True)
class Elastic:
    """The elastic energies of all sheets. `damping[k]` (n,): damping time β [s] of `energies[k]`."""

    energies: tuple[Spring, ...]
    damping: tuple[Floats, ...]

    def update(self, x: Floats) -> Elastic:
        """The same with the stiffness of measured membranes sampled at `x`; call once per step."""
        energies = tuple(e.update(x) if isinstance(e, MembraneMeasured) else e for e in self.energies)
        return replace(self, energies=energies)

    def damped(self, start: Floats, step: float) -> tuple[BatchEnergy, ...]:
        """Elastic energy plus dissipation over a step of `step` [s] from positions `start`, up to a constant."""
        energies: list[BatchEnergy] = []
        for energy, damping in zip(self.energies, self.damping, strict=True):
            if not damping.any():
                energies.append(energy)
            elif isinstance(energy, BendingMeasured):
                energies += [energy, make_damping(energy, start, damping / step)]
            else:
                energies.append(fold_damping(energy, start, damping / step))
        return tuple(energies)


def make_elastic(
    mesh: SheetMesh,
    materials: tuple[Material, ...],
    *,
    rest_angle: Floats | None = None,
    damage: Floats | None = None,
    rest_strain: Floats | None = None,
) -> Elastic:
    """Membrane and bending energies of `mesh`, whose faces name their material in `face_material`.

    `rest_angle` (hinge_count,) [rad], flat by default;  `damage` (face_count,), none by default;
    `rest_strain` (face_count, 3) Green strain without stress, none by default.
    """
    terms = [
        *make_membrane(mesh, materials, rest_strain=rest_strain),
        *make_bending(mesh, materials, rest_angle=rest_angle, damage=damage),
    ]
    return Elastic(tuple(energy for energy, _ in terms), tuple(damping for _, damping in terms))


def rebend(
    elastic: Elastic, mesh: SheetMesh, materials: tuple[Material, ...], *, rest_angle: Floats, damage: Floats
) -> Elastic:
    """The same energies of the same mesh with other rest angles (hinge_count,) [rad] and damage (face_count,)."""
    bent = [energy for energy, _ in make_bending(mesh, materials, rest_angle=rest_angle, damage=damage)]
    flat = elastic.energies[: len(elastic.energies) - len(bent)]
    kept = elastic.energies[len(flat) :]
    renewed = (replace(new, stencil=old.stencil) for new, old in zip(bent, kept, strict=True))
    return replace(elastic, energies=(*flat, *renewed))


def restretch(elastic: Elastic, mesh: SheetMesh, materials: tuple[Material, ...], *, rest_strain: Floats) -> Elastic:
    """The same energies of the same mesh with another strain without stress, (face_count, 3)."""
    measured = np.array([material.membrane_is_measured for material in materials])[mesh.face_material]
    rest_strain = _strain_along_grain(rest_strain, mesh, materials)
    energies = tuple(
        replace(energy, rest_strain=rest_strain[measured == isinstance(energy, MembraneMeasured)])
        if isinstance(energy, MembraneStvk)
        else energy
        for energy in elastic.energies
    )
    return replace(elastic, energies=energies)


def make_membrane(
    mesh: SheetMesh, materials: tuple[Material, ...], *, rest_strain: Floats | None = None
) -> list[tuple[Spring, Floats]]:
    """The membrane energies of `mesh` with their damping times [s]: constant faces, then measured ones."""
    rest = np.zeros((mesh.face_count, 3)) if rest_strain is None else rest_strain
    rest = _strain_along_grain(rest, mesh, materials)
    measured = np.array([material.membrane_is_measured for material in materials])[mesh.face_material]
    damping = np.array([material.damping for material in materials])[mesh.face_material]
    corners = _corners_along_grain(mesh, materials)
    terms: list[tuple[Spring, Floats]] = []
    if not measured.all():
        faces = np.flatnonzero(~measured)
        table = np.array([m.membrane if not m.membrane_is_measured else np.zeros(4) for m in materials])
        energy = make_membrane_stvk(corners[faces], mesh.face_nodes[faces], table[mesh.face_material[faces]])
        terms.append((replace(energy, rest_strain=rest[faces]), damping[faces]))
    if measured.any():
        faces = np.flatnonzero(measured)
        table = np.array([m.membrane if m.membrane_is_measured else np.zeros((6, 4)) for m in materials])
        knit = make_membrane_measured(corners[faces], mesh.face_nodes[faces], table[mesh.face_material[faces]])
        terms.append((replace(knit, rest_strain=rest[faces]), damping[faces]))
    return terms


def make_bending(
    mesh: SheetMesh,
    materials: tuple[Material, ...],
    *,
    rest_angle: Floats | None = None,
    damage: Floats | None = None,
) -> list[tuple[Spring, Floats]]:
    """The bending energies of `mesh` with their damping times [s]: hinges between constant faces, then others."""
    hinges = mesh.hinges
    rest_angle = np.zeros(len(hinges.nodes)) if rest_angle is None else rest_angle
    faces = mesh.face_material[hinges.faces]
    measured = np.array([material.bending_is_measured for material in materials])[faces].any(axis=1)
    damping = np.array([material.damping for material in materials])[faces].mean(axis=1)
    bending = hinge_bending(mesh, materials, damage)
    length = mesh.corner_length[hinges.corners].mean(axis=1)
    area = np.abs(mesh.face_area)[hinges.faces].sum(axis=1)
    terms: list[tuple[Spring, Floats]] = []
    if not measured.all():
        chosen = np.flatnonzero(~measured)
        stiffness = hinge_stiffness(bending[chosen, 0], length[chosen], area[chosen])
        terms.append((BendingHinge(hinges.nodes[chosen], stiffness, rest_angle[chosen]), damping[chosen]))
    if measured.any():
        chosen = np.flatnonzero(measured)
        stiffness = hinge_stiffness(bending[chosen], length[chosen, None], area[chosen, None])
        spacing = knot_angles(CURVATURE_KNOTS[1], length[chosen], area[chosen])
        energy = BendingMeasured(hinges.nodes[chosen], stiffness, spacing, rest_angle[chosen])
        terms.append((energy, damping[chosen]))
    return terms


def hinge_bending(mesh: SheetMesh, materials: tuple[Material, ...], damage: Floats | None = None) -> Floats:
    """Bending stiffness B across each hinge, damage included [N m].

    (hinge_count, 1), or (hinge_count, 5) at the measured curvatures when some material is measured.
    """
    hinges = mesh.hinges
    width = len(CURVATURE_KNOTS) if any(material.bending_is_measured for material in materials) else 1
    weakening = np.array([material.weakening for material in materials])[mesh.face_material]
    softening = np.ones(mesh.face_count) if damage is None else 1.0 + weakening * damage
    compliance = np.zeros((len(hinges.nodes), width))
    for side in range(2):
        face = hinges.faces[:, side]
        stiffness = _side_bending(mesh, materials, hinges.corners[:, side], width)
        with np.errstate(divide="ignore"):  # a face without bending stiffness makes a hinge without
            compliance += (np.abs(mesh.face_area[face]) * softening[face])[:, None] / stiffness
    return np.abs(mesh.face_area)[hinges.faces].sum(axis=1)[:, None] / compliance


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
    corners = mesh.u[mesh.faces]
    grain = _grain(mesh, materials)
    if not grain.any():
        return corners
    c, s = np.cos(grain)[:, None], np.sin(grain)[:, None]
    return np.stack([c * corners[..., 0] + s * corners[..., 1], c * corners[..., 1] - s * corners[..., 0]], axis=2)


def _strain_along_grain(strain: Floats, mesh: SheetMesh, materials: tuple[Material, ...]) -> Floats:
    """A strain (face_count, 3) xx, yy, xy on the pattern axes, on axes along and across the grain."""
    grain = _grain(mesh, materials)
    if not grain.any():
        return strain
    c, s = np.cos(grain), np.sin(grain)
    xx, yy, xy = strain.T
    along, across = c * c * xx + s * s * yy + 2.0 * c * s * xy, s * s * xx + c * c * yy - 2.0 * c * s * xy
    return np.stack([along, across, c * s * (yy - xx) + (c * c - s * s) * xy], axis=1)


def _grain(mesh: SheetMesh, materials: tuple[Material, ...]) -> Floats:
    """Angle of the grain of each face, from u [rad]."""
    return np.array([material.grain_angle for material in materials])[mesh.face_material]
