"""Inertia, weight, wind and pins against hand calculation."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.energies import Wind, make_gravity, make_holding, make_inertia, make_wind
from crumple.energies.examples import PATCH, patch_poses
from crumple.runtime.errors import InputError

X = patch_poses(np.random.default_rng(0))["random"]
STEP = 0.02


def test_free_fall_is_the_minimum_of_inertia_and_weight():
    """x̂ + dt² g has no force."""
    mass, g = np.linspace(1e-4, 1e-3, PATCH.node_count), np.array([0.0, 0.0, -9.81])
    inertia, gravity = make_inertia(mass, X, STEP), make_gravity(mass, g)
    y = X + STEP**2 * g
    np.testing.assert_allclose(inertia.gradient(y) + gravity.gradient(y), 0.0, atol=1e-12)
    assert np.isclose(gravity.value(y).sum() - gravity.value(X).sum(), (mass * 9.81**2 * STEP**2).sum() * -1.0)


def test_stencil_is_kept():
    """The solver reuses the assembly of a stencil that is the same array."""
    nodes = np.arange(PATCH.node_count, dtype=np.int32).reshape(-1, 1)
    assert make_inertia(np.ones(PATCH.node_count), X, STEP, nodes=nodes).stencil is nodes


def force(wind: Wind, velocity: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Total force [N] on the flat patch (normal +z) over a step in which it moves from rest_x to `end`."""
    start = patch_poses(np.random.default_rng(0))["flat"]
    v = np.broadcast_to(velocity, start.shape)
    return -make_wind(wind, PATCH.face_nodes, start, v, STEP).gradient(start + end).sum(axis=(0, 1))


def test_wind_presses_and_drags():
    """½ ρ A |w·n| (w·n) n + c A w_tangential on a sheet at rest."""
    area = PATCH.face_area.sum()
    np.testing.assert_allclose(
        force(Wind(1.2, (3.0, 0.0, -2.0), 0.5), np.zeros(3), np.zeros(3)),
        [0.5 * area * 3.0, 0.0, -0.5 * 1.2 * area * 4.0],
        atol=1e-15,
    )


def test_no_force_when_moving_with_the_wind():
    wind = Wind(1.2, (3.0, 1.0, -2.0), 0.5)
    velocity = np.array(wind.velocity)
    np.testing.assert_allclose(force(wind, velocity, STEP * velocity), 0.0, atol=1e-15)


def test_still_air_brakes():
    velocity = np.array([1.0, 2.0, 3.0])
    assert force(Wind(1.2, drag=0.1), velocity, STEP * velocity) @ velocity < 0.0
    assert Wind().is_vacuum


def test_pins_pull_towards_their_targets():
    nodes, stiffness = np.array([2, 5], np.int32), np.array([10.0, 0.0])
    pins = make_holding(nodes, X[nodes] + [0.0, 0.0, 0.1], stiffness)
    np.testing.assert_allclose(pins.gradient(X)[:, 0], [[0, 0, -1.0], [0, 0, 0]], atol=1e-14)


@pytest.mark.parametrize("bad", [{"density": -1.0}, {"drag": float("nan")}, {"velocity": (1.0, 2.0)}])
def test_bad_wind_is_refused(bad):
    with pytest.raises(InputError, match="wind: "):
        Wind(**bad)
