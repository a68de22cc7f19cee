"""What there is to be seen of a state: positions and normals of the vertices of its pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.runtime.typing import Floats, Ints
from crumple.state import State


@dataclass(frozen=True)
class SurfaceView:
    """The sheets as a surface: `x` (n, 3) [m], `normal` (n, 3) and `u` (n, 2) [m] of the vertices, `faces` (m, 3),
    `sheet` (m,) of each face; as long as `topology` stays the same, so do u, faces and sheet."""

    x: Floats
    normal: Floats
    u: Floats
    faces: Ints
    sheet: Ints
    topology: int


def view_of(state: State, topology: int) -> SurfaceView:
    """The surface of a state; normals are means over the faces of a node, by area."""
    mesh = state.mesh
    a, b, c = (state.x[mesh.face_nodes[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    normal = np.zeros_like(state.x)
    for k in range(3):
        np.add.at(normal, mesh.face_nodes[:, k], across)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.finfo(float).tiny)
    node = mesh.vertex_node
    return SurfaceView(state.x[node], normal[node], mesh.u, mesh.faces, mesh.face_sheet, topology)
