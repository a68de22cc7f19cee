"""S_P, the sheet that is simulated: the structure's vertices and *ghosts* between them, triangulated cell by cell.

A flat region gets ghosts at the points of a fixed grid, so that it can bow before it has rulings; a strip between two
rulings gets one in its middle. Rulings are edges of the mesh and stay straight. [Schreck2015] §4.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crumple.developable.isometry import Isometry, make_isometry
from crumple.developable.outline import Outline, are_inside
from crumple.developable.structure import BOUNDARY, HANDLE, Edge, Refused, Structure
from crumple.developable.triangulate import triangulate_cells
from crumple.developable.tuning import TUNING
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.typing import Floats, Ints

RULING, CREASE = 1, 2
"""Labels of edges that are rulings and creases; nodes that are singular have the first one."""
NOWHERE: Floats = np.zeros((0, 2))
THIN, NARROW = TUNING.thin_angle.value, TUNING.narrow_strip.value


@dataclass(frozen=True)
class Layout:
    """A structure on its mesh: `node` of each vertex by key, `face_cell` (face_count,) cells; ghosts are the nodes from
    `ghost` on."""

    structure: Structure
    mesh: SheetMesh
    node: Mapping[int, int]
    face_cell: Ints
    ghost: int

    @cached_property
    def hinge(self) -> Mapping[Edge, int]:
        """The hinge between two nodes, either way."""
        found = {}
        for number, (i, j) in enumerate(self.mesh.hinges.nodes[:, :2].tolist()):
            found[i, j] = found[j, i] = number
        return found

    @cached_property
    def hinge_width(self) -> Floats:
        """The area of both faces at each hinge over its length in the pattern, (hinge_count,) [m]."""
        hinges = self.mesh.hinges
        length = np.linalg.norm(self.mesh.u[hinges.nodes[:, 1]] - self.mesh.u[hinges.nodes[:, 0]], axis=1)
        return np.asarray(self.mesh.face_area[hinges.faces].sum(axis=1) / length)

    @cached_property
    def rest_length(self) -> Floats:
        """Of every edge in the pattern, (edge_count,) [m]."""
        tail, head = self.mesh.edges.T
        return np.linalg.norm(self.mesh.u[head] - self.mesh.u[tail], axis=1)

    @cached_property
    def isometry(self) -> Isometry:
        """The lengths that edges have to have."""
        return make_isometry(self.mesh.edges, self.rest_length)

    @cached_property
    def cell_nodes(self) -> tuple[Ints, ...]:
        """The nodes at the corners of every cell."""
        return tuple(np.array([self.node[key] for key in cell], np.int32) for cell in self.structure.cells)

    @property
    def ghosts(self) -> Ints:
        """The nodes that are ghosts."""
        return np.arange(self.ghost, self.mesh.node_count, dtype=np.int32)

    def hinge_of(self, edge: Edge) -> int | None:
        """The hinge at a ruling, None where it lies on the border."""
        return self.hinge.get((self.node[edge[0]], self.node[edge[1]]))


def enrich(structure: Structure, ghost_spacing: float) -> Layout:
    """The mesh of a structure; `Refused` when a face of it would be a sliver."""
    node = {key: number for number, key in enumerate(structure.vertices)}
    points = [vertex.u for vertex in structure.vertices.values()]
    first = len(points)
    corners = [[node[key] for key in cell] for cell in structure.cells]
    inside: list[list[int]] = []
    for fixed, ghosts in _inner_points(structure, ghost_spacing):
        inside.append([node[key] for key in fixed] + list(range(len(points), len(points) + len(ghosts))))
        points += [(float(u[0]), float(u[1])) for u in ghosts]
    u = np.array(points)
    faces, cells, is_whole = triangulate_cells(u, *_flattened(corners), *_flattened(inside))
    if not is_whole:
        raise Refused("a cell has no triangles")
    mesh = _labelled(structure, u, faces, node)
    _refuse_slivers(mesh, structure)
    return Layout(structure, mesh, node, cells, first)


def _flattened(lists: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """All items one after the other, and where each list begins."""
    start: Ints = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int32)
    return np.array(list(itertools.chain.from_iterable(lists)), np.int32), start


def _inner_points(structure: Structure, spacing: float) -> Iterator[tuple[list[int], Floats]]:
    """Of every cell the held vertices inside it, and its ghosts (n, 2) [m]."""
    strips = set(structure.strips.values())
    held = [key for key, vertex in structure.vertices.items() if vertex.kind == HANDLE]
    places = np.array([structure.vertices[key].u for key in held]).reshape(-1, 2)
    grid = grid_points(structure.outline, spacing)
    for number, cell in enumerate(structure.cells):
        if number in strips and not held:
            yield [], (structure.polygon(number).mean(axis=0)[None] if len(cell) == 4 else NOWHERE)
            continue
        polygon = structure.polygon(number)
        is_inner = are_inside(polygon, places)
        fixed = places[is_inner]
        ghosts = _strip_ghost(polygon, fixed) if number in strips else flat_ghosts(polygon, fixed, grid, spacing)
        yield [key for key, is_in in zip(held, is_inner, strict=True) if is_in], ghosts


def _labelled(structure: Structure, u: Floats, faces: Ints, node: Mapping[int, int]) -> SheetMesh:
    """The mesh with labels on rulings, creases and singular points."""
    chords = [(node[a], node[b]) for a, b in (*structure.chords, *structure.creases)]
    marks = [RULING] * len(structure.chords) + [CREASE] * len(structure.creases)
    label = edge_labels(faces, np.array(chords, np.int32).reshape(-1, 2), np.array(marks, np.int32))
    singular: Ints = np.zeros(len(u), np.int32)
    singular[[node[key] for key in structure.singular]] = RULING
    return make_sheet_mesh(u, faces, edge_label=label, node_label=singular)


def edge_labels(faces: Ints, lines: Ints, marks: Ints) -> Ints:
    """The labels (n, 3) of the edges from corner k to k + 1 of `faces` (n, 3), 0 where there is no line: those `marks`
    (m,) of the `lines` (m, 2) between nodes, the last one where lines repeat."""
    label = np.zeros(faces.shape, np.int32)
    if not len(lines):
        return label
    most = int(max(faces.max(), lines.max())) + 1
    ends = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).astype(np.int64), axis=2)
    name, sides = most * ends[..., 0] + ends[..., 1], np.sort(lines, axis=1).astype(np.int64)
    known = most * sides[:, 0] + sides[:, 1]
    order = np.argsort(known, kind="stable")
    place = np.searchsorted(known[order], name, side="right") - 1
    found = known[order][place] == name
    label[found] = marks[order][place[found]]
    return label


def _refuse_slivers(mesh: SheetMesh, structure: Structure) -> None:
    """`Refused` when faces do not cover the sheet, a node is in none, or an angle is too small: smaller than that in a
    strip of part of the spacing across the sheet."""
    outline = structure.outline
    if abs(float(mesh.face_area.sum()) - outline.area) > 1e-9 * outline.area or mesh.face_area.min() <= 0.0:
        raise Refused("faces do not cover the sheet")
    if len(np.unique(mesh.faces)) < mesh.node_count:
        raise Refused("a node without faces")
    least = min(THIN, NARROW * structure.spacing / float(np.ptp(outline.corners, axis=0).min()))
    if float(np.min(2.0 * mesh.face_area / np.max(mesh.corner_length.reshape(-1, 3), axis=1) ** 2)) < least:
        raise Refused("a sliver")


def grid_points(outline: Outline, spacing: float) -> Floats:
    """The points of an equilateral grid over the box of an outline, always the same ones, (n, 2) [m]."""
    low, high = outline.corners.min(axis=0), outline.corners.max(axis=0)
    rows = np.arange(low[1] + 0.5 * spacing, high[1], spacing * np.sqrt(0.75))
    columns = np.arange(low[0] + 0.25 * spacing, high[0], spacing)
    x, y = np.meshgrid(columns, rows)
    x[1::2] += 0.5 * spacing
    return np.stack([x.ravel(), y.ravel()], axis=1)


def flat_ghosts(polygon: Floats, fixed: Floats, grid: Floats, spacing: float) -> Floats:
    """The grid points in a flat region that are far enough from its edges and from the `fixed` points, (n, 2) [m]."""
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    near = grid[np.all((grid > low) & (grid < high), axis=1)]
    if not len(near):
        return near
    near = near[distances(polygon, near) > 0.45 * spacing]
    near = near[are_inside(polygon, near)]
    if len(fixed):
        near = near[np.linalg.norm(fixed[None] - near[:, None], axis=2).min(axis=1) > 0.6 * spacing]
    return near


def _strip_ghost(polygon: Floats, fixed: Floats) -> Floats:
    """The middle of a strip with four corners that holds no point already, (n, 2) [m]."""
    return np.zeros((0, 2)) if len(polygon) != 4 or len(fixed) else polygon.mean(axis=0)[None]


def distances(polygon: Floats, points: Floats) -> Floats:
    """How far points (n, 2) are from the sides of a polygon (m, 2), (n,) [m]."""
    p, side = polygon[None], (np.roll(polygon, -1, axis=0) - polygon)[None]
    to = points[:, None] - p
    along = np.clip(np.sum(to * side, axis=2) / np.sum(side * side, axis=2), 0.0, 1.0)
    return np.asarray(np.linalg.norm(to - along[:, :, None] * side, axis=2).min(axis=1))


def border_nodes(layout: Layout) -> Ints:
    """The nodes of the border in order."""
    keys = layout.structure.border
    assert all(layout.structure.vertices[key].kind == BOUNDARY for key in keys)
    return np.array([layout.node[key] for key in keys], np.int32)
