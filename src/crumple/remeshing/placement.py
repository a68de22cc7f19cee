"""Where a new node goes: on a smooth curve through the ends of the split edge, or in its middle (compiled).

Each end has the mean normal n̂ of its faces. The cubic with the end tangents perpendicular to n̂_a, n̂_b that deviates
least from the straight edge e = b − a passes its middle at

    x = ½ (a + b) − ⅛ ((e·n̂_a) n̂_a − (e·n̂_b) n̂_b)

(the edge of a PN triangle [Vlachos2001]); on a circle of radius R this is the sagitta |e|²/8R, so hinge angles are
shared out evenly. At a crease, where the faces around an end turn by more than a limit, the middle is taken; so it is
where the smooth place would strain the new edges. Faces beyond a labelled line have no part in the normals.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from crumple.mesh.rings import INNER, corner_node, corner_vertex, enter, following, preceding
from crumple.remeshing.measure import distance2, largest_square, length2


@njit(**INNER)
def smooth_offset(links, label, data, rest, surface, limit, strain_limit, material, start, edge, column, out):
    """Whether there is a smooth place for the middle of an edge; its offset from there [m] goes to `out` (3,).

    `column` of the node data where the positions start (x or y); `limit`: cosine of the largest turn;
    `strain_limit`: how far the strain of the new edges may be outside the range of those around;  `start` (materials,):
    square of the stretch beyond which faces may not be stretched more in x.
    """
    for k in range(3):
        out[k] = 0.0
    a, b = corner_node(links, edge), corner_node(links, following(edge))
    for end in range(2):
        nx, ny, nz, smooth = _mean_normal(links, label, data, limit, edge, end == 1, column)
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
    moves = out[0] != 0.0 or out[1] != 0.0 or out[2] != 0.0
    keeps = _keeps_strain(links, data, rest, surface, strain_limit, edge, column, out)
    if keeps and column == 0:
        keeps = _keeps_stretch(links, data, rest, surface, material, start, edge, out)
    if moves and not keeps:
        for k in range(3):
            out[k] = 0.0
        return False
    return moves


@njit(**INNER)
def _keeps_strain(links, data, rest, surface, limit, edge, column, out):
    """Whether the Green strains of the edges that end at the new node are in the range of the edges around, or nearly.

    The rest length of an edge mk comes from the median |mk|² = ½|ak|² + ½|bk|² − ¼|ab|².
    """
    a, b = corner_vertex(links, edge), corner_vertex(links, following(edge))
    i, j = links.vertex_node[a], links.vertex_node[b]
    ab = length2(links, rest, surface, a, b)
    low = high = _strain(data, column, i, j, ab)
    least, most = 1e300, -1e300
    half = edge
    for _ in range(2):
        if half >= 0:
            a, b = corner_vertex(links, half), corner_vertex(links, following(half))
            k = corner_vertex(links, preceding(half))
            ak, bk = length2(links, rest, surface, a, k), length2(links, rest, surface, b, k)
            n = links.vertex_node[k]
            one = _strain(data, column, links.vertex_node[a], n, ak)
            two = _strain(data, column, links.vertex_node[b], n, bk)
            low, high = min(low, one, two), max(high, one, two)
            three = _strain_to_middle(data, column, i, j, n, out, 0.5 * ak + 0.5 * bk - 0.25 * ab)
            least, most = min(least, three), max(most, three)
        half = links.twin[edge]
    one = _strain_to_middle(data, column, i, j, i, out, 0.25 * ab)
    two = _strain_to_middle(data, column, i, j, j, out, 0.25 * ab)
    least, most = min(least, one, two), max(most, one, two)
    room = limit * max(1.0 + 2.0 * high, 0.0)  # l²/L² of the longest: an embedding may be of another scale
    return low - room <= least and most <= high + room


@njit(**INNER)
def _keeps_stretch(links, x, rest, surface, material, start, edge, out):
    """Whether the halves of the faces, with the middle moved by `out` (3,), stay free of the barrier of their strain
    limit, or are stretched no more than the whole faces are."""
    a, b = corner_vertex(links, edge), corner_vertex(links, following(edge))
    i, j = links.vertex_node[a], links.vertex_node[b]
    ab, now = length2(links, rest, surface, a, b), distance2(x, i, j)
    ends = _square_to_middle(x, 0, i, j, i, out), _square_to_middle(x, 0, i, j, j, out)
    half = edge
    for _ in range(2):
        if half >= 0:
            a, b = corner_vertex(links, half), corner_vertex(links, following(half))
            k = corner_vertex(links, preceding(half))
            n = links.vertex_node[k]
            ak, bk = length2(links, rest, surface, a, k), length2(links, rest, surface, b, k)
            ak_now, bk_now = distance2(x, links.vertex_node[a], n), distance2(x, links.vertex_node[b], n)
            mk, mk_now = 0.5 * ak + 0.5 * bk - 0.25 * ab, _square_to_middle(x, 0, i, j, n, out)
            am, bm = (ends[0], ends[1]) if links.vertex_node[a] == i else (ends[1], ends[0])
            new = max(
                largest_square(0.25 * ab, mk, ak, am, mk_now, ak_now),
                largest_square(0.25 * ab, mk, bk, bm, mk_now, bk_now),
            )
            if new > start[material[half // 3]] and new > largest_square(ab, ak, bk, now, ak_now, bk_now):
                return False
        half = links.twin[edge]
    return True


@njit(**INNER)
def _strain(data, column, i, j, square):
    """Green strain ½ (l²/L² − 1) between two nodes at the rest distance² `square` [m²]."""
    p, q, r = (
        data[j, column] - data[i, column],
        data[j, column + 1] - data[i, column + 1],
        data[j, column + 2] - data[i, column + 2],
    )
    return 0.5 * ((p * p + q * q + r * r) / square - 1.0) if square > 0.0 else 0.0


@njit(**INNER)
def _strain_to_middle(data, column, i, j, n, out, square):
    """The same between a node and the middle of i and j, moved by `out` (3,)."""
    return 0.5 * (_square_to_middle(data, column, i, j, n, out) / square - 1.0) if square > 0.0 else 0.0


@njit(**INNER)
def _square_to_middle(data, column, i, j, n, out):
    """Squared distance of a node from the middle of i and j, moved by `out` (3,) [m²]."""
    total = 0.0
    for c in range(3):
        d = 0.5 * (data[i, column + c] + data[j, column + c]) + out[c] - data[n, column + c]
        total += d * d
    return total


@njit(**INNER)
def _normal(links, data, corner, column):
    """Normal of the face of `corner` times sin/(|e||f|): with these weights the mean is exact on spheres [Max1999]."""
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
def _mean_normal(links, label, data, limit, edge, at_head, column):
    """Unit normal at an end of an edge, and whether all faces it comes from are turned from it by less than the limit.

    Only faces that are not beyond a labelled line count (beyond the edge itself they do), so a crease stays sharp.
    """
    start = following(edge) if at_head else edge
    node = corner_node(links, start)
    sx = sy = sz = 0.0
    for sweep in range(2):
        sense, around = 0, False
        while sense < 2 and not around:
            corner, leave = start, start if at_head else preceding(start)
            if sense == 1:
                if links.twin[edge] < 0:
                    break
                corner, leave = enter(links, node, links.twin[edge])
            while True:
                nx, ny, nz = _normal(links, data, corner, column)
                if sweep == 0:
                    sx, sy, sz = sx + nx, sy + ny, sz + nz
                elif nx * sx + ny * sy + nz * sz < limit * sqrt(nx * nx + ny * ny + nz * nz):
                    return sx, sy, sz, False
                around = sense == 0 and leave == links.twin[edge]
                if around or label[leave] != 0 or links.twin[leave] < 0:
                    break
                corner, leave = enter(links, node, links.twin[leave])
            sense += 1
        if sweep == 0:
            length = sqrt(sx * sx + sy * sy + sz * sz)
            if not (length > 0.0 and np.isfinite(length)):
                return sx, sy, sz, False
            sx, sy, sz = sx / length, sy / length, sz / length
    return sx, sy, sz, True
