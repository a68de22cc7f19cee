"""What cannot be true of a state is told: tips of cracks that end none, damage below nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recording_samples import sample_state

from crumple.state import make_tips
from crumple.state.problems import state_problems


@pytest.fixture
def torn():
    """A state whose first node, a corner, is the tip of a crack."""
    state = sample_state()
    assert state.mesh.boundary_nodes[0]
    return state.replaced(tips=make_tips(np.array([0]), np.array([[1.0, 0.0]]), np.zeros((1, 2)), np.array([0])))


def test_a_sound_state_has_no_problems(torn):
    assert state_problems(torn) == []


def test_a_tip_inside_the_sheet_is_told(torn):
    inner = np.flatnonzero(~torn.mesh.boundary_nodes)[:1].astype(np.int32)
    (problem,) = state_problems(torn.replaced(tips=replace(torn.tips, node=inner)))
    assert f"node {inner[0]} is not on the border" in problem


@pytest.mark.parametrize("heading", [[0.0, 0.0], [3.0, 0.0]])
def test_a_tip_without_a_direction_is_told(torn, heading):
    (problem,) = state_problems(torn.replaced(tips=replace(torn.tips, heading=np.array([heading]))))
    assert "no unit vector" in problem


def test_damage_below_nothing_is_told(torn):
    damage = torn.damage.copy()
    damage[3] = -0.1
    (problem,) = state_problems(torn.replaced(damage=damage))
    assert "damage of face 3 is -0.1" in problem
