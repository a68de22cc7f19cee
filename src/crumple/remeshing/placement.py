"""Where a new node goes: on a smooth curve through the ends of the split edge, or in its middle (compiled).

Each end has the mean normal n̂ of its faces. The cubic with the end tangents perpendicular to n̂_a, n̂_b that deviates
least from the straight edge e = b − a passes its middle at

    x = ½ (a + b) − ⅛ ((e·n̂_a) n̂_a − (e·n̂_b) n̂_b)

(the edge of a PN triangle [Vlachos 2001]); on a circle of radius R this is the sagitta |e|²/8R, so hinge angles are
shared out evenly. At a crease, where the faces around an end turn by more than a limit, the middle is taken.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from crumple.mesh.rings import INNER, corner_node, enter, following, preceding, ring_start


@njit(**INNER)
def smooth_offset(links, data, limit, a, b, column, out):
    """Whether there is a smooth place for the middle of nodes a and b; its offset from there [m] goes to `out` (3,).

    `column` of the node data where the positions start (x or y); `limit`: cosine of the largest turn.
    """
    for k in range(3):
        out[k] = 0.0
    for end in range(2):
        nx, ny, nz, smooth = _mean_normal(links, data, limit, a if end == 0 else b, column)
        if not smooth:
            for k in range(3):
                out[k] = 0.0
            return False
        ex, ey, ez = (
            data[b, column] - data[a, column],
            data[b, column + 1] - data[a, column + 1],
            data[b, column + 2] - data[a, column + 2],
        )
        s = (-0.125 if end == 0 else 0.125) * (ex * nx + ey * ny + ez * nz)
        out[0] += s * nx
        out[1] += s * ny
        out[2] += s * nz
    return out[0] != 0.0 or out[1] != 0.0 or out[2] != 0.0


@njit(**INNER)
def _normal(links, data, corner, column):
    """Normal of the face of `corner` times sin/(|e||f|): with these weights the mean is exact on spheres [Max 1999]."""
    i, j, k = corner_node(links, corner), corner_node(links, following(corner)), corner_node(links, preceding(corner))
    ex, ey, ez = (
        data[j, column] - data[i, column],
        data[j, column + 1] - data[i, column + 1],
        data[j, column + 2] - data[i, column + 2],
    )
    fx, fy, fz = (
        data[k, column] - data[i, column],
        data[k, column + 1] - data[i, column + 1],
        data[k, column + 2] - data[i, column + 2],
    )
    square = (ex * ex + ey * ey + ez * ez) * (fx * fx + fy * fy + fz * fz)
    s = 1.0 / square if square > 0.0 else 0.0
    return s * (ey * fz - ez * fy), s * (ez * fx - ex * fz), s * (ex * fy - ey * fx)


@njit(**INNER)
def _mean_normal(links, data, limit, node, column):
    """Unit normal of a node, and whether all its faces are turned from it by less than the limit."""
    sx = sy = sz = 0.0
    for sweep in range(2):
        first, leave = ring_start(links, node)
        corner = first
        while True:
            nx, ny, nz = _normal(links, data, corner, column)
            if sweep == 0:
                sx, sy, sz = sx + nx, sy + ny, sz + nz
            elif nx * sx + ny * sy + nz * sz < limit * sqrt(nx * nx + ny * ny + nz * nz):
                return sx, sy, sz, False
            through = links.twin[leave]
            if through < 0:
                break
            corner, leave = enter(links, node, through)
            if corner == first:
                break
        if sweep == 0:
            length = sqrt(sx * sx + sy * sy + sz * sz)
            if not (length > 0.0 and np.isfinite(length)):
                return sx, sy, sz, False
            sx, sy, sz = sx / length, sy / length, sz / length
    return sx, sy, sz, True
