"""Sizing fields for use as a library: uniform, or a function of the place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.remeshing.sizing.tensors import sizing_tensors
from crumple.remeshing.surface import is_surface
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats


def isotropic_sizing(mesh: SheetMesh, size: float | Floats) -> Floats:
    """Tensors (vertex_count, 3) [1/m²] that ask for edges of at most `size` [m], a number or one per vertex."""
    sizes = np.broadcast_to(np.asarray(size, np.float64), (mesh.vertex_count,))
    return sizing_tensors(np.ascontiguousarray(sizes), mesh.vertex_count)


def sizing_from_function(mesh: SheetMesh, function: Callable[[Floats], Floats]) -> Floats:
    """Tensors (vertex_count, 3) [1/m²] from `function` at the vertices.

    It is given pattern positions (vertex_count, 2) [m], or positions in space (vertex_count, 3) of a surface without
    a pattern, and returns edge lengths (vertex_count,) [m] or tensors (vertex_count, 3) [1/m²] in the pattern.
    The field is known at the vertices only: on a coarse mesh, remesh a few times to see all of the function.
    """
    surface = is_surface(mesh)
    value = np.asarray(function(mesh.node_rest[mesh.vertex_node] if surface else mesh.u), np.float64)
    if value.shape not in ((mesh.vertex_count,), (mesh.vertex_count, 3)):
        remedy = f"must return ({mesh.vertex_count},) lengths or ({mesh.vertex_count}, 3) tensors"
        raise InputError("sizing_from_function: shape", remedy, value.shape)
    if surface and value.ndim == 2:
        raise InputError("sizing_from_function", "must return lengths: a surface in space has no common axes")
    return sizing_tensors(value, mesh.vertex_count)
