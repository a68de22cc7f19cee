"""Area that two triangles of the pattern have in common, and averages weighted by it (compiled).

Works on rows of a scratch array that hold a triangle's corners (u0 v0 u1 v1 u2 v2) and then its data.
"""

from __future__ import annotations

from numba import njit

from crumple.mesh.rings import INNER
from crumple.typing import Floats


@njit(**INNER)
def overlap_area(rows: Floats, a: int, b: int, polygon: Floats) -> float:
    """Area of the intersection of the counter-clockwise triangles in rows a and b [m²].

    Sutherland–Hodgman: a is cut by the half-plane left of each side of b. `polygon` (2, 7, 2) is scratch: a
    triangle cut three times has at most six corners.
    """
    for i in range(6):
        polygon[0, i // 2, i % 2] = rows[a, i]
    count, source = 3, 0
    for side in range(3):
        after, target = (side + 1) % 3, 1 - source
        x, y = rows[b, 2 * side], rows[b, 2 * side + 1]
        dx, dy = rows[b, 2 * after] - x, rows[b, 2 * after + 1] - y
        kept = 0
        px, py = polygon[source, count - 1, 0], polygon[source, count - 1, 1]
        before = dx * (py - y) - dy * (px - x)
        for i in range(count):
            qx, qy = polygon[source, i, 0], polygon[source, i, 1]
            here = dx * (qy - y) - dy * (qx - x)
            if (before > 0.0 and here < 0.0) or (before < 0.0 and here > 0.0):
                s = before / (before - here)
                polygon[target, kept, 0] = px + s * (qx - px)
                polygon[target, kept, 1] = py + s * (qy - py)
                kept += 1
            if here >= 0.0:
                polygon[target, kept, 0], polygon[target, kept, 1] = qx, qy
                kept += 1
            px, py, before = qx, qy, here
        count, source = kept, target
        if count < 3:
            return 0.0
    area = 0.0
    x, y = polygon[source, 0, 0], polygon[source, 0, 1]
    for i in range(1, count - 1):
        area += (polygon[source, i, 0] - x) * (polygon[source, i + 1, 1] - y)
        area -= (polygon[source, i, 1] - y) * (polygon[source, i + 1, 0] - x)
    return max(0.5 * area, 0.0)


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
            area = overlap_area(rows, i, j, polygon)
            if area > 0.0:
                covered += area
                # A running mean: stays within the bounds of what it has seen, up to rounding.
                for k in range(6, columns):
                    base = 0.0 if covered == area else rows[i, k]
                    rows[i, k] = base + (area / covered) * (rows[j, k] - base)
