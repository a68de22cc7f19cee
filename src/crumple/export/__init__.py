"""Recordings for other programs: USD, glTF, Alembic, OBJ, PLY, STL, VTK, and objects of trimesh, meshio and PyVista."""

from crumple.export.clip import Clip, choose_frames
from crumple.export.convert import to_meshio, to_pyvista, to_trimesh
from crumple.export.export import FORMATS, export_recording
from crumple.export.resample import Resampler
from crumple.mesh.texture import pattern_boxes, texture_coordinates

__all__ = [
    "FORMATS",
    "Clip",
    "Resampler",
    "choose_frames",
    "export_recording",
    "pattern_boxes",
    "texture_coordinates",
    "to_meshio",
    "to_pyvista",
    "to_trimesh",
]
