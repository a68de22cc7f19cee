"""Geometric stiffness by the stress that was predicted on the way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crumple.energies.membrane_stvk import MembraneStvk, example
from crumple.geometry.triangle import green_strain
from crumple.runtime.typing import Floats


def bent_membrane(rng: np.random.Generator) -> tuple[MembraneStvk, Floats, Floats]:
    """A membrane, a pose, and the pose that a step to it came from."""
    made = example(rng)
    assert isinstance(made.energy, MembraneStvk)
    x = made.poses["flat"] + 0.05 * rng.standard_normal(made.poses["flat"].shape)
    return made.energy, x, x + 0.1 * rng.standard_normal(x.shape)


@pytest.mark.parametrize("project", [False, True])
def test_the_stress_is_that_of_the_linear_model_of_the_last_step(project: bool) -> None:
    """C (E − ½ HᵀH), so what a membrane has that was stretched by ½ HᵀH before."""
    energy, x, before = bent_membrane(np.random.default_rng(3))
    blocks = energy.hessian(x, project)
    energy.predict(x, before, project, blocks)
    # ½ HᵀH of a step is the Green strain of its gradient alone, plus ½ I
    stretch = green_strain(x - before, energy.stencil, energy.gradients) + np.array([0.5, 0.5, 0.0])
    wanted = replace(energy, rest_strain=energy.rest_strain + stretch).hessian(x, project)
    assert np.abs(blocks - wanted).max() < 1e-9 * np.abs(wanted).max()


def test_without_a_step_nothing_changes() -> None:
    energy, x, _ = bent_membrane(np.random.default_rng(3))
    blocks = energy.hessian(x, False)
    kept = blocks.copy()
    energy.predict(x, x, False, blocks)
    assert np.array_equal(blocks, kept)


def test_a_membrane_that_is_ready_predicts_the_same() -> None:
    energy, x, before = bent_membrane(np.random.default_rng(3))
    ready = energy.ready()
    ready.expand(x, np.zeros(0), True, np.zeros_like(x), np.zeros(0))
    ready.predict(x, before, True)
    blocks = energy.hessian(x, True)
    energy.predict(x, before, True, blocks)
    assert np.allclose(ready.blocks, blocks, rtol=1e-12, atol=0.0)
