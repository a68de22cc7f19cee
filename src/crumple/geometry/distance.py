"""Distances between points, segments and triangles, with the closest feature, as compiled scalar functions.

All functions take bare coordinates so that other compiled code (barrier, collision time, remeshing) can call
them without arrays. They are total: degenerate segments and triangles and parallel edges give the true distance,
because whenever the interior solution is not clearly inside, the minimum over the bounding features is taken.
"""

from __future__ import annotations

from math import inf, sqrt

from crumple.geometry.tuning import TUNING
from crumple.runtime.compiled import kernel

PARALLEL_SINE2 = TUNING.parallel_sine_squared.value

FACE, EDGE_AB, EDGE_BC, EDGE_CA, CORNER = 0, 1, 2, 3, 4
"""Closest feature of a triangle to a point (`CORNER`: one of its nodes; the weights tell which)."""

BOTH_INSIDE, FIRST_INSIDE, SECOND_INSIDE, ENDS = 0, 1, 2, 3
"""Which of two edges has its closest point strictly inside."""


@kernel
def point_segment(px, py, pz, ax, ay, az, bx, by, bz):
    """(squared distance [m²], t) of point p and segment a + t (b − a), t in [0, 1]."""
    ex, ey, ez = bx - ax, by - ay, bz - az
    qx, qy, qz = px - ax, py - ay, pz - az
    length2 = ex * ex + ey * ey + ez * ez
    along = qx * ex + qy * ey + qz * ez
    if along <= 0.0 or length2 <= 0.0:
        return qx * qx + qy * qy + qz * qz, 0.0
    if along >= length2:
        rx, ry, rz = px - bx, py - by, pz - bz
        return rx * rx + ry * ry + rz * rz, 1.0
    t = along / length2
    rx, ry, rz = qx - t * ex, qy - t * ey, qz - t * ez
    return rx * rx + ry * ry + rz * rz, t


@kernel
def point_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """(squared distance [m²], u, v, feature): the closest point is a + u (b − a) + v (c − a)."""
    ex, ey, ez = bx - ax, by - ay, bz - az
    fx, fy, fz = cx - ax, cy - ay, cz - az
    qx, qy, qz = px - ax, py - ay, pz - az
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    n2 = nx * nx + ny * ny + nz * nz
    e2 = ex * ex + ey * ey + ez * ez
    f2 = fx * fx + fy * fy + fz * fz
    if n2 > PARALLEL_SINE2 * e2 * f2:
        u = ((qy * fz - qz * fy) * nx + (qz * fx - qx * fz) * ny + (qx * fy - qy * fx) * nz) / n2
        v = ((ey * qz - ez * qy) * nx + (ez * qx - ex * qz) * ny + (ex * qy - ey * qx) * nz) / n2
        if u > 0.0 and v > 0.0 and u + v < 1.0:
            rx, ry, rz = qx - u * ex - v * fx, qy - u * ey - v * fy, qz - u * ez - v * fz
            return rx * rx + ry * ry + rz * rz, u, v, FACE
    d2, t = point_segment(px, py, pz, ax, ay, az, bx, by, bz)
    u, v, feature = t, 0.0, EDGE_AB
    s2, s = point_segment(px, py, pz, bx, by, bz, cx, cy, cz)
    if s2 < d2:
        d2, t, u, v, feature = s2, s, 1.0 - s, s, EDGE_BC
    s2, s = point_segment(px, py, pz, cx, cy, cz, ax, ay, az)
    if s2 < d2:
        d2, t, u, v, feature = s2, s, 0.0, 1.0 - s, EDGE_CA
    if t == 0.0 or t == 1.0:
        feature = CORNER
    return d2, u, v, feature


@kernel
def edge_edge(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """(squared distance [m²], s, t, feature) of the segments a + s (b − a) and c + t (d − c)."""
    ex, ey, ez = bx - ax, by - ay, bz - az
    fx, fy, fz = dx - cx, dy - cy, dz - cz
    qx, qy, qz = cx - ax, cy - ay, cz - az
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    n2 = nx * nx + ny * ny + nz * nz
    e2 = ex * ex + ey * ey + ez * ez
    f2 = fx * fx + fy * fy + fz * fz
    if n2 > PARALLEL_SINE2 * e2 * f2:
        s = ((qy * fz - qz * fy) * nx + (qz * fx - qx * fz) * ny + (qx * fy - qy * fx) * nz) / n2
        t = ((qy * ez - qz * ey) * nx + (qz * ex - qx * ez) * ny + (qx * ey - qy * ex) * nz) / n2
        if 0.0 < s < 1.0 and 0.0 < t < 1.0:
            rx = s * ex - qx - t * fx
            ry = s * ey - qy - t * fy
            rz = s * ez - qz - t * fz
            return rx * rx + ry * ry + rz * rz, s, t, BOTH_INSIDE
    d2, t = point_segment(ax, ay, az, cx, cy, cz, dx, dy, dz)
    s, inner, feature = 0.0, t, SECOND_INSIDE
    h2, h = point_segment(bx, by, bz, cx, cy, cz, dx, dy, dz)
    if h2 < d2:
        d2, s, t, inner = h2, 1.0, h, h
    h2, h = point_segment(cx, cy, cz, ax, ay, az, bx, by, bz)
    if h2 < d2:
        d2, s, t, inner, feature = h2, h, 0.0, h, FIRST_INSIDE
    h2, h = point_segment(dx, dy, dz, ax, ay, az, bx, by, bz)
    if h2 < d2:
        d2, s, t, inner, feature = h2, h, 1.0, h, FIRST_INSIDE
    if inner == 0.0 or inner == 1.0:
        feature = ENDS
    return d2, s, t, feature


@kernel
def triangle_distance(a, b):
    """Distance [m] of two triangles (3, 3) that do not intersect: least of 6 node–face and 9 edge–edge distances."""
    best = inf
    for i in range(3):
        j = (i + 1) % 3
        d2, _, _, _ = point_triangle(
            a[i, 0], a[i, 1], a[i, 2], b[0, 0], b[0, 1], b[0, 2], b[1, 0], b[1, 1], b[1, 2], b[2, 0], b[2, 1], b[2, 2]
        )  # fmt: skip
        e2, _, _, _ = point_triangle(
            b[i, 0], b[i, 1], b[i, 2], a[0, 0], a[0, 1], a[0, 2], a[1, 0], a[1, 1], a[1, 2], a[2, 0], a[2, 1], a[2, 2]
        )  # fmt: skip
        best = min(best, d2, e2)
        for k in range(3):
            m = (k + 1) % 3
            d2, _, _, _ = edge_edge(
                a[i, 0], a[i, 1], a[i, 2], a[j, 0], a[j, 1], a[j, 2],
                b[k, 0], b[k, 1], b[k, 2], b[m, 0], b[m, 1], b[m, 2],
            )  # fmt: skip
            best = min(best, d2)
    return sqrt(best)
