"""Bending: the modulus a mesh shows, measured tables, direction, damage."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.energies import make_hinges
from crumple.energies.bending_hinge import BendingHinge, angle_law, hinge_stiffness
from crumple.energies.bending_measured import BendingMeasured, knot_angles
from crumple.energies.examples import PATCH, patch_poses
from crumple.materials import Material
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh


def sheet(**others) -> Material:
    """A material with B = 2 mN m."""
    return Material.from_stiffness(
        "test", **{"stretch": 1e3, "bend": 2e-3, "thickness": 1e-4, "density": 0.1, **others}
    )


def grid(nx: int, ny: int, *, equilateral: bool) -> SheetMesh:
    """nx × ny cells of 1 cm: right triangles along the axes, or equilateral ones."""
    i, j = np.meshgrid(np.arange(nx + 1), np.arange(ny + 1), indexing="ij")
    x = (i + 0.5 * j) if equilateral else i.astype(float)
    y = j * (np.sqrt(0.75) if equilateral else 1.0)
    n = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    a, b, c, d = n[:-1, :-1].ravel(), n[1:, :-1].ravel(), n[1:, 1:].ravel(), n[:-1, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, d], 1), np.stack([b, c, d], 1)])
    return make_sheet_mesh(0.01 * np.stack([x.ravel(), y.ravel()], 1), faces)


def rolled(mesh: SheetMesh, direction: float, curvature: float) -> np.ndarray:
    """The sheet rolled onto a cylinder, curved along `direction` [rad]."""
    c, s = np.cos(direction), np.sin(direction)
    along, across = mesh.u @ [c, s], mesh.u @ [-s, c]
    return np.stack([np.sin(curvature * along), curvature * across, 1 - np.cos(curvature * along)], 1) / curvature


def bending(mesh: SheetMesh, *materials: Material, damage: np.ndarray | None = None) -> BendingHinge | BendingMeasured:
    """The energy of all hinges, flat at rest."""
    ((energy, _),) = make_hinges(mesh, materials).at(np.zeros(len(mesh.hinges.nodes)), damage)
    return energy


def modulus(mesh: SheetMesh, material: Material, direction: float, curvature: float = 0.1) -> float:
    """Bending stiffness that the mesh shows inside: 2 E/(κ² area), by the hinges of interior faces."""
    energy = bending(mesh, material)
    rim = np.bincount(mesh.hinges.faces.ravel(), minlength=mesh.face_count) < 3
    # a third of the area of every hinge's faces, hinges on the rim of the mesh left out
    inside = ~rim[mesh.hinges.faces].any(axis=1)
    area = mesh.face_area[mesh.hinges.faces].sum(axis=1)[inside].sum() / 3.0
    x = np.ascontiguousarray(rolled(mesh, direction, curvature))
    return 2.0 * energy.value(x)[inside].sum() / (curvature**2 * area)


@pytest.mark.parametrize("direction", np.radians([0, 22.5, 45, 67.5, 90, 112.5, 135, 157.5]))
def test_equilateral_mesh_shows_the_given_stiffness(direction):
    """VALIDATION case bend-modulus: 1.00 ± 3 % in all directions."""
    assert np.isclose(modulus(grid(40, 40, equilateral=True), sheet(), direction), 2e-3, rtol=0.03)


def test_aligned_strip_shows_the_given_stiffness():
    """Rolled along u, a right-triangle mesh has exact stiffness: only the edges across u bend."""
    assert np.isclose(modulus(grid(30, 30, equilateral=False), sheet(), 0.0), 2e-3, rtol=0.04)


def test_stiffness_follows_the_direction_of_curvature():
    """Curved along u the mesh feels B_u, along v B_v."""
    material = Material("test", 1e-4, 0.1, np.array([1e3, 0, 1e3, 1e3]), np.array([3e-3, 2e-3, 1e-3]))
    mesh = grid(30, 30, equilateral=False)
    assert np.isclose(modulus(mesh, material, 0.0), 3e-3, rtol=0.04)
    assert np.isclose(modulus(mesh, material, np.pi / 2), 1e-3, rtol=0.04)


def test_constant_table_is_the_plain_hinge():
    poses = patch_poses(np.random.default_rng(0))
    material = sheet()
    table = Material("test", 1e-4, 0.1, material.membrane, np.full((3, 5), 2e-3))
    plain, measured = bending(PATCH, material), bending(PATCH, table)
    assert isinstance(plain, BendingHinge)
    assert isinstance(measured, BendingMeasured)
    for x in poses.values():
        np.testing.assert_allclose(measured.value(x), plain.value(x), rtol=1e-12)
        np.testing.assert_allclose(measured.gradient(x), plain.gradient(x), rtol=1e-12)
        for project in (True, False):
            expected = plain.hessian(x, project)
            np.testing.assert_allclose(measured.hessian(x, project), expected, atol=1e-12 * np.abs(expected).max())


def test_measured_moment_is_the_interpolated_stiffness_times_curvature():
    stiffness, step, length, area = np.array([3.0, 1.0, 4.0, 1.0, 5.0]), 5.0, 0.02, 1e-3
    knots = hinge_stiffness(stiffness, length, area)[None]
    spacing = knot_angles(step, np.array([length]), np.array([area]))
    for curvature in (-31.0, -7.0, 0.0, 2.0, 10.0, 12.5, 19.9, 44.0):
        angle = curvature * area / length
        expected = np.interp(abs(curvature), np.arange(5) * step, stiffness) * curvature
        moment = angle_law(knots, spacing, 0, angle)[1]
        assert np.isclose(moment / length, expected, rtol=1e-12)


def test_energy_is_continuous_across_knots():
    knots, spacing = np.array([[3.0, 1.0, 4.0, 1.0, 5.0]]), np.array([0.3])
    for knot in 0.3 * np.arange(1, 5):
        below, above = (angle_law(knots, spacing, 0, knot + shift) for shift in (-1e-9, 1e-9))
        np.testing.assert_allclose(below[:3], above[:3], rtol=1e-7)


def test_damage_adds_compliance_of_both_faces():
    """A1 (1+γδ1)/B + A2 (1+γδ2)/B."""
    material = sheet(weakening=2.0)
    damage = np.random.default_rng(1).uniform(0, 3, PATCH.face_count)
    fresh, weak = bending(PATCH, material), bending(PATCH, material, damage=damage)
    area = PATCH.face_area[PATCH.hinges.faces]
    expected = area.sum(axis=1) / (area * (1 + 2 * damage[PATCH.hinges.faces])).sum(axis=1)
    np.testing.assert_allclose(weak.stiffness / fresh.stiffness, expected)


def test_face_without_bending_stiffness_makes_a_free_hinge():
    materials = (sheet(), sheet(bend=0.0))
    mesh = make_sheet_mesh(PATCH.u, PATCH.faces, face_material=np.array([0, 0, 0, 0, 0, 1]))
    energy = bending(mesh, *materials)
    free = (mesh.hinges.faces == 5).any(axis=1)
    assert (energy.stiffness[free] == 0.0).all()
    assert (energy.stiffness[~free] > 0.0).all()
