"""Recordings for other programs: USD, glTF, Alembic, OBJ, PLY, STL, VTK, and objects of trimesh, meshio and PyVista."""

from crumple.export.clip import Clip
from crumple.export.convert import to_meshio, to_pyvista, to_trimesh
from crumple.export.export import export_recording
from crumple.export.resample import Resampler

__all__ = [
    "Clip",
    "Resampler",
    "export_recording",
    "to_meshio",
    "to_pyvista",
    "to_trimesh",
]
