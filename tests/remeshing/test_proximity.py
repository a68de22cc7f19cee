"""The way to the nearest obstacle."""

from __future__ import annotations

import numpy as np
from distances import point_triangle_distance

from crumple.remeshing import nearest_obstacle
from crumple.shapes import sphere


def test_nearest_points_against_all_faces() -> None:
    points, faces = sphere(0.1, subdivisions=2)
    points = points + 0.01 * np.random.default_rng(3).standard_normal(points.shape)
    x = 0.12 * np.random.default_rng(4).standard_normal((301, 3))
    vector = nearest_obstacle(x, faces, points, cutoff=0.05)
    distance = np.array([min(point_triangle_distance(p, *points[f]) for f in faces) for p in x])
    near = distance < 0.05
    assert 0.2 < near.mean() < 0.95
    assert np.isnan(vector[~near]).all()
    np.testing.assert_allclose(np.linalg.norm(vector[near], axis=1), distance[near], rtol=1e-9)
    foot = x[near] + vector[near]
    assert all(min(point_triangle_distance(p, *points[f]) for f in faces) < 1e-12 for p in foot[:20])


def test_no_obstacles() -> None:
    none = nearest_obstacle(np.zeros((4, 3)), np.zeros((0, 3), np.int32), np.zeros((0, 3)), 1.0)
    assert np.isnan(none).all()
