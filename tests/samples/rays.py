"""Rays through a scene of triangles, many at once."""

from __future__ import annotations

import numpy as np

from crumple.rendering.tracing import MISS, STACK_SIZE, nearest_hit
from crumple.runtime.compiled import kernel


@kernel
def trace_rays(scene, origin, direction, near):
    """The first triangle (n,), `MISS` where there is none, and the distance to it (n,) of rays (n, 3), (n, 3)."""
    stack = np.empty(STACK_SIZE, np.int32)
    face, distance = np.empty(len(origin), np.int32), np.empty(len(origin))
    node_box, start, triangle = scene.node_box, scene.start, scene.triangle
    for r in range(len(origin)):
        t, i, _, _ = nearest_hit(
            node_box, start, triangle,
            origin[r, 0], origin[r, 1], origin[r, 2], direction[r, 0], direction[r, 1], direction[r, 2],
            near, np.inf, stack,
        )  # fmt: skip
        face[r], distance[r] = (scene.order[i] if i != MISS else MISS), t
    return face, distance
