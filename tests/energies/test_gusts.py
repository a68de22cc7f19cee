"""Wind that follows keys, and gusts: statistics, drift, no sources, the same in every run."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

from crumple.energies import Gust, Wind, make_wind
from crumple.energies.examples import PATCH, patch_poses
from crumple.runtime.errors import InputError

KEYS = ((0.5, (0.0, 0.0, 0.0)), (1.5, (4.0, 0.0, -2.0)))
FLAT = patch_poses(np.random.default_rng(0))["flat"]


@pytest.mark.parametrize(("time", "share"), [(0.0, 0.0), (0.5, 0.0), (0.75, 0.25), (1.5, 1.0), (9.0, 1.0)])
def test_keys_are_joined_by_lines(time, share):
    np.testing.assert_allclose(Wind(1.2, keys=KEYS).mean(time), share * np.array([4.0, 0.0, -2.0]))


def test_drift_is_the_integral_of_the_wind():
    wind = Wind(1.2, keys=KEYS)
    times = np.linspace(0.0, 2.0, 20_001)
    way = trapezoid([wind.mean(time) for time in times], times, axis=0)
    np.testing.assert_allclose(wind.drift(2.0), way, rtol=1e-7)
    np.testing.assert_allclose(Wind(1.2, (3.0, 0.0, 0.0)).drift(2.0), [6.0, 0.0, 0.0])


def test_a_keyed_wind_presses_as_a_steady_one_of_that_moment():
    still = np.zeros_like(FLAT)
    keyed = make_wind(Wind(1.2, keys=KEYS, drag=0.1), PATCH.face_nodes, FLAT, still, 0.01, time=1.0)
    steady = make_wind(Wind(1.2, (2.0, 0.0, -1.0), 0.1), PATCH.face_nodes, FLAT, still, 0.01)
    np.testing.assert_array_equal(keyed.gradient(FLAT), steady.gradient(FLAT))


def test_gusts_have_the_speed_that_they_state():
    """In each direction, over many places and seeds; the mean vanishes."""
    x = np.random.default_rng(1).uniform(-50.0, 50.0, (4000, 3))
    found = np.concatenate([Gust(2.0, 0.5, seed).velocity(x, 0.3, np.zeros(3)) for seed in range(40)])
    np.testing.assert_allclose(np.sqrt(np.mean(found**2, axis=0)), 2.0, rtol=0.05)
    assert np.abs(found.mean(axis=0)).max() < 0.02


def test_gusts_have_no_sources():
    gust, step = Gust(2.0, 0.5, 3), 1e-5
    x = np.random.default_rng(2).uniform(-1.0, 1.0, (100, 3))
    slopes = np.array(
        [
            (gust.velocity(x + step * e, 0.2, np.zeros(3)) - gust.velocity(x - step * e, 0.2, np.zeros(3))) / (2 * step)
            for e in np.eye(3)
        ]
    )
    assert np.abs(slopes).max() > 10.0
    assert np.abs(np.einsum("ini->n", slopes)).max() < 1e-6 * np.abs(slopes).max()


def test_gusts_drift_with_the_wind_and_die_out_of_step():
    """Seen from the moving air they differ less from before than at a fixed place."""
    wind = Wind(1.2, (10.0, 0.0, 0.0), gust=Gust(0.5, 0.5, 1))
    x, way = np.random.default_rng(3).uniform(-5.0, 5.0, (2000, 3)), np.array([0.2, 0.0, 0.0])
    before, fixed, moving = wind.at(x, 1.0), wind.at(x, 1.02), wind.at(x + way, 1.02)
    assert np.abs(moving - before).mean() < 0.3 * np.abs(fixed - before).mean()


def test_the_seed_decides():
    first, again, other = (Gust(1.0, 0.5, seed).velocity(FLAT, 0.1, np.zeros(3)) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


def test_whether_it_blows():
    assert not Wind(1.2).blows
    assert Wind(1.2, keys=KEYS).blows
    assert Wind(1.2, gust=Gust(1.0, 0.5)).blows


@pytest.mark.parametrize("keys", [((1.0, (0.0, 0.0, 0.0)), (1.0, (1.0, 0.0, 0.0))), ((0.0, (1.0, 0.0)),)])
def test_bad_keys_are_refused(keys):
    with pytest.raises(InputError, match="wind: "):
        Wind(1.2, keys=keys)


@pytest.mark.parametrize("bad", [{"speed": -1.0, "length": 1.0}, {"speed": 1.0, "length": 0.0}])
def test_bad_gusts_are_refused(bad):
    with pytest.raises(InputError, match="gust: "):
        Gust(**bad)
