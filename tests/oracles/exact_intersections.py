"""Exact intersections of edges and faces, found without a line of `crumple.contact`.

Positions are float64 numbers and are taken at their exact values. A pair is separate if a direction d separates it: any
d will do, so that d may come from rounded arithmetic, and only the dot products need a bound on their error. Pairs for
which no such direction is found are decided in rational arithmetic, by clipping the edge to the triangle. The answer
is exact: primitives that touch in a single point intersect, and those that are one unit in the last place apart do not.

Two triangles without a common node have a common point if and only if an edge of one meets the other. Triangles with
one common node overlap elsewhere if and only if the edge opposite to that node, of one of them, meets the other. So
the pairs of an edge and a face without a common node tell about all pairs of faces but those that share an edge.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
Vector = tuple[int, int, int]

DOT_ERROR = 2.0**-50
"""Bound on the error of a dot product of three terms, relative to the sum of their sizes: 3 u / (1 - 3 u), u = 2⁻⁵³,
for any order of the sum, and as much again for the rounding of the bound itself."""
SMALLEST = 1e-300
"""Bound on what underflow adds to that error."""
CHUNK = 200_000
"""Pairs of boxes that are compared at once."""


def sheet_intersections(x: Floats, faces: Ints, obstacle_x: Floats, obstacle_faces: Ints) -> Ints:
    """Pairs (edge, face) (k, 2) of a sheet with itself and with obstacles, which have a point in common, sorted.

    Positions (node_count, 3) [m]; faces (face_count, 3) are rows of them. Rows of the result index
    `unique_edges(all_faces)` and `all_faces`, the faces of the sheet and then those of the obstacles.
    """
    faces, obstacle_faces = np.asarray(faces).reshape(-1, 3), np.asarray(obstacle_faces).reshape(-1, 3)
    points = np.concatenate([x, np.asarray(obstacle_x).reshape(-1, 3)])
    all_faces = np.concatenate([faces, obstacle_faces + len(x)]).astype(np.int64)
    edges = unique_edges(all_faces)
    pairs = box_pairs(points, edges, all_faces)
    of_obstacles = (edges[pairs[:, 0], 0] >= len(x)) & (pairs[:, 1] >= len(faces))
    return meeting_pairs(points, edges, all_faces, pairs[~of_obstacles])


def unique_edges(faces: Ints) -> Ints:
    """The edges of faces (face_count, 3), each once, (edge_count, 2)."""
    return np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)


def meeting_pairs(points: Floats, edges: Ints, faces: Ints, pairs: Ints) -> Ints:
    """Those `pairs` (edge, face) without a common node that have a point in common."""
    if not np.isfinite(points).all():
        raise ValueError("positions must be finite")
    shared = (edges[pairs[:, 0], :, None] == faces[pairs[:, 1], None, :]).any(axis=(1, 2))
    pairs = pairs[~shared]
    doubtful = pairs[~surely_separate(points[edges[pairs[:, 0]]], points[faces[pairs[:, 1]]])]
    met = [segment_meets_triangle(points[edges[edge]], points[faces[face]]) for edge, face in doubtful]
    return doubtful[np.array(met, bool)]


def box_pairs(points: Floats, edges: Ints, faces: Ints) -> Ints:
    """Pairs (edge, face) whose boxes overlap or touch, by sorting along the axis on which boxes are smallest."""
    if not len(edges) or not len(faces):
        return np.zeros((0, 2), np.int64)
    low, high = points[edges].min(axis=1), points[edges].max(axis=1)
    face_low, face_high = points[faces].min(axis=1), points[faces].max(axis=1)
    axis = np.argmin((face_high - face_low).mean(axis=0) / np.maximum(np.ptp(points, axis=0), 1e-300))
    order = np.argsort(face_low[:, axis])
    # A face in the sorted list can only overlap an edge if it begins before the edge ends; and the largest end of all
    # faces up to it, which grows along the list, lies behind the beginning of the edge.
    reach = np.maximum.accumulate(face_high[order, axis])
    first = np.searchsorted(reach, low[:, axis], side="left")
    last = np.searchsorted(face_low[order, axis], high[:, axis], side="right")
    counts = np.maximum(last - first, 0)
    found = [np.zeros((0, 2), np.int64)]
    cuts = np.searchsorted(np.cumsum(counts), np.arange(CHUNK, counts.sum(), CHUNK))
    for some in np.split(np.arange(len(edges)), cuts):
        edge = np.repeat(some, counts[some])
        within = np.arange(len(edge)) - np.repeat(np.cumsum(counts[some]) - counts[some], counts[some])
        face = order[first[edge] + within]
        overlap = ((low[edge] <= face_high[face]) & (face_low[face] <= high[edge])).all(axis=1)
        found.append(np.stack([edge[overlap], face[overlap]], axis=1))
    pairs = np.concatenate(found)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def surely_separate(segments: Floats, triangles: Floats) -> NDArray[np.bool_]:
    """Whether a direction certainly separates each segment (k, 2, 3) from its triangle (k, 3, 3), (k,)."""
    along = segments[:, 1] - segments[:, 0]
    sides = np.roll(triangles, -1, axis=1) - triangles
    normal = np.cross(sides[:, 0], sides[:, 1])
    directions = [normal, np.cross(normal, along)]
    for i in range(3):
        directions += [np.cross(along, sides[:, i]), np.cross(normal, sides[:, i])]
    separate = np.zeros(len(segments), bool)
    for direction in directions:
        separate |= _separates(direction, segments, triangles)
    return separate


def _separates(direction: Floats, segments: Floats, triangles: Floats) -> NDArray[np.bool_]:
    """Whether all of a segment certainly lies before or behind all of a triangle along a direction (k, 3), (k,)."""
    size = np.abs(direction).max(axis=1, keepdims=True)
    unit = direction / np.where(size > 0, size, 1.0)
    segment_low, segment_high = _extent(unit, segments)
    triangle_low, triangle_high = _extent(unit, triangles)
    return (segment_high < triangle_low) | (triangle_high < segment_low)


def _extent(direction: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Numbers below and above the exact dot products of directions (k, 3) and points (k, n, 3), (k,) each."""
    terms = points * direction[:, None, :]
    value, error = terms.sum(axis=2), DOT_ERROR * np.abs(terms).sum(axis=2) + SMALLEST
    return np.nextafter(value - error, -np.inf).min(axis=1), np.nextafter(value + error, np.inf).max(axis=1)


def segment_meets_triangle(segment: Floats, triangle: Floats) -> bool:
    """Whether a segment (2, 3) and a triangle (3, 3) of float64 numbers have a point in common, exactly.

    The segment is clipped by both sides of the triangle's plane, then by the three planes that stand on its sides: what
    is left, if anything, is what they have in common. A triangle without area is clipped as its longest side.
    """
    start, end, a, b, c = _integers(np.concatenate([segment, triangle]))
    normal = _cross(_minus(b, a), _minus(c, a))
    if not any(normal):
        return segments_meet(start, end, *max([(a, b), (b, c), (c, a)], key=lambda side: _square(_minus(*side))))
    plane = [(normal, a), (_negative(normal), a)]
    return _is_left(start, end, plane + [(_cross(normal, _minus(q, p)), p) for p, q in ((a, b), (b, c), (c, a))])


def segments_meet(p: Vector, q: Vector, a: Vector, b: Vector) -> bool:
    """Whether segments pq and ab have a point in common, also where they are points."""
    along = _minus(b, a)
    if not any(along):
        along = _minus(q, p)
        p, q, a, b = a, b, p, q
        if not any(along):
            return p == a
    # The line ab is where three planes meet; what is left of pq on all of them lies between the ends of ab.
    across = [_cross(along, axis) for axis in _AXES]
    planes = [(normal, a) for each in across if any(each) for normal in (each, _negative(each))]
    return _is_left(p, q, [*planes, (along, a), (_negative(along), b)])


def _is_left(start: Vector, end: Vector, planes: list[tuple[Vector, Vector]]) -> bool:
    """Whether anything of a segment is left when it is clipped by half-spaces normal · (x − point) ≥ 0."""
    first, last = Fraction(0), Fraction(1)
    for normal, point in planes:
        at_start, at_end = _dot(normal, _minus(start, point)), _dot(normal, _minus(end, point))
        if at_start < 0 and at_end < 0:
            return False
        if at_start < 0:
            first = max(first, Fraction(at_start, at_start - at_end))
        elif at_end < 0:
            last = min(last, Fraction(at_start, at_start - at_end))
        if first > last:
            return False
    return True


_AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def _integers(points: Floats) -> list[Vector]:
    """Float64 points (n, 3), all multiplied by the power of two that makes them integers of any length."""
    ratios = [[value.as_integer_ratio() for value in point] for point in np.asarray(points, np.float64).tolist()]
    scale = max(denominator for point in ratios for _, denominator in point)
    return [tuple(number * (scale // denominator) for number, denominator in point) for point in ratios]


def _minus(p: Vector, q: Vector) -> Vector:
    return (p[0] - q[0], p[1] - q[1], p[2] - q[2])


def _negative(p: Vector) -> Vector:
    return (-p[0], -p[1], -p[2])


def _dot(p: Vector, q: Vector) -> int:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _square(p: Vector) -> int:
    return _dot(p, p)


def _cross(p: Vector, q: Vector) -> Vector:
    return (p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0])
