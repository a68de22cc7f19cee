"""Creases that are driven to 180°: they stop where the thickness of the sheet does not let them close."""

from __future__ import annotations

import numpy as np
import pytest
from crease_samples import line_angles

from crumple.contact import find_intersections
from crumple.model.derived import Derived
from crumple.scenes import build, scene_from_tables
from crumple.simulation.frame import advance_frame

ROW = 5e-3
"""Height of the rows of faces beside the crease [m]."""


def closed(thickness, activation, *, double=False):
    """Model and state of a strip of paper that was folded in half with 0.6 N m/m, and the reports of its frames."""
    crease = {
        "line": [[0.03, 0], [0.03, 0.03]],
        "drive": "hard",
        "strength": 0.6,
        "double": double,
        "keys": [{"time": 0, "angle": 0}, {"time": 0.4, "angle": 180}],
    }
    sheet = {
        "material": "paper80",
        "shape": {"kind": "rectangle", "width": 0.06, "height": 0.03, "size": ROW, "style": "right"},
        "creases": [crease],
    }
    scene = {
        "run": {"frame_time": 0.05, "duration": 0.6},
        "environment": {"gravity": [0, 0, 0], "wind": {"density": 0, "drag": 5}},
        "plasticity": {"rule": "none"},
        "contact": {"activation": activation, "thickness": thickness},
        "sheets": [sheet],
    }
    model, state, _ = build(scene_from_tables(scene, source="flat"))
    reports = []
    for _ in range(12):
        state, report = advance_frame(model, state)
        reports.append(report)
    surface = Derived(model, state).surface(state.time)
    assert len(find_intersections(surface, state.x)) == 0
    return state, reports


@pytest.mark.slow
def test_a_thick_sheet_stalls_where_its_layers_meet():
    """180° − 2 asin(ξ/h) = 157° with the first row alone; the sheet bends a little beside it."""
    state, reports = closed(1e-3, 1e-4)
    assert 154.0 <= line_angles(state).mean() <= 169.0
    warnings = [warning for report in reports for warning in report.warnings]
    assert all("contact barrier stores" in warning for warning in warnings), warnings
    np.testing.assert_allclose(np.abs(state.creases.moment[:, 0]), 0.6, rtol=1e-6)  # it bears what it can


@pytest.mark.slow
def test_a_thin_sheet_closes_further():
    state, _ = closed(1e-4, 1e-3)
    assert line_angles(state).mean() >= 168.0


@pytest.mark.slow
def test_double_creases_close_entirely():
    """Both lines fold by 90°, as far apart as the layers need; the halves are parallel."""
    state, _ = closed(1e-3, 1e-4, double=True)
    angle, place = line_angles(state), state.creases.place[:, 0]
    assert len(np.unique(np.round(place, 6))) == 2
    np.testing.assert_allclose(np.ptp(place), 1.2 * 1.1e-3, rtol=1e-6)  # of thickness and activation
    assert 2.0 * angle.mean() >= 179.0
