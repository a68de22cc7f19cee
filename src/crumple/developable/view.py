"""What is shown of a developable sheet: strips subdivided along their rulings, with normals constant along each.

Rulings between rulings end on the cubic through the nodes of the border; then every edge of the finer mesh is given its
length, as for the sheet itself. Texture coordinates are the pattern, and never resampled.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from crumple.developable.isometry import make_isometry
from crumple.developable.paper import Paper
from crumple.developable.structure import BOUNDARY, Edge
from crumple.developable.transfer import BorderCurve
from crumple.developable.tuning import TUNING
from crumple.geometry.triangle import face_normals
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.typing import Floats, Ints
from crumple.state import State, initial_state

PARTS = TUNING.view_parts.value
SHARP = TUNING.view_fold.value


@dataclass(frozen=True)
class SmoothView:
    """`mesh` with the pattern `u`; positions `x` (node_count, 3) [m]; a unit `normal` at each corner of each face,
    (face_count, 3, 3), equal along a ruling and on both sides of it, unless it is a fold."""

    mesh: SheetMesh
    x: Floats
    normal: Floats

    def state(self, like: State) -> State:
        """A state of the same time with this mesh, for pictures and exports."""
        fresh = initial_state(
            self.mesh,
            self.x,
            obstacle_x=like.obstacle_x,
            obstacle_count=len(like.obstacle_lag),
            step_size=like.step_size,
        )
        return fresh.replaced(time=like.time, frame=like.frame)


class _Drawing:
    """Vertices, faces and rulings of a view while it is made; the nodes of the sheet come first."""

    def __init__(self, paper: Paper) -> None:
        mesh = paper.layout.mesh
        self.u, self.x = [tuple(u) for u in mesh.u.tolist()], [tuple(x) for x in paper.state.x.tolist()]
        self.faces: list[tuple[int, int, int]] = []
        self.sides: list[tuple[int, ...]] = []
        self._paper = paper
        self._border = BorderCurve(paper.layout, np.concatenate([paper.state.x, paper.state.v], axis=1))
        self._made: dict[tuple[int, int, int], int] = {}

    def between(self, a: int, b: int, part: int) -> int:
        """The node at a part of the border between two of its vertices; the vertex where both are the same."""
        node = self._paper.layout.node
        if a == b:
            return node[a]
        name = (a, b, part) if a < b else (b, a, PARTS - part)
        if name not in self._made:
            vertices, outline = self._paper.structure.vertices, self._paper.structure.outline
            start = vertices[name[0]].place
            place = start + name[2] / PARTS * outline.way(start, vertices[name[1]].place)
            u = outline.point(place)
            self._made[name] = len(self.u)
            self.u.append((float(u[0]), float(u[1])))
            self.x.append(tuple(self._border.at(place % outline.length)[:3].tolist()))
        return self._made[name]

    def cell(self, number: int) -> None:
        """A cell as it is simulated."""
        layout = self._paper.layout
        for face in layout.mesh.faces[layout.face_cell == number].tolist():
            self._face(face[0], face[1], face[2], (-1, -1, -1))

    def strip(self, first: Edge, second: Edge, name: int) -> int:
        """A strip between two rulings with others between them, numbered from `name` on; the number of the last."""
        node = self._paper.layout.node
        lines = [(node[first[0]], node[first[1]])]
        lines += [
            (self.between(first[0], second[0], part), self.between(first[1], second[1], part))
            for part in range(1, PARTS)
        ]
        lines.append((node[second[0]], node[second[1]]))
        for part, ((a, b), (c, d)) in enumerate(itertools.pairwise(lines)):
            here, there = name + part, name + part + 1
            for face, lies in (((a, c, b), (here, there, here)), ((b, c, d), (here, there, there))):
                if len(set(face)) == 3:
                    self._face(*face, lies)
        return name + PARTS

    def _face(self, a: int, b: int, c: int, lies: tuple[int, int, int]) -> None:
        """A face, turned so that it is counter-clockwise, and the rulings that its corners lie on."""
        (ax, ay), (bx, by), (cx, cy) = self.u[a], self.u[b], self.u[c]
        if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0.0:
            b, c, lies = c, b, (lies[0], lies[2], lies[1])
        self.faces.append((a, b, c))
        self.sides.append(lies)


def smooth_view(paper: Paper) -> SmoothView:
    """The sheet as it is shown."""
    drawing = _Drawing(paper)
    structure = paper.structure
    plain, name = set(range(len(structure.cells))), 0
    for key, curve in structure.curves.items():
        for number, (first, second) in enumerate(zip(curve.rulings[:-1], curve.rulings[1:], strict=True)):
            cell = structure.strips[key, number]
            pair = _aligned(paper, cell, first, second)
            if pair is None:
                name += 2
                continue
            plain.discard(cell)
            name = drawing.strip(*pair, name)
        name += 2
    for cell in sorted(plain):
        drawing.cell(cell)
    mesh, x, sides = _used(drawing)
    tail, head = mesh.edges.T
    isometry = make_isometry(mesh.edges, np.linalg.norm(mesh.u[head] - mesh.u[tail], axis=1))
    weight = np.ones(len(x))
    x = isometry.project(x, weight)
    return SmoothView(mesh, x, _normals(mesh, x, sides))


def _aligned(paper: Paper, cell: int, first: Edge, second: Edge) -> tuple[Edge, Edge] | None:
    """The rulings of a strip with ends that belong together in the same order; None when more than they is in it."""
    vertices = paper.structure.vertices
    if set(paper.structure.cells[cell]) != {*first, *second}:
        return None
    if any(paper.layout.node[key] >= paper.layout.ghost for key in (*first, *second)):
        return None
    for other in (second, (second[1], second[0])):
        ends = list(zip(first, other, strict=True))
        beside = [a == b or (vertices[a].kind == vertices[b].kind == BOUNDARY and (a, b) not in paper.structure.owners
                             and paper.structure.outline.on_one_side(vertices[a].place, vertices[b].place))
                  for a, b in ends]  # fmt: skip
        if all(beside):
            return first, other
    return None


def _used(drawing: _Drawing) -> tuple[SheetMesh, Floats, Ints]:
    """The mesh of a drawing without the ghosts of subdivided strips, its positions, and the rulings of corners."""
    faces = np.array(drawing.faces, np.int32)
    nodes, local = np.unique(faces, return_inverse=True)
    mesh = make_sheet_mesh(np.array(drawing.u)[nodes], local.reshape(-1, 3).astype(np.int32))
    return mesh, np.array(drawing.x)[nodes], np.array(drawing.sides, np.int64)


def _normals(mesh: SheetMesh, x: Floats, sides: Ints) -> Floats:
    """The normal at each corner: that of its ruling, the mean of both sides; that of the face in flat regions.

    Where the last ruling of a curved region meets something flat or another curved region, it is the mean of these
    two, unless it is a fold.
    """
    normal = face_normals(x, mesh.face_nodes)
    corner = np.repeat(normal[:, None], 3, axis=1)
    count = int(sides.max(initial=-1)) + 1
    if count == 0:
        return corner
    total = np.zeros((count, 3))
    for k in range(3):
        on = sides[:, k] >= 0
        np.add.at(total, sides[on, k], normal[on])
    size = np.linalg.norm(total, axis=1)
    total /= np.where(size > 0.0, size, 1.0)[:, None]
    smooth = np.where((sides >= 0)[..., None], total[sides], corner)
    across = _across(mesh, normal, smooth, sides)
    return np.asarray(across / np.linalg.norm(across, axis=2)[..., None])


def _across(mesh: SheetMesh, normal: Floats, smooth: Floats, sides: Ints) -> Floats:
    """The same with normals that are equal on both sides of an edge where one curved region or flat one ends."""
    result = smooth.copy()
    twin = mesh.twin.reshape(-1, 3)
    for face, k in zip(*np.nonzero(twin >= 0), strict=True):
        other, m = divmod(int(twin[face, k]), 3)
        ends, others = sides[face, [k, (k + 1) % 3]], sides[other, [m, (m + 1) % 3]]
        is_last = ends[0] == ends[1] >= 0 and ends[0] != others[0]
        if is_last and normal[face] @ normal[other] > np.cos(SHARP):
            joined = smooth[face, k] + smooth[other, (m + 1) % 3]
            result[face, k] = result[face, (k + 1) % 3] = joined
            if others[0] == others[1] >= 0:
                result[other, m] = result[other, (m + 1) % 3] = joined
    return result
