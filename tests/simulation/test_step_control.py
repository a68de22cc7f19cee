"""Every branch of the step control, without a simulation."""

from __future__ import annotations

import numpy as np
import pytest
from simulation_samples import free_sheet

from crumple.energies.inertia import node_masses
from crumple.errors import SimulationError
from crumple.simulation.model import SolverOptions
from crumple.simulation.step_control import (
    EASY,
    HARD,
    HOLD_AFTER,
    LONGER,
    SAFETY,
    Attempt,
    first_attempt,
    next_step_size,
    shorter_attempt,
    step_error,
)
from crumple.solving.newton import Ending, Outcome

OPTIONS = SolverOptions(max_step=0.04, min_step=1e-3)


@pytest.mark.parametrize(
    ("size", "remaining", "expected"),
    [
        (0.01, 0.04, 0.01),
        (0.03, 0.04, 0.02),  # the rest of a frame is divided evenly
        (0.1, 0.1, 0.1 / 3),  # no longer than the longest
        (0.04, 0.01, 0.01),  # not beyond the frame
        (0.01, 0.03 + 1e-14, 0.01),  # rounding does not add a step
    ],
)
def test_the_first_attempt_divides_what_is_left(size, remaining, expected):
    attempt = first_attempt(OPTIONS, size, remaining, hold=True)
    assert attempt.step == pytest.approx(expected)
    assert attempt.hold


def test_a_prescribed_step_is_taken():
    options = SolverOptions(fixed_step=0.01, max_step=0.002)
    assert first_attempt(options, 5.0, 0.04, hold=False).step == pytest.approx(0.01)


def test_a_failed_step_is_halved_and_remembers_what_it_cost():
    again = shorter_attempt(OPTIONS, Attempt(0.01, retries=1, iterations=7), Ending.NOT_CONVERGED, 5)
    assert again == Attempt(0.005, False, 2, 12)


@pytest.mark.parametrize(
    ("failed", "ending", "holds"),
    [
        (Attempt(0.01, retries=HOLD_AFTER), Ending.NO_ROOM, True),
        (Attempt(0.01, retries=HOLD_AFTER - 1), Ending.NO_ROOM, False),
        (Attempt(0.0015), Ending.NO_ROOM, True),  # there is no shorter step
        (Attempt(0.01, retries=HOLD_AFTER), Ending.NOT_ARRIVED, False),
        (Attempt(0.01, hold=True, retries=HOLD_AFTER), Ending.NO_ROOM, True),  # holding did not help: shorter
    ],
)
def test_obstacles_are_held_when_shorter_steps_do_not_help(failed, ending, holds):
    again = shorter_attempt(OPTIONS, failed, ending, 3)
    assert again.hold == holds
    assert again.step == (failed.step if holds and not failed.hold else 0.5 * failed.step)


@pytest.mark.parametrize("failed", [Attempt(0.0015), Attempt(0.0015, hold=True)])
def test_the_shortest_step_that_fails_ends_the_run(failed):
    ending = Ending.NO_ROOM if failed.hold else Ending.NOT_CONVERGED
    with pytest.raises(SimulationError, match=rf"{ending.value}.*solver\.min_step"):
        shorter_attempt(OPTIONS, failed, ending, 3)


@pytest.mark.parametrize(
    ("attempt", "wanted", "error", "iterations", "expected"),
    [
        (Attempt(0.01), 0.01, 1e-6, 1, LONGER * 0.01),  # all is well
        (Attempt(0.01), 0.015, 1e-6, 1, LONGER * 0.015),  # it was shortened to fit the frame only
        (Attempt(0.01), 0.08, 1e-6, 1, LONGER * 0.02),  # but no more than twice
        (Attempt(0.01), 0.01, 4.0, 1, 0.5 * SAFETY * 0.01),  # the error grows with the square of the step
        (Attempt(0.01, retries=1), 0.03, 1e-6, 1, 0.01),  # after trouble it does not grow
        (Attempt(0.01), 0.01, 1e-6, EASY + 1, 0.01),  # nor when the solve was not easy
        (Attempt(0.02), 0.02, 1e-6, 2 * HARD, 0.01),  # hard ones are shortened
        (Attempt(0.005), 0.005, 1e-6, 4 * HARD, 0.005),  # but not below an eighth of the longest
        (Attempt(0.04), 0.04, 1e-6, 1, 0.04),  # bounds
        (Attempt(0.001), 0.001, 100.0, 1, 0.001),
    ],
)
def test_the_next_step(attempt, wanted, error, iterations, expected):
    assert next_step_size(OPTIONS, attempt, wanted, error, iterations) == pytest.approx(expected)


def test_the_error_is_what_implicit_euler_misses():
    """A sheet that is accelerated by a everywhere is ½ dt² a off."""
    model, state = free_sheet()
    mass, size, step = node_masses(state.mesh, model.materials), 0.1, 0.01
    pull = np.array([0.0, 3.0, 4.0])
    x = state.x + step * (state.v + step * pull)
    outcome = Outcome(x, Ending.CONVERGED, 1, 0, 0.0, np.inf, ())
    expected = 0.5 * step**2 * 5.0 / (model.solver.step_error * size)
    assert step_error(model.solver, state, outcome, step, mass, size) == pytest.approx(expected)
    for options in (SolverOptions(fixed_step=0.01), SolverOptions(mode="static")):
        assert step_error(options, state, outcome, step, mass, size) == 0.0
