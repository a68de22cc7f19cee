"""Materials of a scene: tables into `Material`."""

from __future__ import annotations

from dataclasses import replace
from math import radians
from pathlib import Path
from typing import Any

import numpy as np

from crumple.materials.material import BARAFF_WITKIN, Material
from crumple.materials.measured import parse_arcsim_material
from crumple.materials.presets import preset
from crumple.scenes.arcsim.json import read_json
from crumple.scenes.schema.material import SheetMaterial

_OWN = (
    "thickness",
    "density",
    "damping",
    "yield_curvature",
    "weakening",
    "yield_strain",
    "strain_limit",
    "tear_energy",
    "tensile_strength",
)


def make_material(table: SheetMaterial, name: str) -> Material:
    """The material that a table describes.

    The `thickness` of a preset changes what follows from it (`Preset.sheet`); that of a file changes nothing else, as
    the stiffnesses in it were measured. Then `density`, `damping`, `yield_curvature`, `weakening`, `yield_strain`,
    `strain_limit`, `grain_angle`, `tear_energy` (or `tear_force`) and `tensile_strength` replace the values of the
    preset or the file.
    """
    own: dict[str, Any] = {key: value for key in _OWN if (value := getattr(table, key)) is not None}
    if table.grain_angle is not None:
        own["grain_angle"] = radians(table.grain_angle)
    material = replace(_base(table, name, own), **own)
    if table.tear_force is not None:
        # a crack that is longer by L takes G_c t L; each of two legs, pulled by F, has gone L
        along, across = (2.0 * force / material.thickness for force in table.tear_force)
        material = replace(material, tear_energy=(along, across))
    return replace(
        material,
        membrane=material.membrane * table.stretch_factor,
        bending=material.bending * table.bend_factor,
        density=material.density * table.density_factor,
    )


def _base(table: SheetMaterial, name: str, own: dict[str, Any]) -> Material:
    """The material of the table's form, before own values and factors."""
    if table.preset is not None:
        return preset(table.preset, table.thickness)
    if table.file is not None:
        path = Path(table.file)
        return parse_arcsim_material(read_json(path, path.name), path.name)
    if table.model is not None:
        return _baraff_witkin(table, name, own)
    if table.membrane is not None:
        return Material(name, membrane=table.membrane, bending=table.bending, **own)  # type: ignore[arg-type]
    poisson = table.poisson if table.poisson is not None else 0.0
    if table.stretch is not None and table.bend is not None:
        along, across = table.stretch
        if along == across and table.bend[0] == table.bend[1] and table.shear is None:
            return Material.from_stiffness(name, stretch=along, bend=table.bend[0], poisson=poisson, **own)
        young = (along / own["thickness"], across / own["thickness"])
        shear = None if table.shear is None else table.shear / own["thickness"]
        return Material.orthotropic(name, young=young, poisson=poisson, shear=shear, bend=table.bend, **own)
    assert table.young is not None  # the schema asks for exactly one form
    if table.young[0] == table.young[1] and table.shear is None and table.bend is None:
        return Material.isotropic(name, young=table.young[0], poisson=poisson, **own)
    return Material.orthotropic(name, young=table.young, poisson=poisson, shear=table.shear, bend=table.bend, **own)


def _baraff_witkin(table: SheetMaterial, name: str, own: dict[str, Any]) -> Material:
    """A material by the coefficients of [Baraff1998]; ½ k |e|/h_e (θ − θ̄)² is a bending stiffness of 3 k."""
    assert table.stretch is not None  # the schema asks for these
    assert table.shear is not None
    assert table.bend is not None
    return Material(
        name,
        membrane=np.array([table.stretch[0], 0.0, table.stretch[1], 2.0 * table.shear]),
        bending=np.full(3, 3.0 * table.bend[0]),
        model=BARAFF_WITKIN,
        rest_scale=table.scale or (1.0, 1.0),
        area_power=2 if table.area == "squared" else 1,
        **own,
    )
