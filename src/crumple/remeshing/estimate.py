"""How many faces a remeshing will make, before it is done.

In the metric an edge may be 1 long. Equilateral faces of that size would cover √3/4 of a unit of area each; the loop
makes 1.7 to 2.3 times as many (see docs/remeshing.md), so a unit of area takes about four faces:

    faces ≈ 4 ∫ √det M dA.

A sheet narrower than an edge still has a row of faces, one for each edge of its outline.
"""

from __future__ import annotations

import numpy as np

from crumple.geometry.metric import tensor_form
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.options.sizing import SizingOptions
from crumple.remeshing.tuning import TUNING
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

FACES_PER_AREA = TUNING.faces_per_area.value


def estimate_faces(mesh: SheetMesh, sizing: Floats) -> float:
    """About how many faces `remesh` makes of the mesh, within a factor of two and a half.

    `sizing` [1/m²] as for `remesh`: tensors (vertex_count, 3) in the pattern or (face_count, 3) of the faces. A float,
    because what a field asks for may exceed every integer type; infinite when that is not even a float.
    """
    if sizing.shape not in ((mesh.vertex_count, 3), (mesh.face_count, 3)):
        remedy = f"must be ({mesh.vertex_count}, 3) on vertices or ({mesh.face_count}, 3) on faces"
        raise InputError("estimate_faces: shape of sizing", remedy, sizing.shape)
    face = sizing[mesh.faces].mean(axis=1) if len(sizing) == mesh.vertex_count else sizing
    with np.errstate(over="ignore"):
        # √(ac − b²) as a product: a c itself may overflow long before its root does
        larger = np.sqrt(np.maximum(face[:, 0], 0.0)) * np.sqrt(np.maximum(face[:, 1], 0.0))
        det_root = np.sqrt(np.maximum(larger - np.abs(face[:, 2]), 0.0)) * np.sqrt(larger + np.abs(face[:, 2]))
        inside = FACES_PER_AREA * float(np.abs(mesh.face_area) @ det_root)
        return max(inside, _outline_length(mesh, face), 1.0)


def estimate_face_range(mesh: SheetMesh, options: SizingOptions) -> tuple[float, float]:
    """About how many faces a remeshing makes at least (`size_max` everywhere) and at most (`size_min` everywhere)."""
    longest = options.longest_edge(float(np.abs(mesh.face_area).sum()))
    return estimate_faces(mesh, _uniform(mesh, longest)), estimate_faces(mesh, _uniform(mesh, options.size_min))


def _uniform(mesh: SheetMesh, size: float) -> Floats:
    """Tensors of the faces that ask for edges of one length [m]."""
    density = 1.0 / min(max(size, 1e-150), 1e150) ** 2  # finite for every size
    return np.tile([density, density, 0.0], (mesh.face_count, 1))


def _outline_length(mesh: SheetMesh, face: Floats) -> float:
    """Length of the outline in the metric of the faces beside it."""
    edge = np.flatnonzero(mesh.twin == BOUNDARY)
    tail, head = mesh.faces.ravel()[edge], np.roll(mesh.faces, -1, axis=1).ravel()[edge]
    square = tensor_form(face[edge // 3], mesh.u[head] - mesh.u[tail])
    return float(np.sqrt(np.maximum(square, 0.0)).sum())
