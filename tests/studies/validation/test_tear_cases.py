"""The cases of tearing with grain and with a blunt tool measure what they say."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.scenes import load_scene
from crumple.studies.validation.blunt_tool import SCENE_WIDTH, measure_swing, proportional, scaled_scene
from crumple.studies.validation.tear_grain import best_heading, expected_path, grained, headings
from crumple.studies.validation.two_point import SIDE, SLIT, tear_between


@pytest.mark.parametrize(("load", "angle", "ratio"), [(90.0, 45.0, 2.0), (80.0, 120.0, 2.0), (90.0, 10.0, 1.4)])
def test_the_best_heading_sets_free_most_for_what_it_takes(load, angle, ratio):
    every = np.linspace(load - 90.0, load + 90.0, 36001)
    grain = np.radians(every - angle)
    value = np.cos(np.radians(every - load)) / (np.cos(grain) ** 2 + ratio * np.sin(grain) ** 2)
    assert best_heading(load, angle, ratio) == pytest.approx(every[np.argmax(value)], abs=0.02)


def test_without_grain_the_crack_of_theory_runs_straight():
    path = expected_path(45.0, 1.0, 0.01)
    assert np.allclose(path[:, 0], 0.5 * SIDE, atol=1e-12)
    assert path[-1, 1] == pytest.approx(SLIT + 0.01)


@pytest.mark.slow
def test_the_grain_turns_a_crack_aside():
    rows = tear_between(0.015, 0.045, 6e-3, grained(45.0, 2.0))
    found, wanted, driven = headings(rows, 45.0, 2.0)
    assert driven - wanted > 20.0
    assert found == pytest.approx(wanted, abs=8.0)


def test_swings_are_measured():
    along = np.linspace(0.0, 0.2, 400)
    path = np.stack([0.007 * np.sin(2.0 * np.pi * along / 0.04), along], axis=1)
    swing = measure_swing(path, 0.02)
    assert swing.count == 10
    assert swing.amplitude == pytest.approx(0.014, rel=0.01)
    assert swing.wavelength == pytest.approx(0.04, rel=0.02)
    straight = measure_swing(path * [0.05, 1.0], 0.02)
    assert straight.count == 0
    assert np.isnan(straight.amplitude)


def test_what_is_not_proportional_is_found_out():
    assert proportional([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == pytest.approx(1.0)
    assert proportional([1.0, 2.0, 3.0], [5.0, 5.5, 6.0]) < 0.0
    assert np.isnan(proportional([1.0, 2.0, 3.0], [1.0, 2.0, np.nan]))


def test_the_scaled_scene_of_the_same_width_is_the_scene_itself():
    assert load_scene("tear-tool", scaled_scene(SCENE_WIDTH)) == load_scene("tear-tool")
    wide = load_scene("tear-tool", scaled_scene(0.03, 2.0))
    assert wide.obstacles[0].shape.radius == pytest.approx(0.015)
    assert wide.motions["drive"].rate.velocity == pytest.approx((0.0, 0.3, 0.0))
