"""Area that two triangles of the pattern have in common, and averages weighted by it (compiled).

Triangles are rows of an array: the corners (u0, v0, u1, v1, u2, v2), counter-clockwise, and then any data.
"""

from __future__ import annotations

from numba import njit

from crumple.mesh.rings import INNER
from crumple.runtime.typing import Floats

CLIPPED = (2, 24, 2)
"""Shape of the scratch of `clip_area`: two polygons. Six corners can remain, or, when rounding spoils convexity, at
most twice as many after every cut: 24."""
AREA_TOLERANCE = 1e-13
"""Overlaps below this fraction of the smaller triangle are rounding of touching ones and left out."""


@njit(**INNER)
def clip_area(a, b, polygon):
    """Area of the intersection of two counter-clockwise triangles (x0, y0, x1, y1, x2, y2, …) [m²].

    Sutherland–Hodgman: b is cut by the half plane left of each side of a, in coordinates relative to a, so that the
    area is exact to rounding. `polygon` (`CLIPPED`) is scratch.
    """
    smaller = min(_double_area(a), _double_area(b))
    if smaller <= 0.0:
        return 0.0
    for k in range(3):
        polygon[0, k, 0], polygon[0, k, 1] = b[2 * k] - a[0], b[2 * k + 1] - a[1]
    count, source = 3, 0
    for k in range(3):
        px, py = a[2 * k] - a[0], a[2 * k + 1] - a[1]
        m = (k + 1) % 3
        ex, ey = a[2 * m] - a[0] - px, a[2 * m + 1] - a[1] - py
        target, kept = 1 - source, 0
        qx, qy = polygon[source, count - 1, 0], polygon[source, count - 1, 1]
        side_q = ex * (qy - py) - ey * (qx - px)
        for c in range(count):
            rx, ry = polygon[source, c, 0], polygon[source, c, 1]
            side_r = ex * (ry - py) - ey * (rx - px)
            if (side_q > 0.0 and side_r < 0.0) or (side_q < 0.0 and side_r > 0.0):
                t = side_q / (side_q - side_r)
                polygon[target, kept, 0] = qx + t * (rx - qx)
                polygon[target, kept, 1] = qy + t * (ry - qy)
                kept += 1
            if side_r >= 0.0:
                polygon[target, kept, 0], polygon[target, kept, 1] = rx, ry
                kept += 1
            qx, qy, side_q = rx, ry, side_r
        if kept < 3:
            return 0.0
        count, source = kept, target
    total = 0.0
    x0, y0 = polygon[source, 0, 0], polygon[source, 0, 1]
    for c in range(1, count - 1):
        total += (polygon[source, c, 0] - x0) * (polygon[source, c + 1, 1] - y0)
        total -= (polygon[source, c, 1] - y0) * (polygon[source, c + 1, 0] - x0)
    return 0.5 * total if total > AREA_TOLERANCE * smaller else 0.0


@njit(**INNER)
def _double_area(a):
    """Twice the area of the triangle (x0, y0, x1, y1, x2, y2)."""
    return (a[2] - a[0]) * (a[5] - a[1]) - (a[3] - a[1]) * (a[4] - a[0])


@njit(**INNER)
def transfer_by_overlap(rows: Floats, old: int, new: int, polygon: Floats) -> None:
    """Replace the data of rows[old:old + new] by the means of rows[:old], weighted by the area they share.

    All in one chart. Where both cover the same region every integral is kept, and every new value lies between
    old ones. A row that nothing covers keeps its data.
    """
    columns = rows.shape[1]
    for i in range(old, old + new):
        covered = 0.0
        for j in range(old):
            area = clip_area(rows[i], rows[j], polygon)
            if area > 0.0:
                covered += area
                # A running mean: stays within the bounds of what it has seen, up to rounding.
                for k in range(6, columns):
                    base = 0.0 if covered == area else rows[i, k]
                    rows[i, k] = base + (area / covered) * (rows[j, k] - base)
