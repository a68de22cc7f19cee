"""The mesh on which a developable sheet is shown: its strips are cut along further rulings. It follows from the
structure alone, and is made once for it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crumple.developable.enrich import CREASE, RULING, Layout
from crumple.developable.isometry import Isometry, make_isometry
from crumple.developable.structure import BOUNDARY, HANDLE, NOBODY, Edge
from crumple.developable.transfer import BorderCurve
from crumple.developable.tuning import TUNING
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.typing import Floats, Ints

PARTS = TUNING.view_parts.value
APART = 2
"""Numbers that are left out between the rulings of two curved regions: nothing is smooth across."""


@dataclass(frozen=True)
class ViewMesh:
    """`mesh` with the pattern u: first the nodes `kept` (n,) of the sheet, then nodes at `places` (m,) of its border
    [m];  `layout`: what it was made for;  `isometry`: the lengths of its edges.

    `sides` (face_count, 3): the number of the ruling that each corner lies on, equal on both sides of it; −1 − cell in
    cells without rulings.  `region` (face_count,): the key of the curved region, or `NOBODY`.
    """

    layout: Layout
    mesh: SheetMesh
    kept: Ints
    places: Floats
    sides: Ints
    region: Ints
    isometry: Isometry

    def positions(self, x: Floats, curved: float = 1.0) -> Floats:
        """Where its nodes are, (node_count, 3) [m], for nodes of the sheet at x: on the border on the cubic through
        them, or, as `curved` goes to 0, on the straight lines between them."""
        both = BorderCurve(self.layout, np.concatenate([x, x], axis=1)).at(self.places)
        return np.concatenate([x[self.kept], curved * both[:, :3] + (1.0 - curved) * both[:, 3:]])

    def node(self, vertex: int) -> int:
        """The node of a vertex of the structure."""
        return int(np.searchsorted(self.kept, self.layout.node[vertex]))


class _Drawing:
    """Vertices, faces and rulings while they are made; the nodes of the sheet come first."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.u: list[tuple[float, float]] = [(float(a), float(b)) for a, b in layout.mesh.u]
        self.places: list[float] = []
        self.faces: list[tuple[int, int, int]] = []
        self.sides: list[tuple[int, int, int]] = []
        self.region: list[int] = []
        self._made: dict[tuple[int, int, int], int] = {}

    def between(self, a: int, b: int, part: int) -> int:
        """The node at a part of the border between two of its vertices; the vertex where both are the same."""
        if a == b:
            return self.layout.node[a]
        name = (a, b, part) if a < b else (b, a, PARTS - part)
        if name not in self._made:
            vertices, outline = self.layout.structure.vertices, self.layout.structure.outline
            start = vertices[name[0]].place
            place = (start + name[2] / PARTS * outline.way(start, vertices[name[1]].place)) % outline.length
            u = outline.point(place)
            self._made[name] = len(self.u)
            self.u.append((float(u[0]), float(u[1])))
            self.places.append(place)
        return self._made[name]

    def cell(self, number: int, region: int) -> None:
        """A cell as it is simulated."""
        for a, b, c in self.layout.mesh.faces[self.layout.face_cell == number].tolist():
            self._face(a, b, c, (-1 - number,) * 3, region)

    def strip(self, first: Edge, second: Edge, name: int, region: int) -> int:
        """A strip between two rulings with others between them, numbered from `name` on; the number of the last."""
        node = self.layout.node
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
                    self._face(*face, lies, region)
        return name + PARTS

    def _face(self, a: int, b: int, c: int, lies: tuple[int, int, int], region: int) -> None:
        """A face, turned so that it is counter-clockwise, and the rulings that its corners lie on."""
        (ax, ay), (bx, by), (cx, cy) = self.u[a], self.u[b], self.u[c]
        if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0.0:
            b, c, lies = c, b, (lies[0], lies[2], lies[1])
        self.faces.append((a, b, c))
        self.sides.append(lies)
        self.region.append(region)


def make_view_mesh(layout: Layout) -> ViewMesh:
    """The mesh on which the sheet of a layout is shown."""
    drawing, structure = _Drawing(layout), layout.structure
    plain, name = dict.fromkeys(range(len(structure.cells)), NOBODY), 0
    for key, curve in structure.curves.items():
        for number, (first, second) in enumerate(itertools.pairwise(curve.rulings)):
            cell = structure.strips[key, number]
            pair = _aligned(layout, cell, first, second)
            if pair is None:
                plain[cell] = key
                name += APART
                continue
            del plain[cell]
            name = drawing.strip(*pair, name, key)
        name += APART
    for cell, region in plain.items():
        drawing.cell(cell, region)
    return _finished(drawing)


def _aligned(layout: Layout, cell: int, first: Edge, second: Edge) -> tuple[Edge, Edge] | None:
    """The rulings of a strip with ends that belong together in the same order; None when more than they is in it."""
    structure = layout.structure
    vertices, outline = structure.vertices, structure.outline
    if set(structure.cells[cell]) != {*first, *second} or _is_held_inside(layout, cell):
        return None
    for other in (second, (second[1], second[0])):
        beside = [
            a == b
            or (vertices[a].kind == vertices[b].kind == BOUNDARY and (a, b) not in structure.owners
                and outline.on_one_side(vertices[a].place, vertices[b].place))
            for a, b in zip(first, other, strict=True)
        ]  # fmt: skip
        if all(beside):
            return first, other
    return None


def _is_held_inside(layout: Layout, cell: int) -> bool:
    """Whether a finger is in a cell: its triangles are shown, then, as they are."""
    held = [layout.node[key] for key, vertex in layout.structure.vertices.items() if vertex.kind == HANDLE]
    return bool(held) and bool(np.isin(layout.mesh.faces[layout.face_cell == cell], held).any())


def _finished(drawing: _Drawing) -> ViewMesh:
    """Without the nodes that are in no face: ghosts of strips that were cut."""
    layout, faces = drawing.layout, np.array(drawing.faces, np.int32)
    nodes, local = np.unique(faces, return_inverse=True)
    count = layout.mesh.node_count
    kept, made = nodes[nodes < count], nodes[nodes >= count] - count
    place = {int(node): number for number, node in enumerate(nodes)}
    lines = _labels(layout, place)
    corners = local.reshape(-1, 3).astype(np.int32)
    ends = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2).tolist()
    label = np.array([lines.get(frozenset(edge), 0) for edge in ends], np.int32).reshape(-1, 3)
    marks = np.zeros(len(nodes), np.int32)
    marks[: len(kept)] = layout.mesh.node_label[kept]
    mesh = make_sheet_mesh(np.array(drawing.u)[nodes], corners, edge_label=label, node_label=marks)
    tail, head = mesh.edges.T
    isometry = make_isometry(mesh.edges, np.linalg.norm(mesh.u[head] - mesh.u[tail], axis=1))
    places, sides, region = np.array(drawing.places)[made], np.array(drawing.sides), np.array(drawing.region)
    return ViewMesh(layout, mesh, kept.astype(np.int32), places, sides, region, isometry)


def _labels(layout: Layout, place: Mapping[int, int]) -> dict[frozenset[int], int]:
    """The labels of rulings and creases by their two nodes; `place`: the number here of each node of the sheet."""
    structure, node = layout.structure, layout.node
    return {
        frozenset((place[node[a]], place[node[b]])): CREASE if (a, b) in structure.creases else RULING
        for a, b in structure.chords
    }
