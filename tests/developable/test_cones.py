"""Cones through rulings: exact ones are recovered, and rulings of twisted strips are found."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.developable.cones import fit_cone, ruling_normals, split_cones
from crumple.runtime.typing import Floats

SIZE = 0.1


def cone(distance: float, half_angle: float = 0.6, count: int = 9) -> tuple[Floats, Floats]:
    """Rulings of a cone of revolution whose apex, the origin, is `distance` away from them [m]."""
    turn = np.linspace(-0.5, 0.5, count)
    way = np.stack(
        [np.sin(half_angle) * np.sin(turn), np.full(count, np.cos(half_angle)), np.sin(half_angle) * np.cos(turn)],
        axis=1,
    )
    return distance * way, (distance + SIZE) * way


def cylinder(count: int = 9) -> tuple[Floats, Floats]:
    turn = np.linspace(-0.5, 0.5, count)
    p = 0.08 * np.stack([np.sin(turn), np.zeros(count), np.cos(turn)], axis=1)
    return p, p + np.array([0.0, SIZE, 0.0])


@pytest.mark.parametrize("distance", [0.01, 0.1, 1.0])
def test_the_apex_of_an_exact_cone_is_found(distance: float) -> None:
    shift = np.array([0.3, -0.2, 0.1])
    p, q = cone(distance)
    found = fit_cone(p + shift, q + shift, SIZE)
    assert found.error.max() < 1e-8
    assert np.allclose(found.apex[:3] / found.apex[3], shift, rtol=0.0, atol=1e-8 * max(1.0, distance / SIZE) ** 2)


def test_a_cylinder_has_its_apex_at_infinity() -> None:
    found = fit_cone(*cylinder(), SIZE)
    assert found.error.max() < 1e-8
    assert abs(found.apex[3]) < 1e-8
    assert abs(abs(found.apex[1]) - 1.0) < 1e-8


def test_normals_of_a_cone_are_those_of_its_tangent_planes() -> None:
    p, q = cone(0.1)
    normal = ruling_normals(p, q)
    assert np.abs(np.sum(normal * p[1:-1], axis=1)).max() < 1e-12  # all go through the apex, the origin
    radial = p[1:-1] - np.array([0.0, 1.0, 0.0]) * np.linalg.norm(p[1:-1], axis=1)[:, None] / np.cos(0.6)
    exact = radial / np.linalg.norm(radial, axis=1)[:, None]
    assert np.abs(np.abs(np.sum(normal * exact, axis=1)) - 1.0).max() < 1e-8


def test_one_cone_is_one_run() -> None:
    (run,) = split_cones(*cone(0.05), SIZE, 5e-4)
    assert run[:2] == (0, 9)


def test_a_cylinder_and_a_cone_are_told_apart() -> None:
    """A cylinder continued smoothly by a cone of the same tangent plane at the common ruling."""
    p, q = cylinder(9)
    tip = q[-1]
    way, normal = (p[-1] - q[-1]) / SIZE, np.array([np.sin(0.5), 0.0, np.cos(0.5)])
    across = np.cross(way, normal)
    if across @ (p[-1] - p[-2]) < 0.0:
        across = -across
    turn = np.linspace(0.12, 0.9, 8)[:, None]
    lines = np.cos(turn) * way + np.sin(turn) * across - 0.5 * turn**2 * normal
    lines /= np.linalg.norm(lines, axis=1)[:, None]
    runs = split_cones(
        np.concatenate([p, tip + SIZE * lines]), np.concatenate([q, tip + 0.2 * SIZE * lines]), SIZE, 2e-4
    )
    assert len(runs) == 2
    assert all(run[2].error.max() <= 2e-4 for run in runs)
    assert abs(runs[0][2].apex[3]) < 0.05
    assert abs(runs[1][2].apex[3]) > 0.5
