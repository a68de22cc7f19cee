"""The pressure on a container is the work that it takes to shrink it, per volume."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.analysis.confinement import measure_confinement
from crumple.analysis.energies import energy_split
from crumple.analysis.pressure import PressureCurve, container_pressures, container_volumes, equal_pressure
from crumple.model.model import Model
from crumple.scenes import build, scene_from_tables
from crumple.state import State

PAPER = {"young": 1e9, "thickness": 1e-4, "density": 0.1}
FAR = 0.5
"""Distance between containers [m]."""


def containers(radii: tuple[float, ...]) -> tuple[Model, State]:
    """Squares with corners at 70.7 mm, each in a sphere; contact begins at 2 mm."""
    shape = {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.02}
    centers = [[FAR * k, 0.0, 0.0] for k in range(len(radii))]
    return build(
        scene_from_tables(
            {
                "contact": {"activation": 2e-3, "stiffness": 1e6},
                "sheets": [
                    {"shape": shape, "material": PAPER, "transform": {"translate": center}} for center in centers
                ],
                "obstacles": [
                    {"shape": {"kind": "sphere", "radius": radius, "center": center, "size": 6e-3, "inside": True}}
                    for radius, center in zip(radii, centers, strict=True)
                ],
            }
        )
    )[:2]


def test_pressure_is_work_per_volume():
    model, state = containers((0.0718,))
    pressure, volume = container_pressures(model, state)[0], container_volumes(model, state)[0]
    assert volume == pytest.approx(4 / 3 * np.pi * 0.0718**3, rel=0.02)
    energy, step = [], 1e-6
    for scale in (1 - step, 1 + step):
        energy.append(energy_split(model, state.replaced(obstacle_x=scale * state.obstacle_x))["contact"])
    assert pressure == pytest.approx(-(energy[1] - energy[0]) / (6 * step * volume), rel=1e-3)
    assert pressure > 0.0


def test_every_container_has_its_own_pressure():
    model, state = containers((0.0718, 0.09, 0.0718))
    first, loose, third = container_pressures(model, state)
    assert loose == 0.0
    assert first == pytest.approx(container_pressures(*containers((0.0718,)))[0], rel=1e-6)
    assert third > 0.0


def test_the_force_is_work_per_radius_and_single_layers_carry_none_of_it():
    """F = 4πR²P; a flat square in a sphere touches nothing but that."""
    model, state = containers((0.0718, 0.0718))
    radius, force, own, energy = measure_confinement(model, state)
    expected = 4.0 * np.pi * radius**2 * container_pressures(model, state)
    np.testing.assert_allclose(force, expected, rtol=0.02)  # a faceted ball has a little more surface
    assert (force > 0.0).all()
    assert (own == 0.0).all()
    assert energy.sum() == pytest.approx(energy_split(model, state)["contact"], rel=1e-9)


def test_layers_that_press_on_each_other_hand_force_on():
    """Two sheets closer than the reach of contact push apart: their virial is that of the energy when all is scaled."""
    flat = {"shape": {"kind": "rectangle", "width": 0.05, "height": 0.05, "size": 0.02}, "material": PAPER}
    above = {**flat, "transform": {"translate": [0.0, 0.0, 1e-3]}}
    sphere = {"kind": "sphere", "radius": 0.09, "center": [0.0, 0.0, 0.0], "size": 8e-3, "inside": True}
    tables = {
        "contact": {"activation": 2e-3, "stiffness": 1e6},
        "sheets": [flat, above],
        "obstacles": [{"shape": sphere}],
    }
    model, state = build(scene_from_tables(tables))[:2]
    (radius,), (force,), (own,), _ = measure_confinement(model, state)
    step = 1e-6
    energy = [energy_split(model, state.replaced(x=scale * state.x))["contact"] for scale in (1 - step, 1 + step)]
    assert force == 0.0
    assert own * radius == pytest.approx(-(energy[1] - energy[0]) / (2 * step), rel=1e-3)
    assert own > 0.0


def power_curve(radius: np.ndarray, size: float, steepness: float) -> PressureCurve:
    """1 kPa at the radius `size`."""
    return PressureCurve(radius, 1000.0 * (size / radius) ** steepness)


@settings(deadline=None, max_examples=20)
@given(st.floats(2.0, 12.0), st.floats(100.0, 5000.0))
def test_radii_at_a_pressure_come_back(steepness, pressure):
    sizes = np.array([0.03, 0.02, 0.05])
    curves = [power_curve(np.linspace(1.5, 0.9, 20) * size, size, steepness) for size in sizes]
    found = equal_pressure(curves, pressure)
    assert found.steepness == pytest.approx(steepness)
    assert found.radius == pytest.approx(sizes * (1000.0 / pressure) ** (1 / steepness))


def test_snapping_facets_move_the_radius_little():
    random = np.random.default_rng(3)
    curve = power_curve(np.linspace(0.05, 0.02, 60), 0.03, 6.0)
    noisy = PressureCurve(curve.radius, curve.pressure * random.lognormal(0.0, 0.8, 60))
    found = equal_pressure([noisy], 1000.0)
    assert found.radius == pytest.approx([0.03], rel=0.05)
    assert found.radius != pytest.approx([0.03], rel=1e-4)


def test_pressure_that_falls_or_is_missing_gives_none():
    radius = np.linspace(0.05, 0.02, 60)
    rising = power_curve(radius, 0.03, 6.0)
    assert equal_pressure([PressureCurve(radius, radius)], 1000.0) is None
    assert equal_pressure([rising, rising.below(0.0)], 1000.0) is None
    assert equal_pressure([], 1000.0) is None


def test_only_the_crumpled_part_counts():
    radius = np.linspace(0.05, 0.02, 4)
    part = PressureCurve(radius, np.array([5.0, 0.0, 1.0, 2.0])).below(0.045)
    assert part.radius == pytest.approx(radius[2:])
    assert part.pressure == pytest.approx([1.0, 2.0])
