"""Adaptive anisotropic remeshing of sheets and surfaces, safe under contact."""

from crumple.remeshing.estimate import estimate_face_range, estimate_faces
from crumple.remeshing.fields import isotropic_sizing, sizing_from_function
from crumple.remeshing.guard import Guard
from crumple.remeshing.proximity import nearest_obstacle
from crumple.remeshing.remesh import RemeshResult, RemeshStatistics, remesh

__all__ = [
    "Guard",
    "RemeshResult",
    "RemeshStatistics",
    "estimate_face_range",
    "estimate_faces",
    "isotropic_sizing",
    "nearest_obstacle",
    "remesh",
    "sizing_from_function",
]
