"""The field of stress around a tip is found from the tension of faces."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.studies.validation.inclined_slit import expected_kink, pull_slit
from crumple.tearing.williams import Field, fit_field

SIZE = 2e-3


def faces(seed: int = 0, count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Middles (n, 2) [m] of faces around a tip, and their areas (n,) [m²]."""
    random = np.random.default_rng(seed)
    radius, angle = random.uniform(0.8, 4.0, count) * SIZE, random.uniform(-3.1, 3.1, count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), random.uniform(0.5, 1.5, count) * SIZE**2


def turned(points: np.ndarray, tension: np.ndarray, way: float) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 2) and tensions (n, 3) turned by `way` [rad]."""
    turn = np.array([[np.cos(way), -np.sin(way)], [np.sin(way), np.cos(way)]])
    full = np.stack([tension[:, [0, 2]], tension[:, [2, 1]]], axis=1)
    full = turn @ full @ turn.T
    return points @ turn.T, np.stack([full[:, 0, 0], full[:, 1, 1], full[:, 0, 1]], axis=1)


def near_field(points: np.ndarray, opening: float, sliding: float) -> np.ndarray:
    """The tension (n, 3) of K_I and K_II from Westergaard's functions Z = K/√(2πz): complex, unlike the fit."""
    z = points[:, 0] + 1j * points[:, 1]
    root, slope = 1.0 / np.sqrt(2.0 * np.pi * z), -0.5 / (np.sqrt(2.0 * np.pi * z) * z)
    y = points[:, 1]
    one = np.stack([root.real - y * slope.imag, root.real + y * slope.imag, -y * slope.real], axis=1)
    two = np.stack([2.0 * root.imag + y * slope.real, -y * slope.real, root.real - y * slope.imag], axis=1)
    return opening * one + sliding * two


@pytest.mark.parametrize("way", [0.0, 0.7, 2.9, -1.6])
def test_intensities_are_those_of_westergaards_functions_with_any_tension_along_the_crack(way):
    points, area = faces()
    tension = near_field(points, 3.0, -1.2)
    tension[:, 0] += 5.0
    points, tension = turned(points, tension, way)
    field = fit_field(points, area, np.ascontiguousarray(tension), np.array([np.cos(way), np.sin(way)]), SIZE)
    assert field is not None
    assert (field.opening, field.sliding) == pytest.approx((3.0, -1.2), rel=1e-9)
    assert field.residual < 1e-6


def test_what_is_no_field_of_a_crack_is_told_by_its_residual():
    points, area = faces()
    tension = np.random.default_rng(1).normal(size=(len(points), 3))
    field = fit_field(points, area, tension, np.array([1.0, 0.0]), SIZE)
    assert field is not None
    assert field.residual > 0.7
    assert fit_field(points[:5], area[:5], tension[:5], np.array([1.0, 0.0]), SIZE) is None


@pytest.mark.parametrize(("opening", "sliding", "angle"), [(1.0, 0.0, 0.0), (0.0, 1.0, -70.53), (1.0, -1.0, 53.13)])
def test_a_crack_kinks_to_where_the_hoop_tension_is_largest(opening, sliding, angle):
    field = Field(opening, sliding, np.array([0.0, 1.0]), 0.0)
    kink = field.kink
    assert np.degrees(np.arctan2(-kink[0], kink[1])) == pytest.approx(angle, abs=0.01)
    every = np.linspace(-1.4, 1.4, 2001)
    around = np.stack([-np.sin(every), np.cos(every)], axis=1)
    assert field.hoop(around).max() <= field.hoop(kink[None])[0] + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("angle", "style"), [(20.0, "delaunay"), (45.0, "equilateral"), (70.0, "alternating")])
def test_a_slit_at_an_angle_kinks_by_the_hoop_stress_at_the_load_of_theory(angle, style):
    for kink, load in pull_slit(angle, style):
        assert kink == pytest.approx(expected_kink(angle).angle, abs=4.0)
        assert load == pytest.approx(1.0, abs=0.06)
