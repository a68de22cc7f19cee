"""Lengths, shapes and Delaunay test in the metric (compiled).

2-D patterns: u and the tensors of the vertices. Surfaces in space: lengths and areas come from `node_rest` and the
tensors in space; the Delaunay test uses the local chart that `chart` has written to u and to the tensors.
"""

from __future__ import annotations

from math import sqrt

from numba import njit

from crumple.geometry.metric import scalar_form
from crumple.mesh.rings import INNER, corner_vertex, following, preceding, triangle_area

EQUILATERAL = 2.0 / sqrt(3.0)
"""Makes the aspect of an equilateral face 1."""


@njit(**INNER)
def edge_size(links, m, rest, surface, a, b):
    """Length² in the metric, uᵀ ½(M_a + M_b) u, of the segment between two vertices ([Narain2013] eq. 4)."""
    if surface:
        i, j = links.vertex_node[a], links.vertex_node[b]
        x, y, z = rest[j, 0] - rest[i, 0], rest[j, 1] - rest[i, 1], rest[j, 2] - rest[i, 2]
        total = (m[a, 3] + m[b, 3]) * x * x + (m[a, 4] + m[b, 4]) * y * y + (m[a, 5] + m[b, 5]) * z * z
        total += 2.0 * ((m[a, 6] + m[b, 6]) * y * z + (m[a, 7] + m[b, 7]) * z * x + (m[a, 8] + m[b, 8]) * x * y)
        return 0.5 * total
    u = links.u
    p, q = u[b, 0] - u[a, 0], u[b, 1] - u[a, 1]
    return 0.5 * scalar_form(m[a, 0] + m[b, 0], m[a, 1] + m[b, 1], m[a, 2] + m[b, 2], p, q)


@njit(**INNER)
def half_edge_size(links, m, rest, surface, edge):
    """Length² of a half-edge in the metric; the larger of both sides of a seam."""
    size = edge_size(links, m, rest, surface, corner_vertex(links, edge), corner_vertex(links, following(edge)))
    other = links.twin[edge]
    if other >= 0 and not surface:
        size = max(
            size,
            edge_size(links, m, rest, surface, corner_vertex(links, other), corner_vertex(links, following(other))),
        )
    return size


@njit(**INNER)
def length2(links, rest, surface, a, b):
    """Squared material distance of two vertices [m²]."""
    if surface:
        i, j = links.vertex_node[a], links.vertex_node[b]
        return (rest[j, 0] - rest[i, 0]) ** 2 + (rest[j, 1] - rest[i, 1]) ** 2 + (rest[j, 2] - rest[i, 2]) ** 2
    u = links.u
    return (u[b, 0] - u[a, 0]) ** 2 + (u[b, 1] - u[a, 1]) ** 2


@njit(**INNER)
def edge_strain(links, x, rest, surface, a, b):
    """Green strain ½ (l²/L² − 1) along the segment between two vertices, l in the world, L in the material."""
    i, j = links.vertex_node[a], links.vertex_node[b]
    p, q, r = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    square = length2(links, rest, surface, a, b)
    return 0.5 * ((p * p + q * q + r * r) / square - 1.0) if square > 0.0 else 0.0


@njit(**INNER)
def face_stretch(links, x, rest, surface, a, b, c):
    """Square of the largest stretch of the face of three vertices."""
    i, j, k = links.vertex_node[a], links.vertex_node[b], links.vertex_node[c]
    ab, ac = length2(links, rest, surface, a, b), length2(links, rest, surface, a, c)
    world = distance2(x, i, j), distance2(x, i, k), distance2(x, j, k)
    return largest_square(ab, ac, length2(links, rest, surface, b, c), world[0], world[1], world[2])


@njit(**INNER)
def distance2(x, i, j):
    """Squared distance of two nodes [m²]."""
    return (x[j, 0] - x[i, 0]) ** 2 + (x[j, 1] - x[i, 1]) ** 2 + (x[j, 2] - x[i, 2]) ** 2


@njit(**INNER)
def largest_square(ab, ac, bc, ab_now, ac_now, bc_now):
    """The larger eigenvalue of FᵀF of a triangle from its squared edges at rest and now [m²].

    With the products of two edges at rest (E, G; F) and now (e, g; f) its eigenvalues have the sum
    (G e − 2 F f + E g)/(E G − F²) and the product (e g − f²)/(E G − F²).
    """
    rest, now = 0.5 * (ab + ac - bc), 0.5 * (ab_now + ac_now - bc_now)
    area2 = ab * ac - rest * rest
    if not area2 > 0.0:
        return 0.0
    half = 0.5 * (ac * ab_now - 2.0 * rest * now + ab * ac_now) / area2
    product = (ab_now * ac_now - now * now) / area2
    return half + sqrt(max(half * half - product, 0.0))


@njit(**INNER)
def material_area(links, rest, surface, a, b, c):
    """Material area of three vertices [m²]; signed in a 2-D pattern."""
    if surface:
        i, j, k = links.vertex_node[a], links.vertex_node[b], links.vertex_node[c]
        ex, ey, ez = rest[j, 0] - rest[i, 0], rest[j, 1] - rest[i, 1], rest[j, 2] - rest[i, 2]
        fx, fy, fz = rest[k, 0] - rest[i, 0], rest[k, 1] - rest[i, 1], rest[k, 2] - rest[i, 2]
        return 0.5 * sqrt((ey * fz - ez * fy) ** 2 + (ez * fx - ex * fz) ** 2 + (ex * fy - ey * fx) ** 2)
    return triangle_area(links, a, b, c)


@njit(**INNER)
def aspect(links, rest, surface, a, b, c):
    """Height over the longest edge relative to that edge, 1 = equilateral, 0 = flat, < 0 = inverted."""
    longest = max(
        length2(links, rest, surface, a, b), length2(links, rest, surface, b, c), length2(links, rest, surface, c, a)
    )
    return 2.0 * EQUILATERAL * material_area(links, rest, surface, a, b, c) / longest if longest > 0.0 else 0.0


@njit(**INNER)
def keeps_shape(links, rest, surface, edge, floor):
    """Whether a split in the middle of an edge, if it is not the longest of its face, makes none of aspect < `floor`.

    With the median |mk|² = ½|ak|² + ½|bk|² − ¼|ab|² both halves are known without the new vertex.
    """
    half = edge
    for _ in range(2):
        if half >= 0:
            a, b = corner_vertex(links, half), corner_vertex(links, following(half))
            k = corner_vertex(links, preceding(half))
            ab, ak = length2(links, rest, surface, a, b), length2(links, rest, surface, a, k)
            bk = length2(links, rest, surface, b, k)
            if ab < (1.0 - 1e-9) * max(ak, bk):
                longest = max(ak, bk, 0.5 * ak + 0.5 * bk - 0.25 * ab)
                if EQUILATERAL * material_area(links, rest, surface, a, b, k) < floor * longest:
                    return False
        half = links.twin[edge]
    return True


@njit(**INNER)
def is_delaunay(links, m, hysteresis, edge):
    """Whether a non-seam edge is Delaunay in the mean metric of its four vertices, or nearly ([Narain2013] eq. 8).

    With the opposite vertices k, l and doubled areas A_k, A_l:  A_k d_l + A_l d_k ≥ −α (A_k + A_l),
    d_k = (i − k)ᵀ M (j − k): the sine of the sum of the two opposite angles is not negative.
    """
    other = links.twin[edge]
    i, j = corner_vertex(links, edge), corner_vertex(links, following(edge))
    k, n = corner_vertex(links, preceding(edge)), corner_vertex(links, preceding(other))
    xx = 0.25 * (m[i, 0] + m[j, 0] + m[k, 0] + m[n, 0])
    yy = 0.25 * (m[i, 1] + m[j, 1] + m[k, 1] + m[n, 1])
    xy = 0.25 * (m[i, 2] + m[j, 2] + m[k, 2] + m[n, 2])
    area_k, dot_k = _corner(links.u, i, j, k, xx, yy, xy)
    area_n, dot_n = _corner(links.u, i, j, n, xx, yy, xy)
    return area_k * dot_n + area_n * dot_k >= -hysteresis * (area_k + area_n)


@njit(**INNER)
def _corner(u, i, j, k, xx, yy, xy):
    """Doubled area of the triangle and product of its two edges at k in the metric."""
    p, q = u[i, 0] - u[k, 0], u[i, 1] - u[k, 1]
    r, s = u[j, 0] - u[k, 0], u[j, 1] - u[k, 1]
    return abs(p * s - q * r), xx * p * r + yy * q * s + xy * (p * s + q * r)
