"""Area that two triangles of the pattern have in common (compiled)."""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.mesh.rings import INNER


@njit(**INNER)
def overlap_area(new, m, old, n, poly, clipped) -> float:  # type: ignore[no-untyped-def]
    """Area of the intersection of the counter-clockwise triangles new[m] and old[n], (·, 3, 2) [m²].

    Sutherland–Hodgman: one is cut by the half-plane left of each side of the other. `poly`, `clipped` (7, 2) are
    scratch.
    """
    for i in range(3):
        poly[i, 0], poly[i, 1] = new[m, i, 0], new[m, i, 1]
    count = 3
    for i in range(3):
        j = (i + 1) % 3
        dx, dy = old[n, j, 0] - old[n, i, 0], old[n, j, 1] - old[n, i, 1]
        kept = 0
        for a in range(count):
            b = (a + 1) % count
            side_a = dx * (poly[a, 1] - old[n, i, 1]) - dy * (poly[a, 0] - old[n, i, 0])
            side_b = dx * (poly[b, 1] - old[n, i, 1]) - dy * (poly[b, 0] - old[n, i, 0])
            if side_a >= 0.0:
                clipped[kept, 0], clipped[kept, 1] = poly[a, 0], poly[a, 1]
                kept += 1
            if (side_a > 0.0 and side_b < 0.0) or (side_a < 0.0 and side_b > 0.0):
                s = side_a / (side_a - side_b)
                clipped[kept, 0] = poly[a, 0] + s * (poly[b, 0] - poly[a, 0])
                clipped[kept, 1] = poly[a, 1] + s * (poly[b, 1] - poly[a, 1])
                kept += 1
        count = kept
        if count < 3:
            return 0.0
        for a in range(count):
            poly[a, 0], poly[a, 1] = clipped[a, 0], clipped[a, 1]
    area = 0.0
    for a in range(1, count - 1):
        area += (poly[a, 0] - poly[0, 0]) * (poly[a + 1, 1] - poly[0, 1])
        area -= (poly[a, 1] - poly[0, 1]) * (poly[a + 1, 0] - poly[0, 0])
    return max(0.5 * area, 0.0)


@njit(**INNER)
def transfer_by_overlap(old_points, old_data, new_points, new_data) -> None:  # type: ignore[no-untyped-def]
    """Mean of the old faces' data over each new face, weighted by the area they share; written to `new_data`.

    `old_points` (n, 3, 2), `old_data` (n, k), `new_points` (m, 3, 2), `new_data` (m, k) all in one chart.
    Where both cover the same region every integral is kept, and every new value lies between old ones.
    """
    poly, clipped = np.empty((7, 2)), np.empty((7, 2))
    columns = old_data.shape[1]
    total = np.empty(columns)
    for i in range(len(new_points)):
        covered = 0.0
        for k in range(columns):
            total[k] = 0.0
        for j in range(len(old_points)):
            area = overlap_area(new_points, i, old_points, j, poly, clipped)
            if area > 0.0:
                covered += area
                for k in range(columns):
                    total[k] += area * old_data[j, k]
        if covered > 0.0:
            for k in range(columns):
                new_data[i, k] = total[k] / covered
