"""The contact stiffness that the start and the motions of a model ask for."""

from dataclasses import replace

import numpy as np
import pytest
from simulation_samples import PAPER, falling_sheet, press

from crumple.options.contact import ContactOptions
from crumple.scenes.start.impact import impact_stiffness


def thrown(speed, **contact):
    model, state = falling_sheet()
    model = replace(model, contact=replace(model.contact, **contact))
    return impact_stiffness(model, state.replaced(v=np.tile([0.0, 0.0, -speed], (len(state.x), 1))))


def test_slow_scenes_keep_the_usual_stiffness():
    assert thrown(0.5) == ContactOptions.stiffness
    assert impact_stiffness(*press()) == ContactOptions.stiffness


def test_a_flat_impact_ends_at_a_tenth_of_the_gap():
    """With a thin gap the energy of motion decides: ½ ρ v² = κ D b(0.1)."""
    stiffness = thrown(50.0, activation=1e-6)
    assert stiffness * 1e-6 * 0.81 * np.log(10) == pytest.approx(0.5 * PAPER.density * 50.0**2, rel=0.05)


def test_on_its_edge_the_pressure_wave_decides():
    assert thrown(200.0, activation=0.1) == pytest.approx(2 * thrown(100.0, activation=0.1), rel=0.05)
    assert thrown(200.0, activation=0.1) > ContactOptions.stiffness


def test_moving_obstacles_count():
    model, state = press(closing=50.0)
    assert impact_stiffness(model, state) > 1.5 * ContactOptions.stiffness
