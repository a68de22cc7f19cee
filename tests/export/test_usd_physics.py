"""What a sheet is made of comes back from USD: names of the proposal, values of the material, the pattern at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from export_samples import FRAMES, NAMES, make_changing_recording
from recording_samples import sample_model

from crumple.export import export_recording
from crumple.export.clip import choose_frames
from crumple.materials import Material, preset
from crumple.recording import Recording

Usd = pytest.importorskip("pxr.Usd")


PAPER = preset("paper80-md")


@pytest.fixture(scope="module")
def changing(tmp_path_factory):
    """Four sheets of paper whose meshes change."""
    model = replace(sample_model(), materials=(PAPER,))
    return Recording(make_changing_recording(tmp_path_factory.mktemp("physics") / "take", model))


@pytest.fixture(params=["changing", "constant"])
def exported(request, changing, tmp_path):
    (path,) = export_recording(changing, output=tmp_path / "take.usdc", topology=request.param)
    surfaces = {
        frame: choose_frames(changing, constant=request.param == "constant").snapshot(frame).surface.sheets(len(NAMES))
        for frame in (0, FRAMES - 1)
    }
    return Usd.Stage.Open(str(path)), surfaces


def test_the_rest_shape_is_the_pattern_and_has_its_mass(exported):
    stage, surfaces = exported
    for frame, sheets in surfaces.items():
        for name, surface in zip(NAMES, sheets, strict=True):
            prim = stage.GetPrimAtPath(f"/World/{name}")
            assert {"PhysicsDeformableBodyAPI", "PhysicsSurfaceDeformableSimAPI"} <= schemas(prim)
            points = np.array(prim.GetAttribute("physics:restShapePoints").Get(frame))
            faces = np.array(prim.GetAttribute("physics:restTriVertexIndices").Get(frame))
            assert len(faces) == len(prim.GetAttribute("faceVertexCounts").Get(frame))
            np.testing.assert_allclose(points[faces], _flat(surface.mesh.u)[surface.mesh.faces], atol=1e-6)
            (thickness,) = prim.GetAttribute("physics:thicknesses").Get(frame)
            assert thickness == pytest.approx(PAPER.thickness)
            first, second = (points[faces[:, k]] - points[faces[:, 0]] for k in (1, 2))
            area = 0.5 * np.linalg.norm(np.cross(first, second), axis=1).sum()
            assert prim.GetAttribute("physics:mass").Get() == pytest.approx(area * PAPER.density, rel=0.02)
            assert prim.GetAttribute("physics:kinematicEnabled").Get()


def test_the_material_is_bound_for_physics_beside_the_look(exported):
    from pxr import UsdShade

    prim = exported[0].GetPrimAtPath("/World/page")
    bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")[0].GetPrim()
    assert "PhysicsSurfaceDeformableMaterialAPI" in schemas(bound)
    assert UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0].GetPrim().GetName() == "sheet"
    density = bound.GetAttribute("physics:density").Get()
    assert density * PAPER.thickness == pytest.approx(PAPER.density)
    assert bound.GetAttribute("physics:surfaceBendStiffness").Get() == pytest.approx(PAPER.bending.mean())


def test_the_stiffnesses_are_those_that_the_proposal_derives_from_the_moduli():
    """Of an isotropic sheet: E h/(1 − ν²), G h, E h³/(12 (1 − ν²))."""
    from crumple.export.usd_physics import surface_stiffness

    young, poisson, h = 3e9, 0.25, 1e-4
    found = surface_stiffness(Material.isotropic("a", young=young, poisson=poisson, thickness=h, density=0.08))
    assert found["youngsModulus"] == pytest.approx(young)
    assert found["poissonsRatio"] == pytest.approx(poisson)
    assert found["surfaceStretchStiffness"] == pytest.approx(young * h / (1 - poisson**2))
    assert found["surfaceShearStiffness"] == pytest.approx(young * h / (2 * (1 + poisson)))
    assert found["surfaceBendStiffness"] == pytest.approx(young * h**3 / (12 * (1 - poisson**2)))


@pytest.mark.parametrize("name", ["paper80-md", "cotton", "silk", "kitchen-foil"])
def test_every_preset_has_values_within_the_ranges_of_the_proposal(name):
    from crumple.export.usd_physics import surface_stiffness

    found = surface_stiffness(preset(name))
    assert -1.0 < found.pop("poissonsRatio") <= 0.5
    assert all(0.0 < value < np.inf for value in found.values())


def test_the_stage_passes_the_checks_of_openusd(exported):
    stage, _ = exported
    validation = pytest.importorskip("pxr.UsdValidation")
    registry = validation.ValidationRegistry()
    context = validation.ValidationContext(registry.GetOrLoadAllValidators())
    errors = [error for error in context.Validate(stage) if error.GetType() == validation.ValidationErrorType.Error]
    assert not [error.GetMessage() for error in errors]


def _flat(u: np.ndarray) -> np.ndarray:
    return np.column_stack([u, np.zeros(len(u))])


def schemas(prim) -> set[str]:
    """Names of the applied schemas as they are written, those that this OpenUSD does not know too."""
    return set(prim.GetMetadata("apiSchemas").GetAppliedItems())
