"""What bending has taken for good: the sum of the moment over the plastic bend, as the yield law goes along it."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.materials import preset
from crumple.plasticity import bending_work, make_yield_law, uniform_yield_law, yield_curvature
from crumple.shapes import rectangle

LIMIT = 100.0


def bent(law, curvature: float, steps: int) -> tuple[float, tuple[np.ndarray, ...]]:
    """A face bent to `curvature` [1/m] in small steps: ∫ (S_e/(1 + γ δ)) dS_p [1/m²], and S, S_p, δ, C at the end."""
    plastic, damage, crease = np.zeros((1, 3)), np.zeros(1), np.zeros((1, 3))
    total, work = np.zeros((1, 3)), 0.0
    for value in np.linspace(0.0, curvature, steps)[1:]:
        total[0, 1] = value
        after = yield_curvature(law, total, plastic, damage, crease)
        moment = (value - after.plastic_curvature[0, 1]) / (1.0 + law.weakening[0] * after.damage[0])
        work += moment * (after.plastic_curvature[0, 1] - plastic[0, 1])
        plastic, damage = after.plastic_curvature, after.damage
    return work, (total, plastic, damage, crease)


@pytest.mark.parametrize("hardening", [0.0, 0.3])
@pytest.mark.parametrize("curvature", [150.0, 600.0])
def test_it_is_the_work_of_the_yield_law(hardening: float, curvature: float):
    law = uniform_yield_law(np.full(1, LIMIT), hardening=hardening)
    work, end = bent(law, curvature, 4000)
    assert bending_work(law, *end)[0] == pytest.approx(work, rel=0.01)


def test_it_is_that_of_paper_which_weakens():
    mesh, _ = rectangle(4e-3, 4e-3, 4e-3, kind="right")
    law = make_yield_law(mesh, (preset("paper80"),), crease_strength=0.3)
    one = type(law)(**{name: rows[:1] for name, rows in vars(law).items()})
    work, end = bent(one, 500.0, 4000)
    assert bending_work(one, *end)[0] == pytest.approx(work, rel=0.02)


def test_what_is_straight_again_or_was_bent_before_has_taken_nothing():
    law = uniform_yield_law(np.full(1, LIMIT))
    _, (total, plastic, damage, crease) = bent(law, 400.0, 50)
    assert bending_work(law, np.zeros((1, 3)), plastic, damage, crease)[0] == 0.0
    before = np.array([[0.0, damage[0], 0.0]])  # all of the damage is a crease, none of it was made around a tip
    assert bending_work(law, total, plastic, damage, before)[0] == pytest.approx(0.0, abs=1e-9)
