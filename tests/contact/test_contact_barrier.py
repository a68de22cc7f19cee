"""The energy of one pair: derivatives, projection, continuity, invariance."""

import numpy as np
import pytest
from contact_shapes import difference, full_hessian, pair_barrier

from crumple.contact.barrier_law import CORE, HARDER, barrier_slopes
from crumple.geometry.distance import edge_edge, point_triangle


def distance_feature(is_edges, x):
    d2, _, _, feature = (edge_edge if is_edges else point_triangle)(*x.ravel())
    return np.sqrt(d2), feature


def random_pair(rng, is_edges, size=1.0):
    """Four nodes whose distance is smaller than their size, of any closest feature."""
    x = rng.normal(size=(4, 3)) * size
    x[:, 2] *= 0.3
    return x


def cases(is_edges, count=40, seed=0):
    """Poses of every closest feature together with touch distance and activation gap."""
    rng = np.random.default_rng(seed)
    features = {}
    while len(features) < (4 if is_edges else 5) or min(map(len, features.values())) < count // 5:
        x = random_pair(rng, is_edges)
        d, feature = distance_feature(is_edges, x)
        if d < 0.05:
            continue
        thickness = rng.choice([0.0, 0.3, 0.6]) * d
        bucket = features.setdefault(feature, [])
        if len(bucket) < count // 5:
            share = rng.uniform(0.2, 0.8) if rng.random() < 0.7 else rng.uniform(0.02, 0.08)
            bucket.append((x, thickness, (d - thickness) / share))
    return [case for bucket in features.values() for case in bucket]


@pytest.mark.parametrize("is_edges", [False, True])
def test_gradient_and_hessian_match_differences(is_edges):
    for x, thickness, dhat in cases(is_edges):
        barrier = pair_barrier(is_edges, thickness, dhat)
        gradient, hessian = barrier.gradient_hessian(x, project=False)
        expected = difference(lambda y: barrier.value(y)[0], x, 1e-4).reshape(4, 3)  # noqa: B023
        np.testing.assert_allclose(gradient[0], expected, atol=1e-5 * np.abs(expected).max())
        expected = difference(lambda y: barrier.gradient(y).ravel(), x, 1e-5)  # noqa: B023
        np.testing.assert_allclose(full_hessian(hessian[0]), expected, atol=2e-5 * np.abs(expected).max())


def nearly_parallel(rng, angle):
    """Two unit edges at distance 0.2 with a small angle; the mollifier is active."""
    shift = rng.uniform(-0.6, 0.6)
    x = np.array([[-0.5, 0, 0], [0.5, 0, 0], [shift - 0.5, -0.5 * angle, 0.2], [shift + 0.5, 0.5 * angle, 0.2]])
    return x + 1e-4 * rng.normal(size=(4, 3))


def mollifier_cases():
    rng = np.random.default_rng(2)
    return [(nearly_parallel(rng, angle), 1e-3) for angle in (0.005, 0.01, 0.02, 0.028) for _ in range(6)]


def test_mollified_derivatives_match_differences():
    for x, limit in mollifier_cases():
        barrier = pair_barrier(True, 0.05, 0.4, limit)
        gradient, hessian = barrier.gradient_hessian(x, project=False)
        expected = difference(lambda y: barrier.value(y)[0], x, 2e-6).reshape(4, 3)  # noqa: B023
        np.testing.assert_allclose(gradient[0], expected, atol=1e-5 * np.abs(expected).max())
        expected = difference(lambda y: barrier.gradient(y).ravel(), x, 2e-6)  # noqa: B023
        np.testing.assert_allclose(full_hessian(hessian[0]), expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("is_edges", [False, True])
def test_projected_hessian_is_positive_and_above_the_exact_one(is_edges):
    some = [(x, t, dhat, 0.0) for x, t, dhat in cases(is_edges, seed=1)]
    if is_edges:
        some += [(x, 0.05, 0.4, limit) for x, limit in mollifier_cases()]
    for x, thickness, dhat, limit in some:
        barrier = pair_barrier(is_edges, thickness, dhat, limit)
        exact, projected = (full_hessian(barrier.hessian(x, project)[0]) for project in (False, True))
        scale = np.abs(exact).max()
        assert np.linalg.eigvalsh(projected).min() > -1e-9 * scale
        assert np.linalg.eigvalsh(projected - exact).min() > -1e-9 * scale
        assert np.linalg.eigvalsh(exact).min() < -1e-6 * scale  # otherwise nothing was projected


@pytest.mark.parametrize("is_edges", [False, True])
def test_projection_without_curvature_term_is_the_closest_one(is_edges):
    """The distance part is projected exactly: |E'|/d Σ (p pᵀ − c cᵀ) has the same positive eigenvalues."""
    for x, thickness, dhat in cases(is_edges, seed=4):
        barrier = pair_barrier(is_edges, thickness, dhat)
        exact, projected = (full_hessian(barrier.hessian(x, project)[0]) for project in (False, True))
        d, _ = distance_feature(is_edges, x)
        s = (d - thickness) / dhat
        slope, bend = barrier_slopes.py_func(s)
        slope, bend = 2.0 / dhat * slope, 2.0 / dhat**2 * bend
        normal = barrier.gradient(x)[0].ravel()
        rest = exact - bend * np.outer(normal, normal) / slope**2
        value, vector = np.linalg.eigh(rest)
        positive = (vector * np.maximum(value, 0)) @ vector.T
        np.testing.assert_allclose(projected - (exact - rest), positive, atol=1e-8 * np.abs(rest).max())


@pytest.mark.parametrize("is_edges", [False, True])
def test_energy_and_force_are_continuous_where_the_closest_feature_changes(is_edges):
    rng = np.random.default_rng(7)
    changes = 0
    for _ in range(60):
        x = random_pair(rng, is_edges)
        move = 0.5 * rng.normal(size=(4, 3))
        barrier = pair_barrier(is_edges, 0.0, 3.0, 1e-3)
        low, high = 0.0, 1.0
        first, last = distance_feature(is_edges, x)[1], distance_feature(is_edges, x + move)[1]
        if first == last or min(distance_feature(is_edges, x + t * move)[0] for t in np.linspace(0, 1, 30)) < 0.1:
            continue
        while high - low > 1e-12:  # bisection to the change
            middle = 0.5 * (low + high)
            low, high = (middle, high) if distance_feature(is_edges, x + middle * move)[1] == first else (low, middle)
        changes += 1
        before, after = x + low * move, x + high * move
        assert barrier.value(before)[0] == pytest.approx(barrier.value(after)[0], rel=1e-9)
        force = barrier.gradient(before)
        np.testing.assert_allclose(force, barrier.gradient(after), atol=1e-6 * np.abs(force).max())
    assert changes > 10


def test_forces_balance_and_energy_is_invariant():
    rng = np.random.default_rng(3)
    for is_edges in (False, True):
        some = cases(is_edges, seed=6) + [(x, 0.05, 0.4) for x, _ in mollifier_cases() if is_edges]
        for x, thickness, dhat in some:
            barrier = pair_barrier(is_edges, thickness, dhat, 1e-3)
            force = barrier.gradient(x)[0]
            scale = np.abs(force).max()
            np.testing.assert_allclose(force.sum(axis=0), 0, atol=1e-12 * scale)
            np.testing.assert_allclose(np.cross(x, force).sum(axis=0), 0, atol=1e-10 * scale)
            turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
            assert barrier.value(x @ turn.T + 1.0)[0] == pytest.approx(barrier.value(x)[0], rel=1e-8)


def test_range():
    barrier = pair_barrier(False, 0.1, 0.2)
    x = np.array([[0.2, 0.2, 0.3000001], [0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    assert barrier.value(x)[0] == 0.0
    assert not barrier.gradient_hessian(x, True)[1].any()
    x[0, 2] = 0.1
    assert barrier.value(x)[0] == np.inf
    x[0, 2] = 0.2
    assert barrier.value(x)[0] == pytest.approx(2.0 * 0.25 * np.log(2))


def test_the_core_joins_smoothly_and_carries_heavy_loads():
    barrier = pair_barrier(False, 0.0, 1.0)
    x = np.array([[0.2, 0.2, 0.0], [0, 0, 0], [1, 0, 0], [0, 1, 0.0]])

    def at(gap):
        x[0, 2] = gap
        gradient, hessian = barrier.gradient_hessian(x, project=False)
        return barrier.value(x)[0], -gradient[0, 0, 2], hessian[0, 0, 2, 2]

    np.testing.assert_allclose(at(CORE * (1 - 1e-9)), at(CORE * (1 + 1e-9)), rtol=1e-6)
    unit = at(0.5)[0] / (0.25 * np.log(2))
    for gap in (0.03, 0.01, 1e-3):
        plain = unit * ((1 - gap) ** 2 / gap - 2 * (1 - gap) * np.log(gap))
        assert at(gap)[1] > (1 + 0.2 * HARDER * CORE * (1 - gap / CORE) ** 2) * plain
