"""Distances between points, segments and triangles, from the closest features that contact uses."""

from __future__ import annotations

from math import sqrt

from crumple.geometry.distance import edge_edge, point_triangle


def point_triangle_distance(p, a, b, c):
    """Distance [m] of point p and triangle abc, each an array (3,)."""
    return sqrt(point_triangle(*p, *a, *b, *c)[0])


def edge_edge_distance(a, b, c, d):
    """Distance [m] of the segments ab and cd, each end an array (3,)."""
    return sqrt(edge_edge(*a, *b, *c, *d)[0])
