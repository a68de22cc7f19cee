"""What tests ask of crease patterns: whether vertices fold flat, and by how much facets miss each other."""

from __future__ import annotations

import numpy as np

from crumple.patterns.checks import _kawasaki, _signs
from crumple.patterns.rigid import closure, vertex_fans


def can_fold_flat(pattern):
    """Whether the creases around each inner vertex allow it to fold flat: Kawasaki's condition on the sectors, and,
    where all its creases are mountains or valleys, Maekawa's and that of the smallest sectors."""
    flat = {}
    for fan in vertex_fans(pattern):
        for k, vertex in enumerate(fan.vertex.tolist()):
            flat[vertex] = not (_kawasaki(pattern, fan, k) or _signs(pattern, fan, k))
    return flat


def vertex_misfit(pattern, angle):
    """The inner vertices, and by how much the facets around each miss each other at fold angles (edge_count,) [rad]."""
    fans = vertex_fans(pattern)
    if not fans:
        return np.zeros(0, np.int32), np.zeros(0)
    misfit = np.concatenate([np.linalg.norm(closure(fan, angle)[0], axis=1) for fan in fans])
    return np.concatenate([fan.vertex for fan in fans]), misfit
