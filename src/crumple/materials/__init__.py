"""What sheets are made of: parameters, presets, measured fabrics."""

from crumple.materials.material import Material
from crumple.materials.measured import parse_arcsim_material
from crumple.materials.presets import Preset, preset, preset_sheets, presets

__all__ = [
    "Material",
    "Preset",
    "parse_arcsim_material",
    "preset",
    "preset_sheets",
    "presets",
]
