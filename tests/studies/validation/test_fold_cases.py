"""The references of the origami cases: relations of rigid facets, checked against the closing of their vertices."""

from __future__ import annotations

import numpy as np
import pytest
from pattern_measures import vertex_misfit

from crumple.patterns import check_pattern, waterbomb
from crumple.patterns.rigid import fit_angles
from crumple.studies.validation.kresling import HEIGHT, RADIUS, SIDES, TWIST, push, second_state, truss
from crumple.studies.validation.waterbomb import mountain_angle, octagon, pop, popped_state, rest_state, vertex_angles


def test_second_state_of_the_kresling_tube_has_the_same_edges():
    height, twist = second_state(SIDES, RADIUS, HEIGHT, TWIST)
    assert 1e3 * height == pytest.approx(34.90, abs=5e-3)
    assert np.degrees(twist) == pytest.approx(75.0, abs=1e-9)
    for around in (0.0, 2 * np.pi / SIDES):
        lengths = [h**2 + 2 * RADIUS**2 * (1 - np.cos(phi + around)) for h, phi in ((HEIGHT, TWIST), (height, twist))]
        assert lengths[0] == pytest.approx(lengths[1], rel=1e-12)


def test_a_truss_is_unstrained_in_both_states_only():
    height, twist = second_state(SIDES, RADIUS, HEIGHT, TWIST)
    assert truss(HEIGHT) == pytest.approx((TWIST, 0.0), abs=1e-4)
    assert truss(height) == pytest.approx((twist, 0.0), abs=1e-4)
    worst = max(truss(h)[1] for h in np.linspace(height, HEIGHT, 40))
    assert worst == pytest.approx(5.2e-3, abs=2e-4)


@pytest.mark.parametrize("valley", np.radians([10.0, 45.0, 90.0, 150.0, 179.0]))
def test_six_creases_close_by_the_relation(valley):
    pattern = waterbomb(1, 1, 0.06)
    angle = np.where(pattern.assignment == "V", -valley, np.where(pattern.assignment == "M", mountain_angle(valley), 0))
    assert pattern.creases.sum() == 6
    assert vertex_misfit(pattern, angle)[1].max() < 1e-9
    assert check_pattern(pattern, angle) == []
    wrong = np.where(pattern.assignment == "M", 0.8 * angle, angle)
    assert vertex_misfit(pattern, wrong)[1].max() > 1e-3


@pytest.mark.parametrize("tilt", np.radians([50.0, 75.0, 89.0, 95.0, 120.0]))
def test_eight_creases_close_on_both_branches(tilt):
    pattern = octagon()
    mountain, valley = vertex_angles(tilt)
    assert mountain > 0 > valley
    angle = np.where(pattern.assignment == "M", mountain, np.where(pattern.assignment == "V", valley, 0.0))
    assert vertex_misfit(pattern, angle)[1].max() < 1e-9
    np.testing.assert_allclose(fit_angles(pattern, angle), angle, atol=1e-6)


def test_eight_creases_have_a_second_minimum():
    np.testing.assert_allclose(np.degrees(rest_state()), (25.33, 60.0), atol=0.01)
    popped = popped_state()
    np.testing.assert_allclose(np.degrees(popped.angles), (43.2, 18.1), atol=0.05)
    assert popped.share == pytest.approx(0.49, abs=5e-3)


@pytest.mark.slow
def test_what_is_pushed_a_little_returns():
    """A push that does not reach the barrier leaves both where they were; the checks of the cases could fail."""
    height, _ = second_state(SIDES, RADIUS, HEIGHT, TWIST)
    _, rest = push(0.1 * (HEIGHT - height))
    assert rest.height == pytest.approx(HEIGHT, rel=1e-4)
    np.testing.assert_allclose(pop(0.2).angles, rest_state(), atol=2e-3)
