"""Normals of the view of a developable sheet: one along each ruling, and sharp where it is folded.

Corners of faces that have one normal are one *vertex* of the view: those at a node on the same ruling. So the apex of a
cone has as many normals as rulings meet there, and a fold has two. In cells without rulings every corner has its own:
the mean over the faces around it in the cell, without those that are folded against its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.developable.enrich import CREASE
from crumple.developable.tuning import TUNING
from crumple.developable.view_mesh import ViewMesh
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.runtime.typing import Floats, Ints

SMOOTH, FOLD = TUNING.view_smooth.value, TUNING.view_fold.value


@dataclass(frozen=True)
class Shading:
    """`corner` (face_count, 3): the vertex of each corner;  `node` (vertex_count,) of each;  `group` (vertex_count,):
    vertices of one ruling are of one group, those elsewhere have each their own.

    `plain` (k, 3): groups of corners in cells without rulings, the face of each, and a face around it in the cell.
    `ends` (m, 2): groups of the last ruling of a curved region and of the ruling beyond it, or −1 where something flat
    is;  `end_faces` (m, 2): the faces on both sides of it.
    """

    mesh: SheetMesh
    corner: Ints
    node: Ints
    group: Ints
    plain: Ints
    ends: Ints
    end_faces: Ints

    def normals(self, x: Floats) -> Floats:
        """The unit normals of the vertices, (vertex_count, 3), for nodes at x (node_count, 3) [m]: the mean over the
        faces of its group by area; at the end of a curved region that of what lies beyond, unless there is a fold."""
        a, b, c = (x[self.mesh.face_nodes[:, k]] for k in range(3))
        across = np.cross(b - a, c - a)
        face = _unit(across)
        total = np.zeros((int(self.group.max()) + 1, 3))
        for k in range(3):
            np.add.at(total, self.group[self.corner[:, k]], across)
        group, own, around = self.plain.T
        weight = 1.0 - _foldedness(face[own], face[around])
        np.add.at(total, group, np.where(own == around, 0.0, weight)[:, None] * across[around])
        normal = _unit(total)
        if not len(self.ends):
            return np.asarray(normal[self.group])
        one, other = self.ends.T
        beyond = np.where((other >= 0)[:, None], _unit(normal[one] + normal[other]), face[self.end_faces[:, 1]])
        folded = _foldedness(face[self.end_faces[:, 0]], face[self.end_faces[:, 1]])[:, None]
        joined = normal.copy()
        joined[one] = _unit(folded * normal[one] + (1.0 - folded) * beyond)
        return np.asarray(joined[self.group])


def make_shading(view: ViewMesh) -> Shading:
    """The vertices of a view, and which of them have one normal."""
    mesh, sides = view.mesh, view.sides
    name = np.where(sides < 0, -1 - np.arange(sides.size).reshape(-1, 3), sides)  # corners of no ruling are apart
    key = np.stack([name.ravel(), mesh.face_nodes.ravel()], axis=1)
    vertices, number = np.unique(key, axis=0, return_inverse=True)
    corner: Ints = number.reshape(-1, 3).astype(np.int32)
    is_ruled = vertices[:, 0] >= 0
    lines, line = np.unique(vertices[is_ruled, 0], return_inverse=True)
    group = np.empty(len(vertices), np.int32)
    group[is_ruled] = line
    group[~is_ruled] = len(lines) + np.arange(np.count_nonzero(~is_ruled))
    ends, faces = _ends(mesh, sides, group[corner])
    plain = _plain_faces(mesh, sides, group[corner])
    return Shading(mesh, corner, vertices[:, 1].astype(np.int32), group, plain, ends, faces)


def _plain_faces(mesh: SheetMesh, sides: Ints, group: Ints) -> Ints:
    """The faces around each corner in cells without rulings, as in `Shading`; `group` (face_count, 3) of corners."""
    around: dict[tuple[int, int], list[int]] = {}
    corners = [(int(f), int(k)) for f, k in zip(*np.nonzero(sides < 0), strict=True)]
    for f, k in corners:
        around.setdefault((int(sides[f, k]), int(mesh.face_nodes[f, k])), []).append(f)
    found = [
        (int(group[f, k]), f, other)
        for f, k in corners
        for other in around[int(sides[f, k]), int(mesh.face_nodes[f, k])]
    ]
    return np.array(found, np.int32).reshape(-1, 3)


def _ends(mesh: SheetMesh, sides: Ints, group: Ints) -> tuple[Ints, Ints]:
    """The rulings at which curved regions end, as in `Shading`; `group` (face_count, 3) of the corners."""
    half_edge = np.flatnonzero(mesh.twin != BOUNDARY)
    twin = mesh.twin[half_edge]
    face, k, other, m = half_edge // 3, half_edge % 3, twin // 3, twin % 3
    here = sides[face, k], sides[face, (k + 1) % 3]
    there = sides[other, m], sides[other, (m + 1) % 3]
    is_end = (here[0] == here[1]) & (here[0] >= 0) & (here[0] != there[0])
    is_end &= mesh.edge_label.ravel()[half_edge] != CREASE  # always sharp
    is_line = (there[0] == there[1]) & (there[0] >= 0)
    beyond = np.where(is_line, group[other, m], -1)
    ends = np.stack([group[face, k], beyond], axis=1)[is_end]
    return ends.astype(np.int32), np.stack([face, other], axis=1)[is_end].astype(np.int32)


def _foldedness(one: Floats, other: Floats) -> Floats:
    """From 0, smooth, to 1, a fold, by the angles between unit normals (n, 3), (n,)."""
    turn = np.arctan2(np.linalg.norm(np.cross(one, other), axis=1), np.sum(one * other, axis=1))
    s = np.clip((turn - SMOOTH) / (FOLD - SMOOTH), 0.0, 1.0)
    return np.asarray(s * s * (3.0 - 2.0 * s))


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.finfo(float).tiny))
