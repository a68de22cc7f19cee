"""Remeshing of plain triangles: arrays in, arrays out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.mesh.validate import check_mesh
from crumple.options.remeshing import RemeshOptions
from crumple.remeshing.fields import isotropic_sizing
from crumple.remeshing.remesh import remesh
from crumple.remeshing.surface import separate_surface
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints


class Triangles(NamedTuple):
    """A triangle mesh: `vertices` (vertex_count, 2 or 3) [m], `faces` (face_count, 3) vertex numbers."""

    vertices: Floats
    faces: Ints


def mesh_from_arrays(vertices: Floats, faces: Ints, place: str = "mesh") -> SheetMesh:
    """The checked mesh of `vertices` (n, 2), a flat pattern, or (n, 3), a surface in space, and `faces` (m, 3).

    `InputError` at `place` that names what is wrong with the arrays: shapes, numbers, indices, orientation, edges of
    more than two faces.
    """
    points, corners = _checked_arrays(vertices, faces, place)
    if points.shape[1] == 2:
        mesh = make_sheet_mesh(points, corners)
    else:
        mesh = separate_surface(make_sheet_mesh(np.zeros((len(points), 2)), corners, node_rest=points))
    check_mesh(mesh, place)
    return mesh


def remesh_triangles(
    vertices: Floats, faces: Ints, *, size: float | Floats, options: RemeshOptions | None = None
) -> Triangles:
    """The same flat sheet or surface with edges of at most `size` [m], one number or one per vertex (n,).

    `vertices` (n, 2) or (n, 3) [m], `faces` (m, 3). `remesh` does the same with tensors, fields and contact.
    """
    mesh = mesh_from_arrays(vertices, faces, "remesh")
    sizes = np.asarray(size, np.float64)
    if sizes.shape not in ((), (len(vertices),)) or not (np.isfinite(sizes).all() and (sizes > 0.0).all()):
        remedy = f"must be a number > 0, or one for each of the {len(vertices)} vertices, in m"
        raise InputError("remesh: size", remedy, size if sizes.size < 9 else f"{sizes.shape} numbers")
    wanted = sizes if sizes.ndim == 0 else sizes[mesh.vertex_node]
    result = remesh(mesh, isotropic_sizing(mesh, wanted), options=options)
    flat = np.shape(vertices)[1] == 2
    return Triangles(result.mesh.u if flat else result.x, result.mesh.faces if flat else result.mesh.face_nodes)


def _checked_arrays(vertices: Floats, faces: Ints, place: str) -> tuple[Floats, Ints]:
    """Both arrays as numbers; `InputError` when they are no triangles."""
    try:
        points, corners = np.asarray(vertices, np.float64), np.asarray(faces)
    except (TypeError, ValueError):
        raise InputError(f"{place}: vertices", "must be an array of numbers, in m") from None
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not np.isfinite(points).all():
        raise InputError(f"{place}: vertices", "must be (n, 2) or (n, 3) finite numbers, in m", f"shape {points.shape}")
    if corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "iu" or len(corners) == 0:
        what = f"shape {corners.shape}, {corners.dtype}"
        raise InputError(f"{place}: faces", "must be (m, 3) whole numbers, the vertices of each triangle", what)
    if not 0 <= corners.min() <= corners.max() < len(points):
        wrong = int(corners.max() if corners.max() >= len(points) else corners.min())
        raise InputError(f"{place}: faces", f"must be vertex numbers 0 to {len(points) - 1}", wrong)
    return points, corners.astype(np.int32)
