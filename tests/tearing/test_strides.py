"""Cracks that run away: in strides, together, and alike where they are loaded alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crumple.scenes import build, scene_from_tables
from crumple.session.session import run
from crumple.state import State
from crumple.tearing.growth import _Loop
from crumple.tearing.tip_load import Load
from crumple.tearing.trials import Step

SIDE, HALF = 0.04, 0.008


def pulled(mode: str) -> State:
    """A sheet with a slit across its middle, which both its ends leave at once when it is pulled."""
    middle = 0.5 * SIDE
    tables: dict[str, Any] = {
        "run": {"frame_time": 0.02, "duration": 0.2},
        "solver": {"mode": mode, "max_step": 0.02},
        "environment": {"gravity": [0, 0, 0]},
        "tearing": {"initiation": False, "tip_size": 2e-3},
        "sheets": [
            {
                "shape": {"kind": "rectangle", "width": SIDE, "height": SIDE, "size": 3e-3, "style": "alternating"},
                "material": "paper80",
                "cuts": [{"line": [[middle - HALF, middle], [middle + HALF, middle]]}],
            }
        ],
        "handles": [
            {"name": side, "select": {"kind": "box", "low": low, "high": high}, "stiffness": 1e5, "motion": side}
            for side, low, high in (
                ("up", [-1, middle - 1e-3, -1], [1, 1, 1]),
                ("down", [-1, -1, -1], [1, 1e-3 - middle, 1]),
            )
        ],
        "motions": {side: {"rate": {"velocity": [0, speed, 0]}} for side, speed in (("up", 5e-3), ("down", -5e-3))},
    }
    model, state, _ = build(scene_from_tables(tables))
    for frame in range(1, 11):
        state = run(model, state, frames=frame)
        if len(state.tips.node) < 2:
            break
    return state


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_both_ends_of_a_slit_run_through_the_sheet(mode):
    torn = pulled(mode)
    assert len(torn.tips.node) == 0
    lengths = [torn.torn.length_of(crack) for crack in np.unique(torn.torn.crack).tolist()]
    assert len(lengths) == 2
    for length in lengths:
        assert length == pytest.approx(0.5 * SIDE - HALF, rel=0.03)
    assert torn.iterations < 400
    ledger = torn.ledger
    assert ledger.integrator > -0.02 * ledger.handles  # what is left was set free, never more taken than was there


def test_strides_go_by_overload_and_those_alike_to_one_length():
    step = Step(start=None, stage=None, obstacle_x=None, accuracy=1.0, pace=1e-3)  # type: ignore[arg-type]
    loop = _Loop(step, 2e-3)
    direction = np.array([1.0, 0.0])
    loads = [Load(direction, direction, 1.0, ratio, (1.0, ratio)) for ratio in (3.0, 2.0, 3.0)]
    strides = loop.strides(0, [1, 2], loads, [4e-3, 1e-3, 4e-3])
    assert strides[0] == strides[2] == pytest.approx(2e-3)
    assert strides[1] == pytest.approx(1e-3)
    behind = loop.strides(0, [1, 2], loads, [4e-3, 1e-3, 3.5e-3])
    assert behind[2] == pytest.approx(2.5e-3)
    assert behind[0] == pytest.approx(2e-3)
