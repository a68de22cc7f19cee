"""Materials of a scene: what follows from a changed thickness, the grain, and suggestions."""

import numpy as np
import pytest
from scene_tables import small

from crumple.materials import preset
from crumple.materials.material import isotropic_membrane
from crumple.runtime.errors import InputError
from crumple.scenes import build, scene_from_tables


def made(**keys):
    """The material that a table makes."""
    tables = small()
    tables["sheets"][0]["material"] = keys
    return build(scene_from_tables(tables)).model.materials[0]


def test_another_thickness_of_a_preset_changes_what_follows_from_it():
    thin, thick = preset("kitchen-foil"), made(preset="kitchen-foil", thickness=32e-6)
    np.testing.assert_allclose(thick.density, 2 * thin.density)
    np.testing.assert_allclose(thick.membrane, 2 * thin.membrane)
    np.testing.assert_allclose(thick.bending, 8 * thin.bending)
    np.testing.assert_allclose(thick.yield_curvature, 0.5 * thin.yield_curvature)


def test_values_that_are_given_stay_as_given():
    material = made(preset="paper80", thickness=2e-4, density=0.1, yield_curvature=70, stretch_factor=0.5)
    assert (material.thickness, material.density, material.yield_curvature) == (2e-4, 0.1, 70)
    np.testing.assert_allclose(material.membrane, 0.5 * preset("paper80", 2e-4).membrane)


def test_the_grain_turns_with_its_angle():
    assert made(preset="paper80-md", grain_angle=90).grain_angle == pytest.approx(np.pi / 2)
    assert made(young=[5e9, 2e9], poisson=0.3, thickness=1e-4, density=0.08, grain_angle=-30).grain_angle < 0


@pytest.mark.parametrize(("name", "meant"), [("paper", "paper80"), ("aluminum", "kitchen-foil"), ("cottn", "cotton")])
def test_an_unknown_name_suggests_the_nearest(name, meant):
    with pytest.raises(InputError, match=rf"sheets\[0\]\.material: .*'{name}' \(did you mean '{meant}'\?"):
        made(preset=name)


def test_a_data_sheet_gives_the_material_of_the_same_moduli():
    """Tensile stiffness E h and shear stiffness G h, along and across the grain, against E, G and h."""
    h, young, shear, bend = 1e-4, (6e9, 2.5e9), 1.4e9, [6e-4, 2.5e-4]
    common = {"thickness": h, "density": 0.08, "poisson": 0.3, "bend": bend}
    sheet = made(stretch=[young[0] * h, young[1] * h], shear=shear * h, **common)
    moduli = made(young=list(young), shear=shear, **common)
    np.testing.assert_allclose(sheet.membrane, moduli.membrane)
    np.testing.assert_allclose(sheet.bending, moduli.bending)
    assert sheet.membrane[3] == pytest.approx(2.0 * shear * h), "C33 belongs to the tensor shear strain"
    plain = made(stretch=6e5, bend=6e-4, thickness=h, density=0.08, poisson=0.3)
    np.testing.assert_allclose(plain.membrane, isotropic_membrane(6e5, 0.3))


def test_a_tear_force_is_half_the_energy_per_length():
    """Two legs that are pulled by F have gone L each when a crack is longer by L: 2 F = G_c h."""
    sheet = made(preset="paper80-md", tear_force=[0.24, 0.42])
    np.testing.assert_allclose(sheet.tear_energy, (2 * 0.24 / 105e-6, 2 * 0.42 / 105e-6))
    np.testing.assert_allclose(made(preset="paper80", thickness=2e-4, tear_force=0.3).tear_energy, 3000.0)


def test_a_tear_force_beside_a_tear_energy_is_refused():
    with pytest.raises(InputError, match=r"sheets\[0\]\.material.*tear_energy or tear_force, not both"):
        made(preset="paper80", tear_energy=6000, tear_force=0.3)


@pytest.mark.parametrize("partner", [{"young": 3e9}, {"shear": 1e9}, {"bend": 1e-4}, {"bending": [1, 1, 1]}])
def test_forms_are_not_mixed(partner):
    with pytest.raises(InputError, match=r"sheets\[0\]\.material"):
        made(preset="paper80", **partner)
