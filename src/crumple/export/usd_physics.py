"""What a sheet is made of, in OpenUSD: the proposal *Deformable Body Physics in USD* of the Alliance for OpenUSD.

    mesh       PhysicsDeformableBodyAPI, PhysicsSurfaceDeformableSimAPI: mass, thicknesses, rest shape (the pattern)
    material   PhysicsMaterialAPI, PhysicsSurfaceDeformableMaterialAPI: density, friction, moduli, stiffnesses
    scene      PhysicsScene: gravity

The schemas are not part of a released OpenUSD: their names and attributes are written all the same, and readers that do
not know them pass over them. A sheet is kinematic, so that a simulator plays what was recorded; to go on from a frame
with another simulator, `physics:kinematicEnabled` is set to false there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdPhysics, UsdShade, Vt

from crumple.export.surface import Surface
from crumple.materials import Material
from crumple.model.model import Model
from crumple.runtime.errors import InputError

_TYPES = Sdf.ValueTypeNames


class DeformablePhysics:
    """Writes the physics of the sheets of `model` to a stage in metres and kilograms."""

    def __init__(self, stage: Any, model: Model) -> None:
        self._stage, self._model = stage, model
        self._materials: dict[int, Any] = {}
        UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
        scene = UsdPhysics.Scene.Define(stage, "/World/PhysicsScene")
        size = float(np.linalg.norm(model.gravity))
        direction = np.divide(model.gravity, size) if size else (0.0, 0.0, -1.0)
        scene.CreateGravityDirectionAttr(Gf.Vec3f(*map(float, direction)))
        scene.CreateGravityMagnitudeAttr(size)

    def add_body(self, prim: Any, surface: Surface, sheet: int) -> None:
        """Write what never changes of a sheet; the friction is that with itself."""
        for name in ("PhysicsBodyAPI", "PhysicsDeformableBodyAPI", "PhysicsSurfaceDeformableSimAPI"):
            prim.AddAppliedSchema(name)
        UsdPhysics.CollisionAPI.Apply(prim)
        area, material = surface.mesh.face_area, self._materials_of(surface)
        density = np.array([one.density for one in self._model.materials])
        _put(prim, "physics:kinematicEnabled", _TYPES.Bool, True)
        _put(prim, "physics:mass", _TYPES.Float, float(area @ density[material]))
        most = int(np.argmax(np.bincount(material, weights=area)))
        friction = self._model.contact.friction
        own = float(friction[sheet, sheet]) if sheet < len(friction) else 0.0
        if most not in self._materials:
            self._materials[most] = self._define(self._model.materials[most], most, own)
        UsdShade.MaterialBindingAPI.Apply(prim).Bind(
            self._materials[most], UsdShade.Tokens.weakerThanDescendants, "physics"
        )

    def add_rest(self, prim: Any, surface: Surface, pattern: np.ndarray, when: Any) -> None:
        """Write what changes with the mesh: its rest shape, the `pattern` (n, 2) [m], flat, and its thickness [m]."""
        points = np.zeros((len(pattern), 3), np.float32)
        points[:, :2] = pattern
        _put(prim, "physics:restShapePoints", _TYPES.Point3fArray, Vt.Vec3fArray.FromNumpy(points), when)
        faces = np.ascontiguousarray(surface.mesh.faces, np.int32)
        _put(prim, "physics:restTriVertexIndices", _TYPES.Int3Array, Vt.Vec3iArray.FromNumpy(faces), when)
        kind, thickness = self._thicknesses(surface)
        _put(prim, "physics:thicknesses", _TYPES.FloatArray, Vt.FloatArray.FromNumpy(thickness), when)
        _put(prim, "physics:thicknesses:elementType", _TYPES.Token, kind, uniform=True)
        _put(prim, "physics:restBendAnglesDefault", _TYPES.Token, "flat", uniform=True)

    def _thicknesses(self, surface: Surface) -> tuple[str, np.ndarray]:
        """One thickness per face where the materials of all sheets differ in it, else one for all."""
        known = np.array([one.thickness for one in self._model.materials], np.float32)
        if np.ptp(known) == 0.0:
            return "constant", known[:1]
        return "face", known[self._materials_of(surface)]

    def _materials_of(self, surface: Surface) -> np.ndarray:
        """The number of the material of each face; `InputError` where the model has none of that number."""
        found = surface.face_data["material"]
        if len(found) and found.max() >= len(self._model.materials):
            raise InputError("export", "the recording's model.h5 has fewer materials than its frames")
        return found

    def _define(self, material: Material, number: int, friction: float) -> Any:
        """A physics material with the values of `material`, those that depend on the direction averaged."""
        prim = UsdShade.Material.Define(self._stage, f"/World/Physics/{_identifier(material.name)}_{number}").GetPrim()
        api = UsdPhysics.MaterialAPI.Apply(prim)
        api.CreateDensityAttr(material.density / material.thickness)
        api.CreateStaticFrictionAttr(friction)
        api.CreateDynamicFrictionAttr(friction)
        prim.AddAppliedSchema("PhysicsSurfaceDeformableMaterialAPI")
        for name, value in surface_stiffness(material).items():
            _put(prim, f"physics:{name}", _TYPES.Float, value)
        return UsdShade.Material(prim)


def surface_stiffness(material: Material) -> dict[str, float]:
    """The attributes of PhysicsSurfaceDeformableMaterialAPI for a material at small strains and curvatures.

    Stretch Y = (C11 + C22)/2 [N/m], shear G h = C33/2 [N/m], bend: the mean of B over the directions [N m]; Young's
    modulus E = Y (1 − ν²)/h [Pa] and Poisson's ratio ν = C12/Y, which the others come before.
    """
    c11, c12, c22, c33 = material.membrane.reshape(-1, 4)[0]
    stretch = 0.5 * (c11 + c22)
    poisson = float(np.clip(c12 / stretch, -0.99, 0.5))
    return {
        "youngsModulus": float(stretch * (1.0 - poisson**2) / material.thickness),
        "poissonsRatio": poisson,
        "surfaceStretchStiffness": float(stretch),
        "surfaceShearStiffness": float(0.5 * c33),
        "surfaceBendStiffness": float(np.mean(material.bending.reshape(3, -1)[:, 0])),
    }


def _identifier(name: str) -> str:
    return Tf.MakeValidIdentifier(name or "material")


def _put(prim: Any, name: str, kind: Any, value: Any, when: Any = None, *, uniform: bool = False) -> None:
    """Set an attribute of a schema that this OpenUSD may not know."""
    variability = Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
    attribute = prim.CreateAttribute(name, kind, False, variability)
    attribute.Set(value, Usd.TimeCode.Default() if when is None else when)
