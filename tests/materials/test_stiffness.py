"""The bending stiffness on the pattern: isotropic limit, energies of known bends, turned grain, definiteness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.materials import Material, presets
from crumple.materials.material import bending_along
from crumple.materials.stiffness import plate_stiffness, turned
from crumple.runtime.errors import InputError

SHEET = {"thickness": 1e-4, "density": 0.08}


def bending_matrix(material):
    """D (3, 3) [N m] for curvatures (S11, S22, 2 S12); `plate_stiffness` takes (S11, S22, S12)."""
    return plate_stiffness(material) / np.outer([1, 1, 2], [1, 1, 2])


def membrane_matrix(material):
    """C (3, 3) [N/m] at zero strain for (E11, E22, 2 E12); `Material.membrane` counts shear as S12 = C33 E12."""
    c11, c12, c22, c33 = material.membrane.reshape(-1, 4)[0]
    return turned(np.array([[c11, c12, 0], [c12, c22, 0], [0, 0, 0.5 * c33]]), material.grain_angle)


@pytest.mark.parametrize("poisson", [-0.5, 0.0, 0.2, 0.45])
def test_isotropic_limit(poisson):
    """D = B [[1, ν, 0], [ν, 1, 0], [0, 0, 2 (1−ν)]], whatever the grain."""
    material = Material.isotropic("plate", young=5e9, poisson=poisson, grain_angle=0.7, **SHEET)
    stiffness = 5e9 * 1e-12 / 12 / (1 - poisson**2)
    expected = stiffness * np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, 2.0 * (1 - poisson)]])
    np.testing.assert_allclose(plate_stiffness(material), expected, atol=1e-12 * stiffness)


def test_orthotropic_plate_constants():
    """D11, D22, D12 = ν_vu D11, D66 = G h³/12 of the textbooks; S12 counts once, so the last is 4 D66."""
    along, across, poisson, shear = 5e9, 2e9, 0.3, 1.1e9
    material = Material.orthotropic("paper", young=(along, across), poisson=poisson, shear=shear, **SHEET)
    other, cube = poisson * across / along, 1e-12 / 12
    share = 1 - poisson * other
    twist = 4.0 * shear * share
    expected = cube * np.array([[along, other * along, 0], [other * along, across, 0], [0, 0, twist]]) / share
    np.testing.assert_allclose(plate_stiffness(material), expected, rtol=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.floats(0.1, 10), st.floats(0.0, 0.25), st.floats(-6, 6), st.floats(-6, 6))
def test_energy_of_a_bend_along_any_direction(ratio, poisson, grain, direction):
    """Curvature κ along a direction costs ½ B κ² with the B of that direction, counted from the grain."""
    young, poisson = (5e9, 5e9 * ratio), poisson / max(ratio, 1.0)
    material = Material.orthotropic("paper", young=young, poisson=poisson, grain_angle=grain, **SHEET)
    matrix = plate_stiffness(material)
    c, s = np.cos(direction), np.sin(direction)
    curvature = np.array([c * c, s * s, c * s])
    expected = bending_along(material.bending, np.array([direction - grain]))[0]
    np.testing.assert_allclose(curvature @ matrix @ curvature, expected, rtol=1e-9)
    assert np.linalg.eigvalsh(matrix).min() > 0.0
    np.testing.assert_allclose(matrix, matrix.T)


def test_a_quarter_turn_swaps_the_directions():
    material = presets()["paper80-md"]
    straight, swapped = (plate_stiffness(replace(material, grain_angle=angle)) for angle in (0.0, np.pi / 2))
    np.testing.assert_allclose(swapped, straight[[1, 0, 2]][:, [1, 0, 2]], atol=1e-18)
    np.testing.assert_allclose(turned(turned(straight, 0.4), -0.4), straight, atol=1e-18)


@pytest.mark.parametrize("name", list(presets()))
def test_presets_are_definite(name):
    assert np.linalg.eigvalsh(plate_stiffness(presets()[name])).min() > 0.0


def test_measured_tables_give_their_values_at_rest():
    table = np.outer([2e-5, 1.6e-5, 1.5e-5], [1.0, 0.8, 0.7, 0.6, 0.5])
    membrane = np.tile([900.0, 200.0, 800.0, 300.0], (6, 1))
    material = Material("cloth", 1e-4, 0.1, membrane, table)
    assert plate_stiffness(material)[0, 0] == 2e-5


def test_indefinite_sheets_are_refused_by_name():
    with pytest.raises(InputError, match=r"material 'bad': poisson = 1\.5 \(ν_uv ν_vu"):
        Material.orthotropic("bad", young=(1e9, 1e9), poisson=1.5, **SHEET)
    with pytest.raises(InputError, match="material 'bad': poisson"):
        Material.orthotropic("bad", young=(1e9, 1e9), poisson="much", **SHEET)
    soft = Material("soft", 1e-4, 0.1, np.array([1e3, 300.0, 1e3, 700.0]), np.array([1e-5, 4e-6, 1e-5]))
    with pytest.raises(InputError, match="grain_angle"):
        replace(soft, grain_angle=float("nan"))


def test_a_sheet_that_is_soft_at_45_degrees_keeps_a_little_twist():
    soft = Material("soft", 1e-4, 0.1, np.array([1e3, 300.0, 1e3, 700.0]), np.array([1e-5, 4e-6, 1e-5]))
    assert np.linalg.eigvalsh(plate_stiffness(soft)).min() > 0.0
