"""What there is to be seen of a sheet: positions and normals of the vertices of its pattern, and what lies under it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats, Ints
from crumple.state import State

SINGULAR, JUNCTION, HELD = range(3)
"""Kinds of points of an overlay: singular points, ends of curved regions on the border, held vertices."""

NORMAL, REGION = "shown_normal", "region"
"""Names of fields of a state: normals that its faces are drawn with, (face_count, 9), and the regions of an overlay."""


@dataclass(frozen=True)
class Overlay:
    """The structure under a surface, to be drawn over it.

    `lines` (n, 2) between vertices of the view, and the curved region of each, `line_region` (n,), 0 of creases;
    `points` (m,) vertices, and their `kinds` (m,);  `region` (face_count,): 0 where the sheet is flat, the number of
    the curved region, from 1 on, elsewhere.
    """

    lines: Ints
    line_region: Ints
    points: Ints
    kinds: Ints
    region: Ints


@dataclass(frozen=True)
class SurfaceView:
    """The sheets as a surface: `x` (n, 3) [m], `normal` (n, 3) and `u` (n, 2) [m] of the vertices, the `node` (n,) of
    each, `faces` (m, 3), `sheet` (m,) of each face.

    As long as `mesh` is the same object, so is all but x and normal; `topology`: a number for it, given by a session.
    `is_smooth`: whether faces and normals are meant to be drawn as they are, without smoothing them further.
    """

    x: Floats
    normal: Floats
    u: Floats
    node: Ints
    faces: Ints
    sheet: Ints
    mesh: SheetMesh
    topology: int = 0
    is_smooth: bool = False
    overlay: Overlay | None = None


def view_of(state: State) -> SurfaceView:
    """The surface of a state; normals are means over the faces of a node, by area."""
    mesh = state.mesh
    a, b, c = (state.x[mesh.face_nodes[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    normal = np.zeros_like(state.x)
    for k in range(3):
        np.add.at(normal, mesh.face_nodes[:, k], across)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.finfo(float).tiny)
    node = mesh.vertex_node
    return SurfaceView(state.x[node], normal[node], mesh.u, node, mesh.faces, mesh.face_sheet, mesh)
