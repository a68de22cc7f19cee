"""Standard tests of tearing: their numbers from cracks, forces and work."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.analysis.tear_tests import TornSheet, essential_work, find_torn_sheets, handle_sheets, parted_sheets
from crumple.shapes import rectangle
from crumple.state import Pins, State, initial_state
from crumple.state.transfer import merge
from crumple.tearing.slits import slit_open

SIDE, THICKNESS = 0.02, 1e-4


def sheets(*depths: float) -> State:
    """Squares side by side that are slit from the left by the `depths` [m]; handle k holds the lower side of the sheet
    k."""
    states = []
    for depth in depths:
        mesh, x = rectangle(SIDE, SIDE, 4e-3, kind="delaunay", seed=0)
        states.append(slit_open(initial_state(mesh, x, step_size=1.0), np.array([[0.0, 0.0102], [depth, 0.0102]])))
    state = merge(states)
    low = np.unique(state.mesh.vertex_node[state.mesh.u[:, 1] < 1e-9]).astype(np.int32)
    pins = Pins(low, state.mesh.node_sheet[low].astype(np.int32), np.ascontiguousarray(state.x[low]))
    return state.replaced(pins=pins)


def test_a_sheet_slit_through_is_in_two():
    assert parted_sheets(sheets(0.01, SIDE).mesh) == {1}


def test_the_work_of_a_handle_counts_for_the_only_sheet_that_it_holds():
    state = sheets(SIDE, SIDE)
    assert handle_sheets(state) == {0: 0, 1: 1}
    both = state.replaced(pins=Pins(state.pins.node, np.zeros_like(state.pins.handle), state.pins.anchor))
    assert handle_sheets(both) == {}


def test_a_torn_sheet_tells_its_work_and_strength_per_torn_area():
    state = sheets(0.01, SIDE)
    found = find_torn_sheets(
        state, {0: 0.01, 1: SIDE}, {0: THICKNESS, 1: THICKNESS}, {0: 1.0, 1: 0.012}, {0: 9.0, 1: 50.0}
    )
    assert [one.sheet for one in found] == [1]
    assert found[0].work_per_area == pytest.approx(0.012 / (SIDE * THICKNESS))
    assert found[0].strength == pytest.approx(50.0 / (SIDE * THICKNESS))


def test_the_essential_work_is_that_of_no_ligament():
    essential, slope = 6000.0, 3e5
    torn = [
        TornSheet(k, length, length * THICKNESS, (essential + slope * length) * length * THICKNESS, 1.0)
        for k, length in enumerate((0.006, 0.01, 0.014))
    ]
    assert essential_work(torn) == pytest.approx((essential, slope))
    assert essential_work(torn[:2]) is None
    assert essential_work([torn[0]] * 3) is None
