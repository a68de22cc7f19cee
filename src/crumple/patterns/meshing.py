"""Meshes of crease patterns: edges along every crease, labelled with its number, and slits along the cuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from crumple.mesh.limits import limit_faces, require_positive
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.patterns.pattern import BOUNDARY, CUT, CreasePattern
from crumple.patterns.rigid import FoldedFacets
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.shapes.outline import outline_faces, refine_faces, triangulate_polygon

FIRST_LABEL = 1
"""Edges of the mesh along edge k of a pattern have the label k + FIRST_LABEL."""
SLIT = 0.02
"""Width of a cut, as a fraction of the size of faces: both sides must be apart for contact to keep them so."""


@dataclass(frozen=True)
class PatternMesh:
    """A flat `mesh` of a pattern and the `facet` of each of its faces (face_count,)."""

    mesh: SheetMesh
    facet: Ints

    def folded(self, facets: FoldedFacets) -> Floats:
        """Positions (node_count, 3) [m] of the nodes on the folded facets, in the middle where these do not meet."""
        corners = facets.place(self.mesh.u[self.mesh.faces].reshape(-1, 2), np.repeat(self.facet, 3))
        node = self.mesh.face_nodes.ravel()
        total = np.stack([np.bincount(node, corners[:, k], self.mesh.node_count) for k in range(3)], axis=1)
        return np.asarray(total / np.bincount(node, minlength=self.mesh.node_count)[:, None])


def mesh_pattern(pattern: CreasePattern, size: float) -> PatternMesh:
    """The pattern as a flat sheet with edges about `size` [m] long; raises InputError when it has no facets."""
    require_positive("pattern", size=size)
    polygons = facet_polygons(pattern)
    if not polygons:
        raise InputError("pattern", "no facet is closed: the outline has a gap, or no boundary was drawn")
    area, length = (sum(getattr(polygon, key) for polygon in polygons) for key in ("area", "length"))
    expected = outline_faces(area, length, size)
    limit_faces("pattern.size", expected, size)
    parts = [triangulate_polygon(polygon) for polygon in polygons]
    u, number = np.unique(np.concatenate([part for part, _ in parts]), axis=0, return_inverse=True)
    start = np.cumsum([0, *(len(part) for part, _ in parts)])
    faces = np.concatenate([number.ravel()[own + start[k]] for k, (_, own) in enumerate(parts)]).astype(np.int32)
    facet = np.repeat(np.arange(len(parts), dtype=np.int32), [len(own) for _, own in parts])
    faces, facet = _without_slivers(u, faces, facet)
    labels = _labels(pattern, u, faces)
    coarse = make_sheet_mesh(u, faces, face_material=facet, edge_label=labels)
    fine = refine_faces(coarse, size, expected, "pattern")
    u, faces, facet = fine.u, fine.faces, fine.face_material
    cut = _is_cut(pattern)[fine.edge_label - FIRST_LABEL] & (fine.edge_label > 0)
    u, faces = _opened(u, faces, cut, SLIT * size)
    return PatternMesh(make_sheet_mesh(u, faces, edge_label=fine.edge_label), facet)


def facet_polygons(pattern: CreasePattern) -> list:
    """The facets as shapely polygons."""
    import shapely

    loops = [[pattern.vertices[ring] for ring in rings] for rings in pattern.facets.rings]
    return [shapely.Polygon(rings[0], rings[1:]) for rings in loops]


def _is_cut(pattern: CreasePattern) -> Bools:
    """Edges of the pattern that part the paper, (edge_count,); a boundary with paper on both sides is a cut."""
    return np.isin(pattern.assignment, (CUT, BOUNDARY))


def _without_slivers(u: Floats, faces: Ints, facet: Ints) -> tuple[Ints, Ints]:
    """Faces without those that have no area."""
    p = u[faces]
    e, f = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    real = np.abs(e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]) > 0.0
    return faces[real], facet[real]


def _labels(pattern: CreasePattern, u: Floats, faces: Ints) -> Ints:
    """The label of each side of the faces (face_count, 3): of inner edges of the pattern, 0 elsewhere."""
    inner = np.flatnonzero((pattern.facets.edge_faces >= 0).all(axis=1))
    vertex = {(x, y): k for k, (x, y) in enumerate(u.tolist())}
    place = [vertex.get((x, y), -1) for x, y in pattern.vertices.tolist()]
    label = {}
    for edge in inner.tolist():
        a, b = (place[v] for v in pattern.edges[edge].tolist())
        label[a, b] = label[b, a] = edge + FIRST_LABEL
    sides = zip(faces.ravel().tolist(), np.roll(faces, -1, axis=1).ravel().tolist(), strict=True)
    return np.array([label.get(side, 0) for side in sides], np.int32).reshape(-1, 3)


def _opened(u: Floats, faces: Ints, cut: Bools, width: float) -> tuple[Floats, Ints]:
    """Vertices and faces where those along the edges that are `cut` (face_count, 3) have a vertex for each side.

    The sides are moved `width` [m] apart. Facets that only touch at a corner are parted too.
    """
    plain = make_sheet_mesh(u, faces)
    corner = np.arange(3 * len(faces))
    joined = (plain.twin >= 0) & ~cut.ravel()
    here, there = corner[joined], plain.twin[joined]

    def following(half: np.ndarray) -> np.ndarray:
        return 3 * (half // 3) + (half + 1) % 3

    rows, columns = np.concatenate([here, following(here)]), np.concatenate([following(there), there])
    graph = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(corner), len(corner)))
    count, vertex = connected_components(graph, directed=False)
    if count == len(u):
        return u, faces
    old = np.zeros(count, np.int64)
    old[vertex] = faces.ravel()
    opened = np.bincount(old, minlength=len(u))[old] > 1
    middle = np.repeat(u[faces].mean(axis=1), 3, axis=0)
    total = np.stack([np.bincount(vertex, middle[:, k], count) for k in range(2)], axis=1)
    inward = total / np.bincount(vertex, minlength=count)[:, None] - u[old]
    reach = np.maximum(np.linalg.norm(inward, axis=1, keepdims=True), 1e-300)
    moved = u[old] + opened[:, None] * width * inward / reach
    return np.ascontiguousarray(moved), vertex.reshape(-1, 3).astype(np.int32)
