"""The law of one contact, damped and not: derivatives, limits, and the speed at which a mass leaves."""

import numpy as np
import pytest

from crumple.contact.barrier_law import (
    CORE,
    NEAR_RIM,
    barrier_integral,
    barrier_value,
    damped_slopes,
    damped_value,
)
from crumple.runtime.compiled import kernel


@kernel
def laws(s, start, damping):
    """(P, P', P'', b, ∫ b) of every s in (0, 1), one row each."""
    found = np.empty((len(s), 5))
    for k in range(len(s)):
        found[k, 0] = damped_value(s[k], start, damping)
        found[k, 1], found[k, 2] = damped_slopes(s[k], start, damping)
        found[k, 3] = barrier_value(s[k])
        found[k, 4] = barrier_integral(s[k])
    return found


S = np.concatenate(
    [np.linspace(0.02, 0.999, 200), [CORE - 1e-3, CORE + 1e-3, 1 - NEAR_RIM - 1e-3, 1 - NEAR_RIM + 1e-3]]
)
CASES = [(1.0, 5.0), (0.7, 5.0), (0.7, 200.0), (0.05, 30.0), (0.98, 400.0), (0.4, 0.3)]


@pytest.mark.parametrize(("start", "damping"), CASES)
def test_derivatives_are_those_of_the_potential(start, damping):
    h = 1e-6
    apart = np.abs(S[:, None] - [start, start + 1 / damping, CORE]).min(axis=1) > 2 * h  # P'' jumps there
    here, above, below = (laws(S + d, start, damping)[apart] for d in (0.0, h, -h))
    scale = 1.0 + np.abs(here[:, 1])
    np.testing.assert_allclose((above[:, 0] - below[:, 0]) / (2 * h), here[:, 1], atol=1e-6 * scale.max(), rtol=1e-6)
    np.testing.assert_allclose((above[:, 1] - below[:, 1]) / (2 * h), here[:, 2], rtol=1e-5, atol=1e-5 * scale.max())


@pytest.mark.parametrize(("start", "damping"), CASES)
def test_the_potential_is_convex_falls_to_zero_and_never_pulls(start, damping):
    s = np.linspace(0.01, 0.9999, 2000)
    value, slope, curvature, _, _ = laws(s, start, damping).T
    assert (value >= -1e-15).all()
    assert (slope <= 0.0).all()
    assert (curvature >= 0.0).all()
    assert (value[s > start + 1.0 / damping] == 0.0).all()
    for corner in (start, min(start + 1.0 / damping, 1.0) - 1e-9):  # value and slope are continuous
        left, right = laws(np.array([corner - 1e-9, min(corner + 1e-9, 1 - 1e-12)]), start, damping)
        np.testing.assert_allclose(left[:2], right[:2], atol=1e-5 * (1.0 + abs(left[1])))


def test_without_motion_the_force_is_that_of_the_barrier():
    for start, damping in CASES[1:]:
        damped, plain = laws(np.array([start]), start, damping)[0], laws(np.array([start]), start, 0.0)[0]
        assert damped[1] == plain[1]
        assert plain[0] == plain[3]


def test_integral_is_that_of_the_barrier():
    ends = np.linspace(0.03, 1.0, 40001)
    middle = 0.5 * (ends[1:] + ends[:-1])
    pieces = laws(middle, 1.0, 0.0)[:, 3] * np.diff(ends)
    total = np.cumsum(pieces[::-1])[::-1]
    np.testing.assert_allclose(laws(ends[:-1], 1.0, 0.0)[::500, 4], total[::500], rtol=1e-5)


@pytest.mark.parametrize("arriving", [0.5, 2.0, 20.0])
def test_a_mass_leaves_as_the_law_says(arriving):
    """−z − ln(1 − z) = ½ (u/v)² with z = w/v, integrated in tiny explicit steps of a unit mass and v = 1."""
    s, v, dt = 1.0 - 1e-9, -arriving, 2e-6
    stiffness = 2.0 * arriving**2
    while s < 1.0:
        plain = laws(np.array([s]), s, 0.0)[0, 1]
        v -= dt * stiffness * plain * max(0.0, min(1.0, 1.0 - v))
        s += dt * v
    assert -v - np.log1p(-v) == pytest.approx(0.5 * arriving**2, rel=2e-2) or v > 1.0 - 1e-4
    assert v < 1.0
