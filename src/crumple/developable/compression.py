"""How much a flat region is compressed, in which direction, and where.

A flat region is meshed with ghosts and bows when it is pushed together; straight lines between its corners then are
shorter than in the pattern. Of all such lines inside the region the shortening e is measured. On a cylinder a line of
the length l in the direction d has e ≈ (l dᵀ K d)²/24 with the curvature K, so the direction of compression is that of
the tensor K, of the least norm, for which dᵀ K d is nearest to √e/l. Single coarse triangles, as in [Schreck2015] §5.1,
may be slivers whose direction is off by 60°.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.developable.enrich import distances
from crumple.developable.paper import Paper
from crumple.developable.tuning import TUNING
from crumple.runtime.compiled import device, kernel
from crumple.runtime.typing import Floats

LEAST_NORM = TUNING.least_norm.value
SHORT = TUNING.short_line.value
WITHIN = TUNING.bend_within.value


class Compression(NamedTuple):
    """The greatest shortening `value` of a line of the flat region `cell`, the unit direction `along` (2,) in which it
    is compressed, and the `middle` (2,) [m] of the most compressed line whose middle is inside."""

    cell: int
    value: float
    along: Floats
    middle: Floats


def compression(paper: Paper, cell: int) -> Compression:
    """The compression of a flat region; without direction and place when it is not too much."""
    nodes = paper.layout.cell_nodes[cell]
    u, x = paper.layout.mesh.u[nodes], paper.state.x[nodes]
    direction, shortening, length, middle = _lines(u, x, SHORT * paper.structure.spacing)
    value = float(shortening.max(initial=0.0))
    if value <= paper.options.compression:
        return Compression(cell, value, np.array([1.0, 0.0]), u.mean(axis=0))
    within = distances(u, middle) > WITHIN * paper.structure.spacing
    place = int(np.where(within, shortening, -np.inf).argmax())
    return Compression(cell, value, main_direction(direction, shortening, length), middle[place])


def main_direction(direction: Floats, shortening: Floats, length: Floats) -> Floats:
    """The unit vector (2,) of the largest eigenvalue of the tensor fitted to lines in `direction` (n, 2)."""
    bow, weight = np.sqrt(np.maximum(shortening, 0.0)) / length, length**2
    c, s = direction.T
    rows = np.stack([c * c, s * s, np.sqrt(2.0) * c * s], axis=1)
    weight = weight / weight.sum()
    normal = (rows * weight[:, None]).T @ rows + LEAST_NORM * np.eye(3)
    xx, yy, xy = np.linalg.solve(normal, rows.T @ (weight * bow))
    tensor = np.array([[xx, xy / np.sqrt(2.0)], [xy / np.sqrt(2.0), yy]])
    return np.asarray(np.linalg.eigh(tensor)[1][:, 1])


@device
def _side(ax, ay, bx, by, cx, cy):
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@device
def _is_within(u, i, j):
    """Whether the line between the corners i and j lies in the polygon u."""
    n = len(u)
    mx, my = 0.5 * (u[i, 0] + u[j, 0]), 0.5 * (u[i, 1] + u[j, 1])
    is_in = False
    for k in range(n):
        m = (k + 1) % n
        is_spanned = (u[k, 1] > my) != (u[m, 1] > my)
        if is_spanned and mx < u[k, 0] + (my - u[k, 1]) / (u[m, 1] - u[k, 1]) * (u[m, 0] - u[k, 0]):
            is_in = not is_in
        if k in (i, j) or m in (i, j):
            continue
        one = _side(u[i, 0], u[i, 1], u[j, 0], u[j, 1], u[k, 0], u[k, 1])
        two = _side(u[i, 0], u[i, 1], u[j, 0], u[j, 1], u[m, 0], u[m, 1])
        three = _side(u[k, 0], u[k, 1], u[m, 0], u[m, 1], u[i, 0], u[i, 1])
        four = _side(u[k, 0], u[k, 1], u[m, 0], u[m, 1], u[j, 0], u[j, 1])
        if one * two < 0.0 and three * four < 0.0:
            return False
    return is_in


@kernel
def _lines(u, x, least):
    """Direction (n, 2), shortening (n,), length (n,) [m] and middle (n, 2) of the lines inside a polygon u (m, 2) whose
    corners are at x (m, 3)."""
    count = len(u)
    most = count * (count - 1) // 2
    direction, shortening, length, middle = np.empty((most, 2)), np.empty(most), np.empty(most), np.empty((most, 2))
    n = 0
    for i in range(count):
        for j in range(i):
            du, dv = u[i, 0] - u[j, 0], u[i, 1] - u[j, 1]
            size = np.sqrt(du * du + dv * dv)
            if size < least or not _is_within(u, i, j):
                continue
            now = np.sqrt((x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + (x[i, 2] - x[j, 2]) ** 2)
            direction[n, 0], direction[n, 1] = du / size, dv / size
            shortening[n], length[n] = 1.0 - now / size, size
            middle[n, 0], middle[n, 1] = 0.5 * (u[i, 0] + u[j, 0]), 0.5 * (u[i, 1] + u[j, 1])
            n += 1
    return direction[:n], shortening[:n], length[:n], middle[:n]
