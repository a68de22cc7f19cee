"""Loops that are compiled for one thread and for many give the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.contract import ENERGIES
from crumple.runtime.compiled import always_spread, is_few


@pytest.mark.parametrize("name", ["membrane_stvk", "bending_midedge"])
def test_both_versions_of_a_loop_give_the_same_bits(name):
    example = ENERGIES[name](np.random.default_rng(3))
    energy, x, half_turn = example.energy, example.poses["random"], example.half_turn
    assert is_few(energy.stencil)
    alone = energy.derivatives(x, half_turn, True), energy.value(x, half_turn)
    with always_spread():
        assert not is_few(energy.stencil)
        spread = energy.derivatives(x, half_turn, True), energy.value(x, half_turn)
    assert alone[1].tobytes() == spread[1].tobytes()
    for one, other in zip(alone[0], spread[0], strict=True):
        assert one.tobytes() == other.tobytes()
