"""Distances against ipctk, against sampling, and on degenerate shapes."""

import ipctk
import numpy as np
import pytest
from distances import edge_edge_distance, point_triangle_distance
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.geometry.distance import (
    edge_edge,
    point_segment,
    point_triangle,
)


def segment_distance(p, a, b):
    e = b - a
    t = np.clip((p - a) @ e / max(e @ e, 1e-300), 0, 1)
    return np.linalg.norm(p - a - t * e)


@pytest.mark.parametrize("seed", range(4))
def test_general_pairs_match_ipctk(seed):
    rng = np.random.default_rng(seed)
    for _ in range(300):
        p, a, b, c = rng.normal(size=(4, 3)) * 10.0 ** rng.uniform(-3, 1, (4, 1))
        assert point_triangle_distance(p, a, b, c) == pytest.approx(np.sqrt(ipctk.point_triangle_distance(p, a, b, c)))
        assert edge_edge_distance(p, a, b, c) == pytest.approx(np.sqrt(ipctk.edge_edge_distance(p, a, b, c)))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-14, 1e-11, 1e-8, 1e-5]))
def test_nearly_degenerate_shapes_have_the_distance_of_their_edges(seed, width):
    rng = np.random.default_rng(seed)
    p, a, e, noise = rng.normal(size=(4, 3))
    b, c = a + e, a + rng.uniform(-2, 2) * e + width * noise
    edges = min(segment_distance(p, a, b), segment_distance(p, b, c), segment_distance(p, c, a))
    assert point_triangle_distance(p, a, b, c) == pytest.approx(edges, abs=2 * width + 1e-12)
    q = p + rng.uniform(-2, 2) * e + width * noise
    ends = min(
        segment_distance(p, a, b), segment_distance(q, a, b), segment_distance(a, p, q), segment_distance(b, p, q)
    )
    assert edge_edge_distance(p, q, a, b) == pytest.approx(ends, abs=2 * width + 1e-12)


def test_points_and_zero_edges():
    a, b = np.array([0.0, 0, 0]), np.array([3.0, 4.0, 0])
    assert point_triangle_distance(b, a, a, a) == 5.0
    assert edge_edge_distance(a, a, b, b) == 5.0
    assert point_segment(*b, *a, *a) == (25.0, 0.0)


def test_weights_reproduce_the_closest_point():
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(400):
        p, a, b, c = rng.normal(size=(4, 3))
        d2, u, v, feature = point_triangle(*p, *a, *b, *c)
        assert min(u, v, 1 - u - v) >= -1e-15
        assert np.sum((p - a - u * (b - a) - v * (c - a)) ** 2) == pytest.approx(d2)
        seen.add(("face", feature))
        d2, s, t, feature = edge_edge(*p, *a, *b, *c)
        assert 0 <= s <= 1
        assert 0 <= t <= 1
        assert np.sum((p + s * (a - p) - b - t * (c - b)) ** 2) == pytest.approx(d2)
        seen.add(("edge", feature))
    assert len(seen) == 9
