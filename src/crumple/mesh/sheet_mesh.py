"""The sheet as flat arrays: faces in material space, glued into nodes in world space.

A **node** lives in world space (it has a position, a velocity, a mass); a **vertex** lives in material
(pattern) space. Along a seam several vertices share a node; elsewhere there is one vertex per node.

Half-edge `3 f + k` runs from corner `k` of face `f` to corner `(k + 1) % 3`; its twin runs the other way
in the neighbouring face *in world space*, so hinges cross seams.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crumple.runtime.typing import Bools, Floats, Ints

BOUNDARY = -1
"""Twin of a half-edge that has no neighbour."""


@dataclass(frozen=True)
class Hinges:
    """Pairs of faces across an interior edge.

    `nodes` (hinge_count, 4): i, j, k, l with the edge i→j as face A runs it, k opposite in A, l opposite in B.
    `faces` (hinge_count, 2): A and B.  `corners` (hinge_count, 2): the half-edge of A and its twin in B.
    """

    nodes: Ints
    faces: Ints
    corners: Ints


@dataclass(frozen=True)
class SheetMesh:
    """Connectivity, pattern and labels of one or several sheets (world positions are in the State).

    `u` (vertex_count, 2) pattern positions [m];  `vertex_node` (vertex_count,) node of each vertex;
    `faces` (face_count, 3) vertices, counter-clockwise in `u`;
    `face_material` (face_count,) index into the model's materials;  `face_sheet` (face_count,) which sheet;
    `edge_label` (face_count, 3) label of half-edge 3 f + k, equal on both sides, 0 = none;
    `node_label` (node_count,) label, 0 = none;
    `node_rest` (node_count, 3) reference embedding [m]: distances in it tell neighbours apart from contacts.
    """

    u: Floats
    vertex_node: Ints
    faces: Ints
    face_material: Ints
    face_sheet: Ints
    edge_label: Ints
    node_label: Ints
    node_rest: Floats

    @property
    def node_count(self) -> int:
        return len(self.node_label)

    @property
    def vertex_count(self) -> int:
        return len(self.u)

    @property
    def face_count(self) -> int:
        return len(self.faces)

    @cached_property
    def face_nodes(self) -> Ints:
        """Nodes of each face, (face_count, 3)."""
        return np.ascontiguousarray(self.vertex_node[self.faces])

    @cached_property
    def face_area(self) -> Floats:
        """Material area of each face [m²]; negative when the face is inverted in the pattern."""
        a, b, c = (self.u[self.faces[:, k]] for k in range(3))
        e, f = b - a, c - a
        return 0.5 * (e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0])

    @cached_property
    def node_area(self) -> Floats:
        """A third of the material area of the faces around each node [m²]."""
        area = np.repeat(self.face_area / 3.0, 3)
        total = np.bincount(self.face_nodes.ravel(), weights=area, minlength=self.node_count)
        return np.asarray(total, np.float64)

    @cached_property
    def twin(self) -> Ints:
        """Opposite half-edge of each half-edge, `BOUNDARY` where there is none, (3 face_count,)."""
        tail = self.face_nodes.ravel().astype(np.int64)
        head = np.roll(self.face_nodes, -1, axis=1).ravel().astype(np.int64)
        low, high = np.minimum(tail, head), np.maximum(tail, head)
        key = low * self.node_count + high
        order = np.argsort(key, kind="stable")
        paired = np.flatnonzero(key[order[1:]] == key[order[:-1]])
        twin = np.full(len(key), BOUNDARY, np.int32)
        first, second = order[paired], order[paired + 1]
        twin[first], twin[second] = second, first
        return twin

    @cached_property
    def edge_corners(self) -> Ints:
        """One half-edge per edge, the one with the smaller index, ascending, (edge_count,)."""
        corner = np.arange(len(self.twin), dtype=np.int32)
        return corner[(self.twin == BOUNDARY) | (corner < self.twin)]

    @cached_property
    def edges(self) -> Ints:
        """Nodes of each edge in the direction of `edge_corners`, (edge_count, 2)."""
        return np.ascontiguousarray(np.stack(self._ends(self.edge_corners), axis=1))

    @cached_property
    def hinges(self) -> Hinges:
        """The interior edges with their two faces, ascending by half-edge."""
        a = self.edge_corners[self.twin[self.edge_corners] != BOUNDARY]
        b = self.twin[a]
        tail, head = self._ends(a)
        corner = self.face_nodes.ravel()
        nodes = np.stack([tail, head, corner[_previous(a)], corner[_previous(b)]], axis=1)
        return Hinges(
            nodes=np.ascontiguousarray(nodes, np.int32),
            faces=np.ascontiguousarray(np.stack([a // 3, b // 3], axis=1), np.int32),
            corners=np.ascontiguousarray(np.stack([a, b], axis=1), np.int32),
        )

    @cached_property
    def corner_edge(self) -> Floats:
        """Every half-edge in the pattern as a vector [m], (face_count, 3, 2)."""
        p = self.u[self.faces]
        return np.roll(p, -1, axis=1) - p

    @cached_property
    def corner_length(self) -> Floats:
        """Material length of every half-edge [m], (3 face_count,)."""
        return np.linalg.norm(self.corner_edge, axis=2).ravel()

    @cached_property
    def boundary_nodes(self) -> Bools:
        """Nodes on an edge that has only one face, (node_count,)."""
        flag = np.zeros(self.node_count, bool)
        for ends in self._ends(np.flatnonzero(self.twin == BOUNDARY)):
            flag[ends] = True
        return flag

    @cached_property
    def node_sheet(self) -> Ints:
        """The sheet that each node belongs to, (node_count,)."""
        sheet = np.zeros(self.node_count, np.int32)
        sheet[self.face_nodes.ravel()] = np.repeat(self.face_sheet, 3)
        return sheet

    @cached_property
    def has_seams(self) -> bool:
        """Whether some node is shared by several vertices."""
        return self.vertex_count != self.node_count

    def _ends(self, corners: np.ndarray) -> tuple[Ints, Ints]:
        """Tail and head nodes of half-edges."""
        flat = self.face_nodes.ravel()
        return flat[corners], flat[_next(corners)]


def make_sheet_mesh(
    u: Floats,
    faces: Ints,
    *,
    vertex_node: Ints | None = None,
    face_material: Ints | None = None,
    face_sheet: Ints | None = None,
    edge_label: Ints | None = None,
    node_label: Ints | None = None,
    node_rest: Floats | None = None,
) -> SheetMesh:
    """A `SheetMesh` with defaults filled in: one vertex per node, group 0, no labels, pattern as reference.

    With seams, `node_rest` must be given (usually the initial world positions).
    """
    u = np.ascontiguousarray(u, np.float64)
    faces = np.ascontiguousarray(faces, np.int32)
    if vertex_node is None:
        vertex_node = np.arange(len(u), dtype=np.int32)
    node_count = int(vertex_node.max()) + 1 if len(vertex_node) else 0
    if node_rest is None:
        node_rest = np.zeros((node_count, 3))
        node_rest[vertex_node, :2] = u
    zeros = np.zeros(len(faces), np.int32)
    return SheetMesh(
        u=u,
        vertex_node=np.ascontiguousarray(vertex_node, np.int32),
        faces=faces,
        face_material=zeros if face_material is None else np.ascontiguousarray(face_material, np.int32),
        face_sheet=zeros.copy() if face_sheet is None else np.ascontiguousarray(face_sheet, np.int32),
        edge_label=np.zeros((len(faces), 3), np.int32)
        if edge_label is None
        else np.ascontiguousarray(edge_label, np.int32),
        node_label=np.zeros(node_count, np.int32) if node_label is None else np.ascontiguousarray(node_label, np.int32),
        node_rest=np.ascontiguousarray(node_rest, np.float64),
    )


def _next(corner: np.ndarray) -> np.ndarray:
    """The half-edge after `corner` in its face."""
    return corner - 2 * (corner % 3 == 2) + (corner % 3 != 2)


def _previous(corner: np.ndarray) -> np.ndarray:
    """The half-edge before `corner` in its face; its tail is opposite to `corner`."""
    return corner + 2 * (corner % 3 == 0) - (corner % 3 != 0)
