"""The order of the time integration, its error estimate, and what it does to motion."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from simulation_samples import PAPER, free_sheet

from crumple.options.solver import EULER, TR_BDF2
from crumple.session.session import run
from crumple.stepping.schemes import Instant, path_error, reached, scheme_stages

SQUARE = 4.0
"""Square of the frequency of the oscillator [1/s²]."""


def advance(scheme: str, begin: Instant, step: float) -> list[Instant]:
    """All instants of one step of a harmonic oscillator."""
    instants = [begin]
    state = SimpleNamespace(time=0.0, **vars(begin))
    stages = scheme_stages(scheme, state, step)
    stage = next(stages)
    while True:
        predicted = stage.origin + stage.span * stage.drift
        instants.append(reached(stage, predicted / (1.0 + SQUARE * stage.span**2), begin.half_turn))
        try:
            stage = stages.send(instants[-1])
        except StopIteration:
            return instants


def oscillator(time: float) -> Instant:
    """The oscillator that was at x = 1 at rest at time 0, at `time` [s]."""
    x, v = np.cos(2.0 * time), -2.0 * np.sin(2.0 * time)
    return Instant(*(np.full((1, 3), value) for value in (x, v, -SQUARE * x)))


def swing(scheme: str, step: float, count: int) -> Instant:
    """The oscillator after `count` steps from x = 1 at rest."""
    now = oscillator(0.0)
    for _ in range(count):
        now = advance(scheme, now, step)[-1]
    return now


@pytest.mark.parametrize(("scheme", "order"), [(EULER, 1), (TR_BDF2, 2)])
def test_order_for_an_oscillator(scheme, order):
    exact = oscillator(1.0)
    ends = [swing(scheme, 1.0 / count, count) for count in (50, 100, 200)]
    errors = [max(np.abs(end.x - exact.x).max(), np.abs(end.v - exact.v).max()) for end in ends]
    ratios = np.array(errors[:-1]) / errors[1:]
    np.testing.assert_allclose(ratios, 2.0**order, rtol=0.05)


@pytest.mark.parametrize(("scheme", "power"), [(EULER, 2), (TR_BDF2, 3)])
def test_the_estimate_is_the_error_of_one_step(scheme, power):
    """From a point on the way: it agrees with the true error, and falls with its power of the step."""
    estimates = []
    for step in (0.02, 0.01):
        instants = advance(scheme, oscillator(0.5), step)
        estimates.append(path_error(scheme, instants, step)[0, 0])
        true = (instants[-1].x - oscillator(0.5 + step).x)[0, 0]
        assert estimates[-1] == pytest.approx(true, rel=0.15)
    assert estimates[0] / estimates[1] == pytest.approx(2.0**power, rel=0.1)


def test_a_step_may_have_any_length_without_growing():
    """|x|² + |v/ω|² of an oscillator never grows, however long the step is, and vanishes in very long ones."""
    for step in (0.1, 1.0, 10.0, 1e4):
        end = swing(TR_BDF2, step, 4)
        assert end.x[0, 0] ** 2 + end.v[0, 0] ** 2 / SQUARE <= 1.0
    assert end.x[0, 0] ** 2 + end.v[0, 0] ** 2 / SQUARE < 1e-6


def test_order_for_a_sheet():
    """A soft sheet that moves, turns, bends and is damped: half the step, a quarter of the error.

    It is soft so that the steps resolve all that it does. A first step so short that it does not count gives the
    acceleration.
    """
    soft = replace(PAPER, membrane=1e-5 * PAPER.membrane, damping=2e-3)
    model, state = free_sheet(0.04, motion_tolerance=1e-8, fixed_step=1e-7)
    model = replace(model, materials=(soft,), contact=replace(model.contact, enabled=False), frame_time=1e-7)
    state = run(model, state, frames=1).replaced(frame=0, time=0.0)
    ends = []
    for step in (4e-3, 2e-3, 1e-3, 5e-4):
        solver = replace(model.solver, fixed_step=step)
        ends.append(run(replace(model, solver=solver, frame_time=0.04), state, frames=1).x)
    changes = [np.abs(ends[k + 1] - ends[k]).max() for k in range(3)]
    np.testing.assert_allclose([changes[0] / changes[1], changes[1] / changes[2]], 4.0, rtol=0.15)
