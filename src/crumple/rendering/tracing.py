"""Rays through triangles: which one a ray meets first.

Compiled code passes rays as six numbers and the triangles as the arrays of a `Scene`; every function that walks the
tree takes an int32 `stack` of `STACK_SIZE` as scratch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crumple.geometry.bvh import STACK_SIZE, build_tree
from crumple.runtime.compiled import device
from crumple.runtime.typing import Floats, Ints

__all__ = ["MISS", "STACK_SIZE", "Scene", "make_scene", "nearest_hit"]

MISS = -1
"""The triangle of a ray that meets none."""


class Scene(NamedTuple):
    """Triangles ready for rays: boxes of the tree and leaf ranges (`geometry.bvh`), then in leaf order one corner and
    two edges of each triangle (n, 9) [m] and its number in the caller's order (n,)."""

    node_box: NDArray[np.float32]
    start: Ints
    triangle: NDArray[np.float32]
    order: Ints


def make_scene(corners: Floats) -> Scene:
    """The `Scene` of triangles with `corners` (n, 3, 3) [m]; without any triangle every ray misses."""
    if len(corners) == 0:
        corners = np.full((1, 3, 3), 1e30)
    box = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1).astype(np.float32)
    margin = np.float32(1e-6) * np.abs(box).max(axis=1, keepdims=True)
    box[:, :3] -= margin
    box[:, 3:] += margin
    tree = build_tree(box)
    a, b, c = (corners[tree.order, k] for k in range(3))
    triangle = np.concatenate([a, b - a, c - a], axis=1).astype(np.float32)
    return Scene(tree.node_box, tree.start, np.ascontiguousarray(triangle), tree.order)


@device
def enter_box(node_box, node, ox, oy, oz, ix, iy, iz, far):
    """Distance at which the ray with inverse direction (ix, iy, iz) enters a box, inf when not before `far`."""
    x0, x1 = (node_box[node, 0] - ox) * ix, (node_box[node, 3] - ox) * ix
    y0, y1 = (node_box[node, 1] - oy) * iy, (node_box[node, 4] - oy) * iy
    z0, z1 = (node_box[node, 2] - oz) * iz, (node_box[node, 5] - oz) * iz
    enter = max(max(min(x0, x1), min(y0, y1)), max(min(z0, z1), 0.0))
    leave = min(min(max(x0, x1), max(y0, y1)), min(max(z0, z1), far))
    return enter if enter <= leave else np.inf


@device
def meet_triangle(triangle, i, ox, oy, oz, dx, dy, dz):
    """Distance along the ray to triangle `i` and the barycentric weights of its second and third corner; a negative
    distance when it misses (Möller and Trumbore 1997)."""
    ex, ey, ez = triangle[i, 3], triangle[i, 4], triangle[i, 5]
    fx, fy, fz = triangle[i, 6], triangle[i, 7], triangle[i, 8]
    px, py, pz = dy * fz - dz * fy, dz * fx - dx * fz, dx * fy - dy * fx
    determinant = ex * px + ey * py + ez * pz
    if abs(determinant) < 1e-30:
        return -1.0, 0.0, 0.0
    inverse = 1.0 / determinant
    sx, sy, sz = ox - triangle[i, 0], oy - triangle[i, 1], oz - triangle[i, 2]
    b = (sx * px + sy * py + sz * pz) * inverse
    if b < 0.0 or b > 1.0:
        return -1.0, 0.0, 0.0
    qx, qy, qz = sy * ez - sz * ey, sz * ex - sx * ez, sx * ey - sy * ex
    c = (dx * qx + dy * qy + dz * qz) * inverse
    if c < 0.0 or b + c > 1.0:
        return -1.0, 0.0, 0.0
    return (fx * qx + fy * qy + fz * qz) * inverse, b, c


@device
def _inverse(value):
    """1/value, huge instead of infinite: 0 · inf would be nan where a ray runs in the plane of a box."""
    return 1.0 / value if abs(value) > 1e-20 else 1e20


@device
def nearest_hit(node_box, start, triangle, ox, oy, oz, dx, dy, dz, near, far, stack):
    """The first triangle between the distances `near` and `far`: distance, place in leaf order (`MISS`), weights of
    its second and third corner."""
    ix, iy, iz = _inverse(dx), _inverse(dy), _inverse(dz)
    leaves = start.shape[0] - 1
    found, best_b, best_c = MISS, 0.0, 0.0
    if enter_box(node_box, 1, ox, oy, oz, ix, iy, iz, far) == np.inf:
        return far, found, best_b, best_c
    stack[0], depth = 1, 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if node >= leaves:
            for i in range(start[node - leaves], start[node - leaves + 1]):
                t, b, c = meet_triangle(triangle, i, ox, oy, oz, dx, dy, dz)
                if near < t < far:
                    far, found, best_b, best_c = t, i, b, c
            continue
        left = enter_box(node_box, 2 * node, ox, oy, oz, ix, iy, iz, far)
        right = enter_box(node_box, 2 * node + 1, ox, oy, oz, ix, iy, iz, far)
        nearer, farther = 2 * node, 2 * node + 1
        if right < left:
            nearer, farther = farther, nearer
            left, right = right, left
        if right < far:
            stack[depth] = farther
            depth += 1
        if left < far:
            stack[depth] = nearer
            depth += 1
    return far, found, best_b, best_c
