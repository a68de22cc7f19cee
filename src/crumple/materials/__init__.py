"""What sheets are made of: parameters, presets, measured fabrics, stiffness matrices."""

from crumple.materials.material import Material
from crumple.materials.measured import parse_arcsim_material
from crumple.materials.presets import Preset, preset, preset_sheets, presets
from crumple.materials.stiffness import bending_matrix, membrane_matrix

__all__ = [
    "Material",
    "Preset",
    "bending_matrix",
    "membrane_matrix",
    "parse_arcsim_material",
    "preset",
    "preset_sheets",
    "presets",
]
