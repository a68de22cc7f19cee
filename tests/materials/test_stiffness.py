"""Stiffness matrices on the pattern: isotropic limit, energies of known bends, turned grain, definiteness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.errors import InputError
from crumple.materials import Material, bending_matrix, membrane_matrix, presets
from crumple.materials.material import bending_along
from crumple.materials.stiffness import turned

SHEET = {"thickness": 1e-4, "density": 0.08}


@pytest.mark.parametrize("poisson", [-0.5, 0.0, 0.2, 0.45])
def test_isotropic_limit(poisson):
    """D = B [[1, ν, 0], [ν, 1, 0], [0, 0, (1−ν)/2]] and C = 12 D/h², whatever the grain."""
    material = Material.isotropic("plate", young=5e9, poisson=poisson, grain_angle=0.7, **SHEET)
    stiffness = 5e9 * 1e-12 / 12 / (1 - poisson**2)
    expected = stiffness * np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, 0.5 * (1 - poisson)]])
    np.testing.assert_allclose(bending_matrix(material), expected, atol=1e-12 * stiffness)
    np.testing.assert_allclose(membrane_matrix(material), 12 / 1e-8 * expected, atol=1e-3 * stiffness / 1e-8)


def test_orthotropic_plate_constants():
    """D11, D22, D12 = ν_vu D11, D66 = G h³/12 of the textbooks."""
    along, across, poisson, shear = 5e9, 2e9, 0.3, 1.1e9
    material = Material.orthotropic("paper", young=(along, across), poisson=poisson, shear=shear, **SHEET)
    other, cube = poisson * across / along, 1e-12 / 12
    share = 1 - poisson * other
    expected = cube * np.array([[along, other * along, 0], [other * along, across, 0], [0, 0, shear * share]]) / share
    np.testing.assert_allclose(bending_matrix(material), expected, rtol=1e-12)
    np.testing.assert_allclose(membrane_matrix(material), 12 / 1e-8 * expected, rtol=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.floats(0.1, 10), st.floats(0.0, 0.25), st.floats(-6, 6), st.floats(-6, 6))
def test_energy_of_a_bend_along_any_direction(ratio, poisson, grain, direction):
    """Curvature κ along a direction costs ½ B κ² with the B of that direction, counted from the grain."""
    young, poisson = (5e9, 5e9 * ratio), poisson / max(ratio, 1.0)
    material = Material.orthotropic("paper", young=young, poisson=poisson, grain_angle=grain, **SHEET)
    matrix = bending_matrix(material)
    c, s = np.cos(direction), np.sin(direction)
    curvature = np.array([c * c, s * s, 2 * c * s])
    expected = bending_along(material.bending, np.array([direction - grain]))[0]
    np.testing.assert_allclose(curvature @ matrix @ curvature, expected, rtol=1e-9)
    assert np.linalg.eigvalsh(matrix).min() > 0.0
    assert np.linalg.eigvalsh(membrane_matrix(material)).min() > 0.0
    np.testing.assert_allclose(matrix, matrix.T)


def test_a_quarter_turn_swaps_the_directions():
    material = presets()["paper80-md"]
    straight, swapped = (bending_matrix(replace(material, grain_angle=angle)) for angle in (0.0, np.pi / 2))
    np.testing.assert_allclose(swapped, straight[[1, 0, 2]][:, [1, 0, 2]], atol=1e-18)
    np.testing.assert_allclose(turned(turned(straight, 0.4), -0.4), straight, atol=1e-18)


@pytest.mark.parametrize("name", list(presets()))
def test_presets_are_definite(name):
    for matrix in (bending_matrix(presets()[name]), membrane_matrix(presets()[name])):
        assert np.linalg.eigvalsh(matrix).min() > 0.0


def test_measured_tables_give_their_values_at_rest():
    table = np.outer([2e-5, 1.6e-5, 1.5e-5], [1.0, 0.8, 0.7, 0.6, 0.5])
    membrane = np.tile([900.0, 200.0, 800.0, 300.0], (6, 1))
    material = Material("cloth", 1e-4, 0.1, membrane, table)
    assert bending_matrix(material)[0, 0] == 2e-5
    np.testing.assert_allclose(membrane_matrix(material)[2, 2], 150.0)


def test_indefinite_sheets_are_refused_by_name():
    with pytest.raises(InputError, match=r"material 'bad': poisson = 1\.5 \(ν_uv ν_vu"):
        Material.orthotropic("bad", young=(1e9, 1e9), poisson=1.5, **SHEET)
    with pytest.raises(InputError, match="material 'bad': poisson"):
        Material.orthotropic("bad", young=(1e9, 1e9), poisson="much", **SHEET)
    soft = Material("soft", 1e-4, 0.1, np.array([1e3, 300.0, 1e3, 700.0]), np.array([1e-5, 4e-6, 1e-5]))
    with pytest.raises(InputError, match=r"material 'soft': bending = .*at 45° above"):
        bending_matrix(soft)
    limp = replace(soft, membrane=np.array([1e3, 1e3, 1e3, 700.0]))
    with pytest.raises(InputError, match="material 'limp'"):
        bending_matrix(replace(limp, name="limp"))
    with pytest.raises(InputError, match="grain_angle"):
        replace(soft, grain_angle=float("nan"))
