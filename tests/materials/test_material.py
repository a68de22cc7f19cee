"""Constructors, validation and presets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.materials import Material, preset, presets
from crumple.materials.material import bending_along, isotropic_membrane, mirror_quadrant
from crumple.runtime.errors import InputError

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
        ("kitchen-foil", 16, 0.043, (69, 69), (0.026, 0.027), (40, 110)),
        ("heavy-foil", 24, 0.065, (69, 69), (0.089, 0.090), (40, 110)),
        ("narain-foil", 25.4, 0.071, (70, 70), (0.095, 0.097), (157, 157)),
        ("mylar", 50, 1390 * 50e-6, (4, 5), (0.04, 0.07), (800, 800)),
        ("tissue", 40, 0.02, (1, 2), (0.005, 0.011), (200, 400)),
        ("card", 300, 0.249, (2.5, 5.5), (5.9, 12.5), (30, 60)),
        ("cardboard", 1000, 0.63, (1.6, 3.3), (130, 300), (5, 20)),
        ("aluminium-can", 100, 0.272, (69, 69), (6.4, 6.5), (76, 76)),
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


@pytest.mark.parametrize(
    ("name", "grammage", "bend", "shear"),
    [
        ("cotton", 150, (1.5, 3), (50, 200)),
        ("wool", 235, (2, 4), (20, 60)),
        ("stretch-wool", 178, (0.1, 0.4), (5, 20)),
        ("polyester-weave", 165, (0.5, 1.2), (20, 80)),
        ("silk", 35, (2, 5), (10, 30)),
        ("denim", 407, (30, 60), (100, 200)),
        ("felt", 200, (100, 250), (500, 1000)),
    ],
)
def test_fabrics_are_as_heavy_and_limp_as_stated(name, grammage, bend, shear):
    """Mass [g/m²], B [µN m] and shear stiffness G h [N/m], C33 = 2 G h."""
    material = preset(name)
    assert material.density * 1e3 == pytest.approx(grammage, rel=0.01)
    assert bend[0] <= material.bending[[0, 2]].min() * 1e6
    assert material.bending[[0, 2]].max() * 1e6 <= bend[1] * 1.0000001
    assert shear[0] <= 0.5 * material.membrane[3] <= shear[1]


def test_a_weave_shears_far_more_easily_than_it_stretches():
    for name in ("silk", "denim"):
        assert 20.0 * preset(name).membrane[3] < preset(name).membrane[[0, 2]].min()


def test_directed_paper_is_stiffer_along_the_machine():
    for name in ("paper70-md", "paper80-md", "paper90-md"):
        along, diagonal, across = preset(name).bending
        assert across < diagonal < along
        assert preset(name).membrane[0] > 1.5 * preset(name).membrane[2]


@pytest.mark.parametrize(("name", "meant"), [("papier", "paper80"), ("paper", "paper80"), ("foil", "kitchen-foil")])
@pytest.mark.parametrize("change", [str, str.upper])
def test_unknown_preset_suggests_one_and_lists_the_names(name, meant, change):
    with pytest.raises(InputError, match=rf"{change(name)}.*did you mean '{meant}'\?.*there are paper70.*cotton"):
        preset(change(name))
    with pytest.raises(InputError, match=r"qzx.*\(there are paper70"):
        preset("qzx")


@pytest.mark.parametrize("name", list(presets()))
@pytest.mark.parametrize("ratio", [0.5, 1.0, 3.0])
def test_mass_and_stiffness_follow_the_thickness(name, ratio):
    """ρ h, E h, E h³; the yield curvature falls as the outer fibres move away from the middle."""
    sold = preset(name)
    other = preset(name, ratio * sold.thickness)
    np.testing.assert_allclose(other.thickness, ratio * sold.thickness)
    np.testing.assert_allclose(other.density, ratio * sold.density)
    np.testing.assert_allclose(other.membrane, ratio * sold.membrane)
    np.testing.assert_allclose(other.bending, ratio**3 * sold.bending)
    np.testing.assert_allclose(other.yield_curvature, sold.yield_curvature / ratio)
    assert (other.yield_strain, other.damping, other.weakening) == (sold.yield_strain, sold.damping, sold.weakening)


@pytest.mark.parametrize("thickness", [0.0, -1e-4, float("nan"), float("inf"), "thin"])
def test_presets_have_a_sensible_thickness(thickness):
    with pytest.raises(InputError, match="material 'paper80': thickness = "):
        preset("paper80", thickness)
