"""The membrane law against hand-made strains; measured tables."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.membrane_measured import largest_stretch, make_membrane_measured, sample_membrane
from crumple.energies.membrane_stvk import clamp_negative, make_membrane_stvk
from crumple.materials.material import isotropic_membrane

CORNERS = PATCH.u[PATCH.faces]
AREA = PATCH.face_area.sum()


def energy_of(coefficients: np.ndarray, deformation: np.ndarray) -> float:
    """Energy per area of the patch under a uniform plane deformation gradient (2, 2)."""
    x = np.zeros((PATCH.node_count, 3))
    x[:, :2] = PATCH.u @ deformation.T
    return make_membrane_stvk(CORNERS, PATCH.face_nodes, coefficients).value(x).sum() / AREA


def test_isotropic_energy_is_the_textbook_one():
    """Y/(2(1−ν²)) [(1−ν) E:E + ν (tr E)²] for any plane deformation."""
    stretch, poisson = 3.0e3, 0.3
    deformation = np.array([[1.1, 0.2], [-0.05, 0.93]])
    strain = 0.5 * (deformation.T @ deformation - np.eye(2))
    expected = (1 - poisson) * (strain * strain).sum() + poisson * np.trace(strain) ** 2
    expected *= stretch / (2 * (1 - poisson**2))
    assert np.isclose(energy_of(isotropic_membrane(stretch, poisson), deformation), expected, rtol=1e-12)


def test_small_uniaxial_pull_feels_young_modulus():
    """With free sides the energy is ½ Y ε²."""
    stretch, poisson, pull = 500.0, 0.25, 1e-5
    deformation = np.diag([1 + pull, 1 - poisson * pull])
    assert np.isclose(energy_of(isotropic_membrane(stretch, poisson), deformation), 0.5 * stretch * pull**2, rtol=1e-4)


def test_coefficients_act_along_their_directions():
    coefficients, pull = np.array([100.0, 0.0, 7.0, 11.0]), 1e-6
    for deformation, expected in (
        (np.diag([1 + pull, 1]), 50.0),
        (np.diag([1, 1 + pull]), 3.5),
        (np.array([[1, pull], [pull, 1]]), 11.0),
    ):
        assert np.isclose(energy_of(coefficients, deformation), expected * pull**2, rtol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_clamped_stress_is_the_nearest_semidefinite_one(seed):
    s = np.random.default_rng(seed).standard_normal((2, 2))
    s = s + s.T
    values, vectors = np.linalg.eigh(s)
    expected = (vectors * np.maximum(values, 0.0)) @ vectors.T
    s00, s11, s01 = clamp_negative(s[0, 0], s[1, 1], s[0, 1])
    np.testing.assert_allclose([s00, s11, s01], [expected[0, 0], expected[1, 1], expected[0, 1]], atol=1e-14)


def test_projection_matters_under_compression():
    """The exact Hessian of a compressed sheet is indefinite: the projected one must differ."""
    energy = make_membrane_stvk(CORNERS, PATCH.face_nodes, isotropic_membrane(1e3, 0.3))
    x = patch_poses(np.random.default_rng(0))["compressed"]
    assert np.abs(energy.hessian(x, True) - energy.hessian(x, False)).max() > 10.0


def pulled(angle: float, size: float) -> np.ndarray:
    """Green strain xx, yy, xy of a pull of `size` along `angle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return size * np.array([[c * c, s * s, c * s]])


TABLE = np.arange(1.0, 25.0).reshape(6, 4) * [10.0, 1.0, 10.0, 10.0]


@pytest.mark.parametrize("row", range(5))
def test_table_is_met_at_its_knots(row):
    angle = np.radians(22.5) * row
    np.testing.assert_allclose(sample_membrane(TABLE[None], pulled(angle, 1 / 6)), TABLE[None, 1 + row])
    mirrored = sample_membrane(TABLE[None], pulled(np.pi - angle, 1 / 6))
    np.testing.assert_allclose(mirrored, TABLE[None, 1 + row])


def test_table_is_bilinear_between_and_constant_beyond():
    angle = np.radians(10.0)
    at_knot = TABLE[1] + (TABLE[2] - TABLE[1]) * 10.0 / 22.5
    half = sample_membrane(TABLE[None], pulled(angle, 1 / 12))
    np.testing.assert_allclose(half[0], 0.5 * (TABLE[0] + at_knot))
    np.testing.assert_allclose(sample_membrane(TABLE[None], pulled(angle, 0.9))[0], at_knot)
    np.testing.assert_allclose(sample_membrane(TABLE[None], -pulled(angle, 0.2))[0], TABLE[0])


def test_negative_entries_leave_a_definite_energy():
    table = np.random.default_rng(4).uniform(-300, 400, (200, 6, 4))
    strain = np.random.default_rng(5).uniform(-0.3, 0.3, (200, 3))
    c11, c12, c22, c33 = sample_membrane(table, strain).T
    assert (c11 > 0).all()
    assert (c33 > 0).all()
    assert (c12 >= 0).all()
    assert (c12**2 < c11 * c22).all()


def test_largest_stretch_is_the_top_eigenvalue():
    strain = np.random.default_rng(6).standard_normal((20, 3))
    size, angle = largest_stretch(strain)
    for (xx, yy, xy), value, phi in zip(strain, size, angle, strict=True):
        direction = np.array([np.cos(phi), np.sin(phi)])
        np.testing.assert_allclose(np.array([[xx, xy], [xy, yy]]) @ direction, value * direction, atol=1e-12)
        assert value >= 0.5 * (xx + yy)


def test_constant_table_is_the_plain_membrane():
    coefficients = isotropic_membrane(700.0, 0.2)
    x = patch_poses(np.random.default_rng(8))["random"]
    plain = make_membrane_stvk(CORNERS, PATCH.face_nodes, coefficients)
    measured = make_membrane_measured(CORNERS, PATCH.face_nodes, np.tile(coefficients, (6, 1))).sampled(x)
    np.testing.assert_allclose(measured.value(x), plain.value(x), rtol=1e-12)


def test_sampling_follows_the_strain_and_keeps_the_stencil():
    energy = make_membrane_measured(CORNERS, PATCH.face_nodes, TABLE)
    updated = energy.sampled(patch_poses(np.random.default_rng(9))["stretched"])
    assert updated.stencil is energy.stencil
    assert (updated.coefficients[:, 0] > energy.coefficients[:, 0]).all()
