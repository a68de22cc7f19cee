"""What each sheet of a recording is made of, as its scene or its model tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.model import Model
from crumple.recording.recording import Recording
from crumple.rendering.looks import known_look
from crumple.runtime.errors import InputError
from crumple.scenes import load_scene
from crumple.scenes.materials import make_material

METAL, SOFT = 2e10, 1e8
"""Young's modulus from which a sheet is taken for metal, and below which for cloth [Pa]."""
THICK = 0.25e-3
"""Paper is called card from here on [m]."""
THIN = 0.05e-3
"""Paper is called tissue up to here [m]."""


@dataclass(frozen=True)
class SheetKind:
    """Name of the look and `thickness` [m] of a sheet."""

    look: str = "paper"
    thickness: float = 1e-4


def sheet_kinds(recording: Recording) -> list[SheetKind]:
    """The kind of each sheet; empty when the recording has neither a scene nor a model that can be read."""
    try:
        if not recording.scene_path.is_file():
            return model_kinds(recording.model(), recording.load(recording.frames[0]).mesh)
        sheets = load_scene(recording.scene_path).sheets
        return [_kind(sheet) for sheet in sheets]
    except (InputError, IndexError):
        return []


def _kind(sheet) -> SheetKind:  # type: ignore[no-untyped-def]
    """By the names of the sheet's material and of the sheet, otherwise by the material's numbers."""
    table = sheet.materials[0] if sheet.materials is not None else sheet.material
    if table is None:
        raise InputError("material", f"of the sheet {sheet.name!r} is missing")
    material = make_material(table, "")
    for name in (table.preset, table.file, sheet.name):
        if name and (look := known_look(str(name))):
            return SheetKind(look, material.thickness)
    return SheetKind(guess_by_numbers(material), material.thickness)


def model_kinds(model: Model, mesh: SheetMesh) -> list[SheetKind]:
    """The kind of each sheet of a model, by the material of each sheet's first face."""
    kinds = []
    for sheet, name in enumerate(model.sheet_names):
        face = int(np.argmax(mesh.face_sheet == sheet))
        material = model.materials[mesh.face_material[face]]
        look = known_look(material.name) or known_look(name) or guess_by_numbers(material)
        kinds.append(SheetKind(look, material.thickness))
    return kinds


def guess_by_numbers(material: Material) -> str:
    """The look of a material by its stiffness and thickness."""
    young = material.stretch_stiffness / material.thickness
    if material.membrane_is_measured or young < SOFT:
        return "cloth"
    if young > METAL:
        return "foil"
    if material.thickness <= THIN:
        return "tissue"
    return "card" if material.thickness >= THICK else "paper"
