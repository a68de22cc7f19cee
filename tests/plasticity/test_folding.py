"""A sheet folded in half under a roller stays folded: the example of the same name, some of its cases."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

spec = importlib.util.spec_from_file_location(
    "fold_in_half", Path(__file__).parents[2] / "examples" / "fold_in_half.py"
)
fold_in_half = importlib.util.module_from_spec(spec)
sys.modules["fold_in_half"] = fold_in_half  # where its dataclasses look themselves up
spec.loader.exec_module(fold_in_half)


@pytest.mark.long
def test_paper_stays_folded_at_a_sharp_crease(tmp_path):
    """Folded by more than 140°, the crease in the middle, about a row of the smallest elements wide."""
    state = fold_in_half.fold(100.0, 1.0, tmp_path / "run")
    left = fold_in_half.measure(state)
    assert left.angle > 2.5
    assert left.rows < 1.4
    middle = state.mesh.u[state.mesh.faces].mean(axis=1)[:, 0] - state.mesh.u[:, 0].mean()
    worn = state.damage > 0.5 * state.damage.max()
    assert np.abs(middle[worn]).max() < 3.0 * fold_in_half.SIZE_MIN


@pytest.mark.long
def test_what_yields_late_opens_far(tmp_path):
    """κ_y of 800 1/m opens by more than κ_y times the width of the crease, and a radian farther than paper."""
    left = fold_in_half.measure(fold_in_half.fold(800.0, 0.0, tmp_path / "run"))
    assert 0.8 < left.angle < 1.4
    assert np.pi - left.angle > 800.0 * left.width
