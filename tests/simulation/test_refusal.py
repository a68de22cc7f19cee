"""What a run does not do: penetrate, start intersecting, go on with numbers that are none."""

from __future__ import annotations

import numpy as np
import pytest
from simulation_samples import falling_sheet, press

from crumple.contact import find_intersections
from crumple.model.derived import Derived
from crumple.runtime.errors import InputError
from crumple.scenes import SceneError, build, scene_from_tables
from crumple.session.session import run
from crumple.simulation.observers import Statistics
from crumple.state import initial_state


def test_a_plate_without_room_is_held_back():
    model, state = press()
    reports = Statistics()
    last = run(model, state, [reports])
    told = [warning for frame in reports.frames for warning in frame.warnings]
    warnings = [warning for warning in told if "no room" in warning]  # not what the ledger says of contact
    assert warnings
    assert all("'upper'" in warning and "t = " in warning for warning in warnings)
    assert last.obstacle_lag[1] > 0.0
    assert last.obstacle_lag[0] == 0.0

    height = last.obstacle_x[4:, 2]
    assert np.all(height >= 2e-3)  # the sheet and half of each plate are 1 mm + ½ mm + ½ mm thick
    assert np.all(height < 5e-3)  # but it came down as far as it could
    assert np.all(last.x[:, 2] >= 1e-3)
    surface = Derived(model, last).surface(last.time)
    assert surface is not None
    assert len(find_intersections(surface, np.concatenate([last.x, last.obstacle_x]))) == 0
    assert last.time == pytest.approx(model.duration)  # the run goes on

    opened = run(model, last, frames=10)
    assert np.all(opened.obstacle_lag == 0.0)
    assert opened.obstacle_x == pytest.approx(model.obstacle_positions(0.4))


def test_an_intersecting_scene_is_refused():
    shape = {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.02}
    tables = {
        "sheets": [{"name": "page", "material": "paper80", "shape": shape}],
        "obstacles": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.03}}],
    }
    with pytest.raises(SceneError, match="'page' and 'ball' intersect"):
        build(scene_from_tables(tables))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["x", "v"])
def test_numbers_that_are_none_are_refused(field, bad):
    _, state = falling_sheet()
    arrays = {"x": state.x.copy(), "v": state.v.copy()}
    arrays[field][3, 1] = bad
    with pytest.raises(InputError, match="finite"):
        initial_state(state.mesh, arrays["x"], v=arrays["v"])
