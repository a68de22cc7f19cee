"""Friction: derivatives, sticking and slipping, Coulomb's bound."""

import numpy as np
import pytest
from contact_shapes import difference, full_hessian, pair_barrier

from crumple.contact import make_friction


def contact(is_edges=False):
    if is_edges:
        x = np.array([[-1, 0, 0.1], [1, 0.2, 0.1], [0, -1, 0], [0.3, 1, 0.0]])
    else:
        x = np.array([[0.2, 0.3, 0.1], [0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    return x, pair_barrier(is_edges, 0.02, 0.2, 1e-3)


@pytest.mark.parametrize("is_edges", [False, True])
@pytest.mark.parametrize("slip", [0.0, 0.3, 0.95, 4.0])
def test_derivatives_match_differences(is_edges, slip):
    start, barrier = contact(is_edges)
    friction = make_friction(barrier, start, start, dt=0.1, eps_v=0.05)
    x = start.copy()
    x[0] += slip * 0.005 * np.array([0.6, 0.8, 0.3])
    gradient, hessian = friction.gradient_hessian(x, project=False)
    expected = difference(lambda y: friction.value(y)[0], x, 1e-6).reshape(4, 3)
    np.testing.assert_allclose(gradient[0], expected, atol=1e-6 * np.abs(friction.strength[0]))
    dense = full_hessian(hessian[0])
    expected = difference(lambda y: friction.gradient(y).ravel(), x, 1e-7)
    np.testing.assert_allclose(dense, expected, atol=1e-4 * np.abs(dense).max())
    assert np.linalg.eigvalsh(dense).min() > -1e-10 * np.abs(dense).max()


@pytest.mark.parametrize("is_edges", [False, True])
@pytest.mark.parametrize("slip", [0.01, 0.6, 4.0])
def test_the_projected_quadratic_lies_above_the_energy(is_edges, slip):
    """So a step to the minimum of a model that contains it cannot overshoot."""
    start, barrier = contact(is_edges)
    friction = make_friction(barrier, start, start, dt=0.1, eps_v=0.05)
    x = start.copy()
    x[0] += slip * 0.005 * np.array([0.6, 0.8, 0.0])
    gradient, hessian = friction.gradient_hessian(x, project=True)
    value, dense = friction.value(x)[0], full_hessian(hessian[0])
    rng = np.random.default_rng(5)
    for size in (1e-4, 1e-3, 1e-2, 0.1):
        for _ in range(20):
            step = size * rng.normal(size=12)
            model = value + gradient[0].ravel() @ step + 0.5 * step @ dense @ step
            assert friction.value(x + step.reshape(4, 3))[0] <= model * (1 + 1e-12)


def test_force_opposes_slip_and_obeys_coulomb():
    start, barrier = contact()
    friction = make_friction(barrier, start, start, dt=0.1, eps_v=0.05)
    normal_force = np.linalg.norm(barrier.gradient(start)[0, 0])
    assert friction.strength[0] == pytest.approx(0.5 * normal_force)
    x = start.copy()
    assert not friction.gradient(x).any()
    for slip, force in ((0.0025, 0.75), (0.005, 1.0), (0.5, 1.0)):
        x[0] = start[0] + [slip, 0, 0]
        gradient = friction.gradient(x)[0]
        np.testing.assert_allclose(gradient[0], [0.5 * normal_force * force, 0, 0], atol=1e-9 * normal_force)
        np.testing.assert_allclose(gradient.sum(axis=0), 0, atol=1e-12 * normal_force)
    x[0] = start[0] + [0, 0, 0.05]  # along the normal: no friction
    np.testing.assert_allclose(friction.gradient(x), 0, atol=1e-12)


def test_contacts_out_of_range_have_no_friction():
    start, barrier = contact()
    start[0, 2] = 1.0
    assert make_friction(barrier, start, start, dt=0.1, eps_v=0.05).count == 0
