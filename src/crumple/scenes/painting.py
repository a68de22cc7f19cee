"""Painted maps: a picture on a sheet says by how much the faces below it differ in what they are made of.

Brightness becomes a factor, linear from black to white, in a number of levels; the faces of one level are a group with
a material of its own, so that everything that knows groups (energies, remeshing, recordings) knows painted sheets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crumple.materials.material import Material
from crumple.mesh.texture import texture_coordinates
from crumple.runtime.typing import Floats, Ints
from crumple.scenes.pictures import brightness_at, read_brightness
from crumple.scenes.schema.scene import MaterialMap
from crumple.state import State

SAMPLES = np.array([[1, 1, 1], [4, 1, 1], [1, 4, 1], [1, 1, 4]]) / [[3], [6], [6], [6]]
"""Points of a face at which a picture is looked up, barycentric: the centres of its four quarters."""


def paint_sheet(maps: list[MaterialMap], state: State, materials: list[Material]) -> tuple[State, list[Material]]:
    """The sheet with a group of faces for each material that its maps make of `materials`, and these materials."""
    mesh = state.mesh
    texture = texture_coordinates(mesh, given=state.texture)
    points = np.einsum("sc,fcd->fsd", SAMPLES, texture[mesh.faces])
    levels = [_levels(table, points, f"maps[{k}].file") for k, table in enumerate(maps)]
    groups, chosen = np.unique(np.column_stack([mesh.face_material, *levels]), axis=0, return_inverse=True)
    made = [_painted(materials[group], maps, own) for group, *own in groups.tolist()]
    return state.replaced(mesh=replace(mesh, face_material=chosen.ravel().astype(np.int32))), made


def _levels(table: MaterialMap, points: Floats, place: str) -> Ints:
    """The level of each face, (face_count,), of the mean brightness at `points` (face_count, samples, 2)."""
    brightness = brightness_at(read_brightness(table.file, place), points).mean(axis=1)
    return np.rint(brightness * (table.levels - 1)).astype(np.int32)


def _painted(material: Material, maps: list[MaterialMap], levels: list[int]) -> Material:
    """The material at one level of each map."""
    for table, level in zip(maps, levels, strict=True):
        share = level / (table.levels - 1)
        material = SCALED[table.scales](material, (1.0 - share) * table.black + share * table.white)
    return material


def _thickened(material: Material, factor: float) -> Material:
    """As `Preset.sheet` does: mass and membrane ∝ h, bending ∝ h³, yield curvature ∝ 1/h."""
    return replace(
        material,
        thickness=material.thickness * factor,
        density=material.density * factor,
        membrane=material.membrane * factor,
        bending=material.bending * factor**3,
        yield_curvature=material.yield_curvature / factor,
    )


def _torn_by(material: Material, factor: float) -> Material:
    along, across = material.tear_energy
    return replace(material, tear_energy=(along * factor, across * factor))


SCALED: dict[str, Callable[[Material, float], Material]] = {
    "thickness": _thickened,
    "stiffness": lambda one, f: replace(one, membrane=one.membrane * f, bending=one.bending * f),
    "stretch": lambda one, f: replace(one, membrane=one.membrane * f),
    "bend": lambda one, f: replace(one, bending=one.bending * f),
    "density": lambda one, f: replace(one, density=one.density * f),
    "yield_curvature": lambda one, f: replace(one, yield_curvature=one.yield_curvature * f),
    "tear_energy": _torn_by,
    "tensile_strength": lambda one, f: replace(one, tensile_strength=one.tensile_strength * f),
}
"""What a map may scale, and how a material follows."""
