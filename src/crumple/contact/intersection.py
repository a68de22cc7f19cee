"""Exact-minded intersection tests between edges and faces.

An edge pq crosses a face abc when p and q lie on different sides of its plane and the line pq passes the three edges
on the same side: five signs of 3×3 determinants. Each determinant is computed in double precision with a bound on its
rounding error [Shewchuk1997, filter A]. If all five signs are certain, the answer is exact. Otherwise the primitives
are coplanar or touch to within rounding, and they count as intersecting only if their distance is below
`TOUCH` times the size of the coordinates: nearly touching but separate states are never reported.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.contact.candidates import find_pairs, make_group, swept_boxes
from crumple.contact.surface import Surface
from crumple.contact.tuning import TUNING
from crumple.geometry.distance import edge_edge, point_triangle
from crumple.runtime.compiled import device, kernel, run_chunks
from crumple.runtime.typing import Floats, Ints

CHUNK = TUNING.pairs_per_chunk.value
ORIENT_ERROR = 8e-16
"""Bound (7 + 56 eps) eps, eps = 2⁻⁵³, on the error of a determinant relative to its permanent."""
TOUCH = TUNING.intersection_tolerance.value


@device
def orientation(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    """Sign of det(a − d, b − d, c − d): on which side of the plane abc the point d lies; 0 when not certain."""
    adx, ady, adz = ax - dx, ay - dy, az - dz
    bdx, bdy, bdz = bx - dx, by - dy, bz - dz
    cdx, cdy, cdz = cx - dx, cy - dy, cz - dz
    bc, cb = bdx * cdy, cdx * bdy
    ca, ac = cdx * ady, adx * cdy
    ab, ba = adx * bdy, bdx * ady
    determinant = adz * (bc - cb) + bdz * (ca - ac) + cdz * (ab - ba)
    permanent = abs(adz) * (abs(bc) + abs(cb)) + abs(bdz) * (abs(ca) + abs(ac)) + abs(cdz) * (abs(ab) + abs(ba))
    if determinant > ORIENT_ERROR * permanent:
        return 1
    if determinant < -ORIENT_ERROR * permanent:
        return -1
    return 0


@device
def _touch(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Whether segment and triangle are within rounding of each other (they do not cross properly)."""
    size = max(abs(px), abs(py), abs(pz), abs(qx), abs(qy), abs(qz), abs(ax), abs(ay), abs(az))
    tolerance = (TOUCH * size) ** 2
    d2, _, _, _ = point_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz)
    if d2 > tolerance:
        e2, _, _, _ = point_triangle(qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)
        d2 = min(d2, e2)
    if d2 > tolerance:
        e2, _, _, _ = edge_edge(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz)
        d2 = min(d2, e2)
    if d2 > tolerance:
        e2, _, _, _ = edge_edge(px, py, pz, qx, qy, qz, bx, by, bz, cx, cy, cz)
        d2 = min(d2, e2)
    if d2 > tolerance:
        e2, _, _, _ = edge_edge(px, py, pz, qx, qy, qz, cx, cy, cz, ax, ay, az)
        d2 = min(d2, e2)
    return d2 <= tolerance


@kernel
def segment_hits_triangle(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Whether segment pq and triangle abc (coordinates [m]) have a point in common."""
    p = orientation(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz)
    q = orientation(ax, ay, az, bx, by, bz, cx, cy, cz, qx, qy, qz)
    if p * q > 0:
        return False
    u = orientation(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz)
    v = orientation(px, py, pz, qx, qy, qz, bx, by, bz, cx, cy, cz)
    if u * v < 0:
        return False
    w = orientation(px, py, pz, qx, qy, qz, cx, cy, cz, ax, ay, az)
    if u * w < 0 or v * w < 0:
        return False
    if p * q * u * v * w != 0:
        return True
    return _touch(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)


@kernel
def triangles_intersect(a, b):
    """Whether two triangles (3, 3) [m] have a point in common; for local checks in compiled code."""
    for i in range(3):
        j = (i + 1) % 3
        if segment_hits_triangle(
            a[i, 0], a[i, 1], a[i, 2], a[j, 0], a[j, 1], a[j, 2],
            b[0, 0], b[0, 1], b[0, 2], b[1, 0], b[1, 1], b[1, 2], b[2, 0], b[2, 1], b[2, 2],
        ) or segment_hits_triangle(
            b[i, 0], b[i, 1], b[i, 2], b[j, 0], b[j, 1], b[j, 2],
            a[0, 0], a[0, 1], a[0, 2], a[1, 0], a[1, 1], a[1, 2], a[2, 0], a[2, 1], a[2, 2],
        ):  # fmt: skip
            return True
    return False


@kernel
def _test(first, step, edges, faces, pairs, x, hit):
    """Whether each (edge, face) pair intersects."""
    n = pairs.shape[0]
    for chunk in range(first * CHUNK, n, step * CHUNK):
        for k in range(chunk, min(n, chunk + CHUNK)):
            p, q = edges[pairs[k, 0], 0], edges[pairs[k, 0], 1]
            a, b, d = faces[pairs[k, 1], 0], faces[pairs[k, 1], 1], faces[pairs[k, 1], 2]
            hit[k] = segment_hits_triangle(
                x[p, 0], x[p, 1], x[p, 2], x[q, 0], x[q, 1], x[q, 2],
                x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[d, 0], x[d, 1], x[d, 2],
            )  # fmt: skip


def find_intersections(surface: Surface, x: Floats, limit: int | None = None) -> Ints:
    """Pairs (edge, face) (k, 2) that intersect at x (node_count, 3) [m], at most `limit` of them, in fixed order.

    Primitives that share a node and pairs of obstacle primitives are not tested.
    """
    faces, edges = surface.faces, surface.edges
    groups = (
        (0, surface.dynamic_edges, 0, surface.dynamic_faces),
        (0, surface.dynamic_edges, surface.dynamic_faces, len(faces)),
        (surface.dynamic_edges, len(edges), 0, surface.dynamic_faces),
    )
    found = [np.zeros((0, 2), np.int32)]
    for first_edge, last_edge, first_face, last_face in groups:
        if last_edge == first_edge or last_face == first_face:
            continue
        some_edges, some_faces = edges[first_edge:last_edge], faces[first_face:last_face]
        pairs = find_pairs(make_group(some_faces, x, x), some_edges, swept_boxes(some_edges, x, x), 0.0)
        hit = np.zeros(len(pairs), np.bool_)
        run_chunks(_test, -(-len(pairs) // CHUNK), some_edges, some_faces, pairs, x, hit)
        found.append(pairs[hit] + np.array([first_edge, first_face], np.int32))
    return np.concatenate(found)[:limit]


def has_intersections(surface: Surface, x: Floats) -> bool:
    """Whether anything intersects at x (node_count, 3) [m]."""
    return len(find_intersections(surface, x, 1)) > 0


class Intersection(NamedTuple):
    """Two parts that intersect and where: the middle of the edge [m], (3,)."""

    parts: tuple[int, int]
    place: Floats


def describe_intersection(surface: Surface, x: Floats, pair: Ints) -> Intersection:
    """Parts (of the edge and of the face) and place of one row of `find_intersections`."""
    edge, face = surface.edges[pair[0]], surface.faces[pair[1]]
    parts = int(surface.node_part[edge[0]]), int(surface.node_part[face[0]])
    return Intersection(parts, x[edge].mean(axis=0))
