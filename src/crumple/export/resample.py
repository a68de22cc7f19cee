"""One mesh for all frames: every frame's positions interpolated onto the vertices of a target mesh.

The pattern does not move, so a vertex of the target is a material point, and lies in some face of the frame's own
pattern. There its world position is interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix

from crumple.geometry.overlap import vertex_charts
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.mesh.texture import vertex_sheets
from crumple.runtime.typing import Floats, Ints

INWARD = 1e-3
"""Share of the way to the middle of its faces by which a vertex is moved before it is looked up. Along a cut or
between two panels that touch, this decides for the side that the vertex belongs to."""


@dataclass(frozen=True)
class Location:
    """Material points in the faces of a mesh: `face` (n,) and barycentric coordinates `weight` (n, 3).

    Weights are below 0 for points just outside of the mesh, as on an outline that is round in one mesh more than in the
    other: the nearest face is continued.
    """

    face: Ints
    weight: Floats

    def interpolate(self, corner_values: Floats) -> Floats:
        """Values at the points, (n, d), from those at the corners of the faces, (face_count, 3, d)."""
        return np.einsum("nk,nkd->nd", self.weight, corner_values[self.face])


class Resampler:
    """Interpolates frames onto `target`; keep one for all frames."""

    def __init__(self, target: SheetMesh) -> None:
        self.target = target
        self._sheet = vertex_sheets(target)
        self._inner = target.u + INWARD * (_middle_of_faces(target) - target.u)
        self._share = 1.0 / np.bincount(target.vertex_node, minlength=target.node_count)
        self._centre = target.u[target.faces].mean(axis=1)
        self._latest: tuple[SheetMesh, PatternTree, Ints] | None = None

    def nodes(self, mesh: SheetMesh, *values: Floats) -> list[Floats]:
        """Values (node_count, d) of `mesh` at the nodes of the target, each (target node_count, d).

        A node on a seam takes the mean over its vertices.
        """
        found = self._locate(mesh)
        result = []
        for value in values:
            at_vertex = found.interpolate(value[mesh.face_nodes])
            total = np.zeros((self.target.node_count, at_vertex.shape[1]))
            np.add.at(total, self.target.vertex_node, at_vertex)
            result.append(total * self._share[:, None])
        return result

    def operator(self, mesh: SheetMesh) -> csr_matrix:
        """The sparse matrix P (target node_count, node_count) that does what `nodes` does: values on the target are
        P @ values on `mesh`. Rows add up to 1."""
        found = self._locate(mesh)
        row = np.repeat(self.target.vertex_node, 3)
        weight = (found.weight * self._share[self.target.vertex_node, None]).ravel()
        column = mesh.face_nodes[found.face].ravel()
        matrix = csr_matrix((weight, (row, column)), shape=(self.target.node_count, mesh.node_count))
        matrix.eliminate_zeros()
        return matrix

    def faces(self, mesh: SheetMesh) -> Ints:
        """The face of `mesh` at the middle of each face of the target, (target face_count,)."""
        tree, layer = self._search(mesh)
        return tree.locate(self._centre, self._centre, layer[self.target.faces[:, 0]]).face

    def _locate(self, mesh: SheetMesh) -> Location:
        """Where the vertices of the target are in `mesh`."""
        tree, layer = self._search(mesh)
        return tree.locate(self.target.u, self._inner, layer)

    def _search(self, mesh: SheetMesh) -> tuple[PatternTree, Ints]:
        """The faces of `mesh` ready for searching, and the layer of each vertex of the target."""
        if self._latest is None or self._latest[0] is not mesh:
            # where a sheet was cut or joined since, only the sheets are known to correspond
            layer, face_layer = match_charts(self.target, mesh) or (self._sheet, mesh.face_sheet)
            self._latest = mesh, PatternTree(mesh, face_layer), layer
        return self._latest[1:]


class PatternTree:
    """Finds material points in the faces of `mesh`; only those of the same layer, `face_layer` (face_count,)."""

    def __init__(self, mesh: SheetMesh, face_layer: Ints) -> None:
        self._corners = mesh.u[mesh.faces]
        # Layers may lie on top of each other in the pattern; for searching they are laid out far apart.
        self._apart = 4.0 * float(np.abs(mesh.u).max(initial=1e-9))
        apart = self._corners.copy()
        apart[:, :, 0] += self._apart * face_layer[:, None]
        self._tree = shapely.STRtree(shapely.polygons(apart))

    def locate(self, u: Floats, inner: Floats, layer: Ints) -> Location:
        """Points `u` (n, 2) of layers (n,), each in the face that holds `inner` (n, 2) or else is nearest to it."""
        point, face = self._tree.query_nearest(
            shapely.points(inner[:, 0] + self._apart * layer, inner[:, 1]), all_matches=True
        )
        depth = self._barycentric(face, inner[point]).min(axis=1)
        order = np.lexsort((face, -depth, point))  # the deepest of the faces that touch the point comes first
        first = order[np.flatnonzero(np.diff(point[order], prepend=-1))]
        return Location(face[first], self._barycentric(face[first], u))

    def _barycentric(self, face: Ints, u: Floats) -> Floats:
        """Barycentric coordinates of points u (n, 2) in faces (n,), (n, 3)."""
        a, b, c = (self._corners[face, k] for k in range(3))
        e, f, p = b - a, c - a, u - a
        area = _cross(e, f)
        area = np.where(area == 0.0, np.inf, area)  # a face without area gives its first corner
        second, third = _cross(p, f) / area, _cross(e, p) / area
        return np.stack([1.0 - second - third, second, third], axis=1)


def match_charts(target: SheetMesh, mesh: SheetMesh) -> tuple[Ints, Ints] | None:
    """Numbers of the pieces of pattern, the same in both: of the target's vertices and of the mesh's faces.

    Pieces are told apart by their sheet, their middle in the pattern and that in the reference embedding, which
    remeshing keeps. None when a sheet has more pieces in one than in the other.
    """
    new, old = vertex_charts(target), vertex_charts(mesh)
    new_marks, old_marks = _chart_marks(target, new), _chart_marks(mesh, old)
    if len(new_marks) != len(old_marks):
        return None
    cost = np.linalg.norm(new_marks[:, None, 1:] - old_marks[None, :, 1:], axis=2)
    other_sheet = new_marks[:, None, 0] != old_marks[None, :, 0]
    far = 1e3 * (1.0 + float(cost.max()))
    row, column = linear_sum_assignment(np.where(other_sheet, far, cost))
    if other_sheet[row, column].any():
        return None
    name = np.empty(len(old_marks), np.int32)
    name[column] = row
    return new, name[old[mesh.faces[:, 0]]]


def _chart_marks(mesh: SheetMesh, vertex_chart: Ints) -> Floats:
    """Sheet, middle in the pattern and middle in the reference embedding of each piece, (chart_count, 6)."""
    chart = vertex_chart[mesh.faces[:, 0]]
    area = np.abs(mesh.face_area)
    total = np.bincount(chart, weights=area)
    middle = np.concatenate([mesh.u[mesh.faces].mean(axis=1), mesh.node_rest[mesh.face_nodes].mean(axis=1)], axis=1)
    columns = [np.bincount(chart, weights=area * column) / np.where(total > 0.0, total, 1.0) for column in middle.T]
    sheet = np.zeros(len(total))
    sheet[chart] = mesh.face_sheet
    return np.stack([sheet, *columns], axis=1)


def _middle_of_faces(mesh: SheetMesh) -> Floats:
    """Mean of the middles of the faces around each vertex in the pattern [m], (vertex_count, 2)."""
    corner = mesh.faces.ravel()
    middle = np.repeat(mesh.u[mesh.faces].mean(axis=1), 3, axis=0)
    count = np.bincount(corner, minlength=mesh.vertex_count)
    total = np.stack([np.bincount(corner, weights=column, minlength=mesh.vertex_count) for column in middle.T], axis=1)
    return np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], mesh.u)


def _cross(a: Floats, b: Floats) -> Floats:
    """a × b of plane vectors (n, 2)."""
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
