"""Constructors, validation and presets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.errors import InputError
from crumple.materials import Material, preset, presets
from crumple.materials.material import bending_along, isotropic_membrane, mirror_quadrant

GOOD = {"young": 5e9, "poisson": 0.3, "thickness": 1e-4, "density": 0.08}


def test_isotropic_follows_plate_theory():
    material = Material.isotropic("plate", **GOOD)
    plane = 5e9 * 1e-4 / (1 - 0.09)
    np.testing.assert_allclose(material.membrane, [plane, 0.3 * plane, plane, 5e5 / 1.3])
    np.testing.assert_allclose(material.bending, 5e9 * 1e-12 / 12 / (1 - 0.09))
    assert not material.membrane_is_measured
    assert not material.bending_is_measured


def test_orthotropic_with_equal_moduli_is_isotropic():
    plain = Material.isotropic("plain", **GOOD)
    same = Material.orthotropic("same", **{**GOOD, "young": (5e9, 5e9)})
    np.testing.assert_allclose(same.membrane, plain.membrane)
    np.testing.assert_allclose(same.bending, plain.bending)


@settings(deadline=None, max_examples=50)
@given(st.floats(0.05, 20), st.floats(0.0, 0.3), st.floats(-7, 7))
def test_orthotropic_bending_stays_between_sensible_bounds(ratio, poisson, angle):
    material = Material.orthotropic("o", **{**GOOD, "young": (5e9, 5e9 * ratio), "poisson": poisson / max(ratio, 1)})
    stiffness = bending_along(material.bending, np.array([angle]))[0]
    assert 0.0 < stiffness < 1.5 * material.bending.max()
    mirrored = bending_along(material.bending, np.array([-angle, np.pi - angle]))
    np.testing.assert_allclose(mirrored, stiffness)


def test_bending_meets_its_three_directions():
    bending = np.array([3.0, 1.0, 2.0])
    np.testing.assert_allclose(bending_along(bending, np.radians([0.0, 45.0, 90.0, 135.0])), [3, 1, 2, 1])
    table = np.arange(15.0).reshape(3, 5)
    np.testing.assert_allclose(bending_along(table, np.radians([0.0, 45.0, 90.0, 135.0])), table[[0, 1, 2, 1]])
    np.testing.assert_allclose(bending_along(table, np.radians([22.5])), [0.5 * (table[0] + table[1])])


@given(st.floats(-100, 100))
def test_mirrored_directions_lie_in_the_first_quadrant(angle):
    mirrored = mirror_quadrant(np.array([angle]))[0]
    assert 0.0 <= mirrored <= np.pi / 2 + 1e-12
    assert np.isclose(abs(np.cos(angle)), np.cos(mirrored), atol=1e-9)


@pytest.mark.parametrize("key", ["young", "poisson", "thickness", "density", "damping", "yield_curvature", "weakening"])
@pytest.mark.parametrize("value", [float("nan"), -2.0, "thick", None])
def test_bad_numbers_are_refused_by_name(key, value):
    with pytest.raises(InputError, match=f"material 'bad': {key} = "):
        Material.isotropic("bad", **{**GOOD, key: value})


@pytest.mark.parametrize("key", ["young", "thickness", "density", "yield_curvature"])
def test_zero_is_refused(key):
    with pytest.raises(InputError, match=key):
        Material.isotropic("bad", **{**GOOD, key: 0.0})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("membrane", np.ones(3)),
        ("membrane", [1.0, 2.0, 1.0, 1.0]),
        ("membrane", [1.0, 0.0, 1.0, 0.0]),
        ("membrane", [1.0, 0.0, float("inf"), 1.0]),
        ("membrane", "soft"),
        ("bending", [1.0, -1.0, 1.0]),
        ("bending", np.ones((5, 3))),
    ],
)
def test_bad_tables_are_refused(key, value):
    tables = {"membrane": isotropic_membrane(1e3, 0.3), "bending": np.ones(3), key: value}
    with pytest.raises(InputError, match=f"material 'bad': {key} = "):
        Material("bad", 1e-4, 0.1, **tables)


def test_tables_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        preset("paper80").membrane[0] = 0.0


@pytest.mark.parametrize(
    ("name", "thickness", "density", "young", "bend", "yielding"),
    [
        ("paper70", 90, 0.07, (2.0, 6.0), (0.13, 0.30), (60, 200)),
        ("paper80", 105, 0.08, (2.0, 6.0), (0.15, 0.55), (60, 200)),
        ("paper90", 115, 0.09, (2.0, 6.0), (0.30, 0.65), (50, 180)),
        ("kitchen-foil", 16, 0.043, (69, 69), (0.023, 0.025), (40, 110)),
        ("heavy-foil", 24, 0.065, (69, 69), (0.079, 0.081), (40, 110)),
        ("narain-foil", 25.4, 0.071, (70, 70), (0.095, 0.097), (157, 157)),
        ("mylar", 50, 1390 * 50e-6, (4, 5), (0.04, 0.07), (800, 800)),
    ],
)
def test_presets_lie_in_the_measured_ranges(name, thickness, density, young, bend, yielding):
    """Thickness [µm], area density [kg/m²], E [GPa], B [mN m], yield curvature [1/m] of the validation table."""
    material = preset(name)
    assert np.isclose(material.thickness, thickness * 1e-6)
    assert np.isclose(material.density, density)
    c11, c12, _, _ = material.membrane
    modulus = (c11 - c12 * c12 / c11) / material.thickness / 1e9
    assert young[0] * 0.999 <= modulus <= young[1] * 1.001
    assert bend[0] <= material.bend_stiffness * 1e3 <= bend[1]
    assert yielding[0] <= material.yield_curvature * 1.0000001
    assert material.yield_curvature <= yielding[1] * 1.0000001


def test_directed_paper_is_stiffer_along_the_machine():
    for name in ("paper70-md", "paper80-md", "paper90-md"):
        along, diagonal, across = preset(name).bending
        assert across < diagonal < along
        assert preset(name).membrane[0] > 1.5 * preset(name).membrane[2]


def test_unknown_preset_lists_the_names():
    with pytest.raises(InputError, match=r"papier.*must be one of paper70.*cotton"):
        preset("papier")
    assert set(presets()) >= {"paper70", "paper80", "paper90", "kitchen-foil", "heavy-foil", "mylar", "cotton"}
