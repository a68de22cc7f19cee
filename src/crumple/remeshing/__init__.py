"""Adaptive anisotropic remeshing of sheets and surfaces, safe under contact."""

from crumple.remeshing.estimate import estimate_face_range, estimate_faces
from crumple.remeshing.fields import isotropic_sizing, sizing_from_function
from crumple.remeshing.guard import Guard
from crumple.remeshing.proximity import nearest_obstacle
from crumple.remeshing.remesh import RemeshResult, RemeshStatistics, remesh
from crumple.remeshing.triangles import Triangles, mesh_from_arrays, remesh_triangles

__all__ = [
    "Guard",
    "RemeshResult",
    "RemeshStatistics",
    "Triangles",
    "estimate_face_range",
    "estimate_faces",
    "isotropic_sizing",
    "mesh_from_arrays",
    "nearest_obstacle",
    "remesh",
    "remesh_triangles",
    "sizing_from_function",
]
