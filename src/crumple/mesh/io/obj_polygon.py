"""Polygons of a mesh file cut into triangles by clipping ears in the plane that fits them best.

An ear is a convex corner whose triangle with its two neighbours holds no other corner [Meisters1975]; every simple
polygon with more than three corners has two. Of all ears the best shaped is clipped first, so that corners on a
straight side and needles come last. The plane is that of the polygon's area vector ½ Σ x_k × x_{k+1}.
"""

from __future__ import annotations

import numpy as np

from crumple.runtime.typing import Bools, Floats, Ints

EVEN = 1e-12
"""Areas below this times the squared extent of a polygon are none."""
MOST_CORNERS = 1000
"""Of one polygon: clipping takes time that grows with the cube of their number where it is very concave."""


def cut_polygon(x: Floats) -> Ints | None:
    """Corners (n − 2, 3) of the triangles of the polygon x (n, 3) [m], in the polygon's own sense of turning.

    None if it crosses itself, so that no ear is left. A polygon without area, in which no sense can be told, is cut
    from its first corner.
    """
    p = _flattened(x)
    if p is None:
        return np.array([(0, k, k + 1) for k in range(1, len(x) - 1)], np.int32)
    rest, cut = np.arange(len(x), dtype=np.int32), list[tuple[int, int, int]]()
    while len(rest) > 3:
        ear = _best_ear(p, rest)
        if ear is None:
            return None
        cut.append((int(rest[ear - 1]), int(rest[ear]), int(rest[(ear + 1) % len(rest)])))
        rest = np.delete(rest, ear)
    cut.append((int(rest[0]), int(rest[1]), int(rest[2])))
    triangles = np.array(cut, np.int32)
    return None if (_doubled(p, triangles) < -EVEN).any() else triangles


def are_convex(x: Floats) -> Bools:
    """Which quadrilaterals x (n, 4, 3) [m] may be cut from their first corner: both triangles face one way."""
    first, second = (np.cross(x[:, k] - x[:, 0], x[:, k + 1] - x[:, 0]) for k in (1, 2))
    extent = np.ptp(x, axis=1).max(axis=1) ** 2
    return np.asarray((first * (first + second)).sum(axis=1) > EVEN * extent**2) & np.asarray(
        (second * (first + second)).sum(axis=1) > EVEN * extent**2
    )


def _flattened(x: Floats) -> Floats | None:
    """The corners (n, 2) in their plane, where they turn counter-clockwise, over their extent; None without area."""
    x = x - x.mean(axis=0)
    extent = float(np.abs(x).max())
    if not extent > 0.0:
        return None
    x = x / extent
    normal = 0.5 * np.cross(x, np.roll(x, -1, axis=0)).sum(axis=0)
    area = float(np.linalg.norm(normal))
    if not area > EVEN:
        return None
    normal /= area
    first = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = first - (first @ normal) * normal
    first /= np.linalg.norm(first)
    return np.asarray(x @ np.stack([first, np.cross(normal, first)], axis=1))


def _doubled(p: Floats, triangles: Ints) -> Floats:
    """Twice the signed areas of triangles (m, 3)."""
    a, b, c = (p[triangles[:, k]] for k in range(3))
    return _cross(b - a, c - a)


def _best_ear(p: Floats, rest: Ints) -> int | None:
    """The place in `rest` of the ear with the largest area over its squared sides; ears without area come last."""
    triangles = np.stack([np.roll(rest, 1), rest, np.roll(rest, -1)], axis=1)
    a, b, c = (p[triangles[:, k]] for k in range(3))
    area = _cross(b - a, c - a)
    sides = ((b - a) ** 2).sum(axis=1) + ((c - b) ** 2).sum(axis=1) + ((a - c) ** 2).sum(axis=1)
    shape = area / np.where(sides > 0.0, sides, 1.0)
    for place in np.argsort(-shape, kind="stable"):
        if area[place] < -EVEN:
            return None
        if not _holds(p[triangles[place]], p[rest]).any():
            return int(place)
    return None


def _holds(triangle: Floats, points: Floats) -> Bools:
    """Which points (n, 2) lie in the triangle (3, 2) or on its rim, its own corners (and points on them) apart."""
    inside = np.ones(len(points), bool)
    for k in range(3):
        a, b = triangle[k], triangle[(k + 1) % 3]
        inside &= _cross(b - a, points - a) >= -EVEN
        inside &= np.abs(points - a).max(axis=1) > EVEN
    return inside


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
