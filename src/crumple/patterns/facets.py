"""The facets of a crease pattern: the faces of a planar graph that are paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints


@dataclass(frozen=True)
class Facets:
    """`rings`: the loops of vertices of each facet, the outer one counter-clockwise first, then its holes clockwise.

    `edge_faces` (edge_count, 2): the facet left and right of each edge in its direction, -1 where there is no paper.
    `dangling` (edge_count,): edges with the same facet on both sides, or with none.
    """

    rings: list[list[Ints]]
    edge_faces: Ints
    dangling: Bools


def find_facets(vertices: Floats, edges: Ints, used: Bools, boundary: Bools) -> Facets:
    """The facets between the `used` edges of a planar graph; those across a `boundary` edge from paper are holes."""
    import shapely  # seldom needed

    if not used.any():
        return Facets([], np.full((len(edges), 2), -1, np.int32), np.zeros(len(edges), bool))
    try:
        lines = shapely.linestrings(vertices[edges[used]])
        polygons = shapely.get_parts(shapely.polygonize(lines))
    except shapely.errors.GEOSException as error:
        raise InputError("pattern", f"has no facets: {' '.join(str(error).split())[:200]}") from None
    ends = np.unique(edges[used])
    number = {(x, y): k for k, (x, y) in zip(ends.tolist(), vertices[ends].tolist(), strict=True)}
    rings = [_numbered(polygon, number) for polygon in shapely.orient_polygons(polygons)]
    rings.sort(key=lambda loops: sorted(loops[0].tolist()))
    edge_faces = _beside(rings, edges)
    paper = _paper(edge_faces, boundary, len(rings))
    renumbered = np.append(np.where(paper, np.cumsum(paper) - 1, -1), -1).astype(np.int32)
    dangling = used & (edge_faces < 0).all(axis=1)
    kept = [loops for loops, is_paper in zip(rings, paper, strict=True) if is_paper]
    return Facets(kept, renumbered[edge_faces], dangling)


def _numbered(polygon: object, number: dict[tuple[float, float], int]) -> list[Ints]:
    """The loops of a polygon as vertex numbers."""
    loops = [polygon.exterior, *polygon.interiors]  # type: ignore[attr-defined]
    return [np.array([number[x, y] for x, y in loop.coords[:-1]], np.int32) for loop in loops]


def _beside(rings: list[list[Ints]], edges: Ints) -> Ints:
    """The face on the left and on the right of each edge, -1 = none, (edge_count, 2)."""
    which = {(a, b): (k, 0) for k, (a, b) in enumerate(edges.tolist())}
    which |= {(b, a): (k, 1) for k, (a, b) in enumerate(edges.tolist())}
    beside = np.full((len(edges), 2), -1, np.int32)
    for face, loops in enumerate(rings):
        for loop in loops:
            for a, b in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True):
                beside[which[a, b]] = face
    return beside


def _paper(edge_faces: Ints, boundary: Bools, count: int) -> Bools:
    """Faces that are paper: those next to the outside, and on from there, changing across boundary edges."""
    inner = np.flatnonzero((edge_faces >= 0).all(axis=1))
    across: list[list[tuple[int, bool]]] = [[] for _ in range(count)]
    for (a, b), is_boundary in zip(edge_faces[inner].tolist(), boundary[inner].tolist(), strict=True):
        across[a].append((b, is_boundary))
        across[b].append((a, is_boundary))
    outer = (edge_faces >= 0).sum(axis=1) == 1
    paper: dict[int, bool] = {int(face): True for face in edge_faces[outer].max(axis=1)}
    waiting = list(paper)
    while waiting:
        face = waiting.pop()
        for other, is_boundary in across[face]:
            if other not in paper:
                paper[other] = paper[face] != is_boundary
                waiting.append(other)
    return np.array([paper.get(face, False) for face in range(count)], bool)
