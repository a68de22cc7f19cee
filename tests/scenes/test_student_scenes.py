"""The student's simulator: its materials in scene files, and its scenes."""

from __future__ import annotations

import numpy as np
import pytest
from scene_tables import small

from crumple.energies.membrane_stvk import make_membrane_stvk
from crumple.energies.sheets import make_hinges, make_membranes
from crumple.materials import Material
from crumple.model.derived import Derived
from crumple.recording import Recording
from crumple.recording.verify import verify_recording
from crumple.runtime.errors import InputError
from crumple.scenes import build, builtin_scenes, load_scene, scene_from_tables
from crumple.shapes import rectangle

CLOTH = {
    "model": "baraff-witkin",
    "stretch": 40.0,
    "shear": 15.0,
    "bend": 1e-6,
    "thickness": 1e-3,
    "density": 0.2,
}


def made(**keys):
    """The model and state with a sheet of this material."""
    tables = small()
    tables["sheets"][0]["material"] = CLOTH | keys
    return build(scene_from_tables(tables))[:2]


def test_coefficients_are_those_of_small_strains():
    """Stretched by 1e-6 in plane, it is the Saint Venant–Kirchhoff membrane with C11 = C22 = k, C33 = 2 k_shear."""
    model, state = made()
    mesh, (material,) = state.mesh, model.materials
    hand = make_membrane_stvk(mesh.u[mesh.faces], mesh.face_nodes, material.membrane)
    np.testing.assert_allclose(material.membrane, [40.0, 0.0, 40.0, 30.0])
    ((traced, _),) = make_membranes(mesh, model.materials).at(state.x, state.plastic_strain)
    rng = np.random.default_rng(2)
    flat = np.column_stack([mesh.u, np.zeros(len(mesh.u))])
    x = np.ascontiguousarray(flat @ (np.eye(3) + 1e-6 * rng.standard_normal((3, 3))))
    wanted = hand.gradient(x)
    np.testing.assert_allclose(traced.gradient(x), wanted, atol=1e-5 * np.abs(wanted).max())


def test_weights_by_area_are_the_same_on_every_mesh_and_those_by_its_square_are_not():
    def energies(size, **keys):
        mesh, flat = rectangle(0.1, 0.1, size)
        keys = {"membrane": np.array([40.0, 0.0, 40.0, 30.0]), "bending": np.full(3, 3e-6)} | keys
        sheet = (Material("cloth", 1e-3, 0.2, model="baraff-witkin", **keys),)
        ((membrane, _),) = make_membranes(mesh, sheet).at(flat, np.zeros((mesh.face_count, 3)))
        ((hinge, _),) = make_hinges(mesh, sheet).at(np.zeros(len(mesh.hinges.nodes)))
        return membrane.value(flat * [1.02, 1.0, 1.0]).sum(), hinge.stiffness.max()

    coarse, fine = energies(0.02), energies(0.01)
    assert fine[0] == pytest.approx(coarse[0], rel=1e-9)
    assert fine[0] == pytest.approx(0.5 * 40.0 * 0.02**2 * 0.01)
    assert fine[1] == pytest.approx(coarse[1])
    squared = energies(0.02, area_power=2), energies(0.01, area_power=2)
    assert squared[1][0] == pytest.approx(0.25 * squared[0][0], rel=0.1)
    assert energies(0.02, rest_scale=(1.02, 1.0))[0] == pytest.approx(0.0, abs=1e-15)


def test_its_sheets_have_hinges():
    model, state = made(damping=1e-3, scale=0.99, area="squared")
    assert Derived(model, state).turn_count == 0
    assert model.materials[0].rest_scale == (0.99, 0.99)
    assert model.materials[0].area_power == 2


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"shear": None}, "model also needs shear"),
        ({"bend": [1e-6, 2e-6]}, "bend must be one number"),
        ({"preset": "paper80"}, "exactly one of"),
        ({"model": None, "shear": None, "scale": 2.0}, "scale goes with model only"),
        ({"yield_strain": 0.1}, "does not yield in plane"),
        ({"model": "mass-spring"}, "baraff-witkin"),
    ],
)
def test_mistakes_are_told(keys, told):
    given = {key: value for key, value in (CLOTH | keys).items() if value is not None}
    tables = small()
    tables["sheets"][0]["material"] = given
    with pytest.raises(InputError, match=told):
        build(scene_from_tables(tables))


@pytest.mark.parametrize("name", [name for name in builtin_scenes() if name.startswith("student-")])
def test_scenes_begin(name):
    model, state, _ = build(load_scene(name, quick=True))
    assert all(material.is_baraff_witkin for material in model.materials)
    assert model.solver.integrator == ("verlet" if name == "student-floppy" else "semi-implicit")
    assert state.mesh.face_count > 50


@pytest.mark.slow
def test_the_crush_does_not_clip(tmp_path):
    from crumple.session.simulation import simulate

    simulate("student-crush", out=tmp_path / "crush", quick=True)
    found = verify_recording(Recording(tmp_path / "crush"))
    assert found.passed
    last = Recording(tmp_path / "crush").load(20)
    assert np.ptp(last.x[:, 2]) < 0.025, "it has been pressed flat"
