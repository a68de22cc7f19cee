"""Every branch of the step control, without a simulation."""

from __future__ import annotations

import numpy as np
import pytest
from simulation_samples import free_sheet

from crumple.energies.inertia import node_masses
from crumple.options.solver import EULER, TR_BDF2, SolverOptions
from crumple.runtime.errors import SimulationError
from crumple.solving.outcome import Ending, Outcome
from crumple.stepping.integration import StepPath
from crumple.stepping.schemes import Instant
from crumple.stepping.step_control import (
    DENSE_STEPS,
    EASY,
    HARD,
    HOLD_AFTER,
    LONGER,
    NEEDLESS,
    SAFETY,
    SHORTEST_IN_MOTION,
    Attempt,
    choose_scheme,
    first_attempt,
    next_attempt,
    next_step_size,
    remaining_dense_steps,
    step_error,
)

OPTIONS = SolverOptions(max_step=0.04, min_step=1e-3)
MODEL, STATE = free_sheet()


def step_path(
    ending: Ending = Ending.CONVERGED,
    *,
    scheme: str = EULER,
    iterations: int = 1,
    contacts: int = 0,
    loose: bool = False,
    velocities: tuple[np.ndarray, ...] = (),
) -> StepPath:
    """A step that ended so; `velocities` at its start and at the end of every stage."""
    stages = 1 if scheme == EULER else 2
    still = np.zeros_like(STATE.x)
    instants = tuple(Instant(STATE.x, v, still) for v in velocities or (still,) * (stages + 1))
    outcome = Outcome(STATE.x, STATE.half_turn, ending, iterations * stages, contacts, 0.0, np.inf, (), loose=loose)
    return StepPath(scheme, instants, outcome)


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
    moving = STATE.replaced(step_size=size, has_acceleration=True)
    attempt = first_attempt(OPTIONS, moving, remaining, hold=False)
    assert attempt.step == pytest.approx(expected)
    assert not attempt.dense
    assert not attempt.hold


def test_the_first_step_of_a_run_is_short():
    """It is of first order only, because no acceleration is known yet."""
    attempt = first_attempt(OPTIONS, STATE.replaced(step_size=OPTIONS.max_step), OPTIONS.max_step, hold=False)
    assert attempt.step == pytest.approx(OPTIONS.max_step / 16)


def test_the_first_attempt_goes_on_as_before():
    """In dense contact, or with obstacles that are held, the step is taken as in dense contact."""
    assert first_attempt(OPTIONS, STATE.replaced(dense_steps=1), 0.01, hold=False).dense
    held = first_attempt(OPTIONS, STATE, 0.01, hold=True)
    assert held.hold
    assert held.dense


def test_a_prescribed_step_is_taken():
    options = SolverOptions(fixed_step=0.01)
    assert first_attempt(options, STATE.replaced(step_size=5.0), 0.04, hold=False).step == pytest.approx(0.01)


def test_a_failed_step_is_halved_and_remembers_what_it_cost():
    again = next_attempt(OPTIONS, Attempt(0.01, retries=1, iterations=7), Ending.NOT_CONVERGED,
                         step_path(Ending.NOT_CONVERGED, iterations=5), 0.0)  # fmt: skip
    assert again == Attempt(0.005, False, False, 2, 12, "Newton's method did not converge")
    touching = next_attempt(
        OPTIONS, Attempt(0.01), Ending.NOT_CONVERGED, step_path(Ending.NOT_CONVERGED, contacts=3), 0.0
    )
    assert touching.dense


def test_an_inaccurate_step_of_second_order_is_shortened_by_its_error():
    """The error grows with the third power; steps in motion do not get much shorter than a fraction of the longest."""
    failed = step_path(scheme=TR_BDF2)
    again = next_attempt(OPTIONS, Attempt(0.04), Ending.INACCURATE, failed, 8.0)
    assert again.step == pytest.approx(0.04 * SAFETY / 2.0)
    again = next_attempt(OPTIONS, Attempt(0.04), Ending.INACCURATE, failed, 1e9)
    assert again.step == pytest.approx(0.04 * SHORTEST_IN_MOTION)


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
    again = next_attempt(OPTIONS, failed, ending, step_path(ending), 0.0)
    assert again.hold == holds
    assert again.step == (failed.step if holds and not failed.hold else 0.5 * failed.step)


@pytest.mark.parametrize("failed", [Attempt(0.0015), Attempt(0.0015, hold=True)])
def test_the_shortest_step_that_fails_ends_the_run(failed):
    ending = Ending.NO_ROOM if failed.hold else Ending.NOT_CONVERGED
    with pytest.raises(SimulationError, match=rf"{ending.value}.*solver\.min_step"):
        next_attempt(OPTIONS, failed, ending, step_path(ending), 0.0)


def test_the_scheme_of_an_attempt():
    assert choose_scheme(OPTIONS, Attempt(0.01), has_acceleration=True) == TR_BDF2
    assert choose_scheme(OPTIONS, Attempt(0.01), has_acceleration=False) == EULER
    assert choose_scheme(OPTIONS, Attempt(0.01, dense=True), has_acceleration=True) == EULER


@pytest.mark.parametrize(
    ("attempt", "before", "found", "expected"),
    [
        (Attempt(0.04), 0, step_path(), 0),
        (Attempt(0.04), 0, step_path(contacts=5, iterations=NEEDLESS + 1), DENSE_STEPS),  # too costly
        (Attempt(0.04), 0, step_path(iterations=NEEDLESS + 1), 0),  # but not because of contact
        (Attempt(0.02), 0, step_path(contacts=5, iterations=NEEDLESS // 2 + 1), DENSE_STEPS),  # over the longest step
        (Attempt(0.04), 0, step_path(contacts=5, loose=True), DENSE_STEPS),
        (Attempt(0.04, dense=True), 0, step_path(), DENSE_STEPS),  # it has just begun
        (Attempt(0.04, dense=True), 3, step_path(), 2),
        (Attempt(0.04, dense=True), 3, step_path(loose=True), DENSE_STEPS),
    ],
)
def test_dense_contact_lasts_some_steps(attempt, before, found, expected):
    assert remaining_dense_steps(OPTIONS, attempt, before, found.outcome) == expected
    assert remaining_dense_steps(SolverOptions(mode="static"), attempt, before, found.outcome) == 0


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
        (Attempt(0.002), 0.002, 1e-6, 4 * HARD, LONGER * 0.002),  # up to which they grow, however hard,
        (Attempt(0.004), 0.004, 1e-6, 4 * HARD, 0.005),  # and no further
        (Attempt(0.002), 0.002, 1e-6, EASY + 1, LONGER * 0.002),
        (Attempt(0.04), 0.04, 1e-6, 1, 0.04),  # bounds
        (Attempt(0.001), 0.001, 100.0, 1, 0.001),
    ],
)
@pytest.mark.parametrize("scheme", [EULER, TR_BDF2])
def test_the_next_step(attempt, wanted, error, iterations, expected, scheme):
    error = error ** (1.5 if scheme == TR_BDF2 and error > 1.0 else 1.0)  # the third power instead of the second
    found = step_path(scheme=scheme, iterations=iterations)
    assert next_step_size(OPTIONS, attempt, wanted, found, error) == pytest.approx(expected)


def test_the_error_is_what_implicit_euler_misses():
    """A sheet that is accelerated by a everywhere is ½ dt² a off."""
    mass, size, step = node_masses(STATE.mesh, MODEL.materials), 0.1, 0.01
    found = step_path(velocities=(STATE.v, STATE.v + step * np.array([0.0, 3.0, 4.0])))
    expected = 0.5 * step**2 * 5.0 / (OPTIONS.step_error * size)
    assert step_error(OPTIONS, found, step, mass, size) == pytest.approx(expected)
    for options in (SolverOptions(fixed_step=0.01), SolverOptions(mode="static")):
        assert step_error(options, found, step, mass, size) == 0.0
    assert step_error(OPTIONS, step_path(Ending.NO_ROOM), step, mass, size) == 0.0


def test_the_error_of_a_motion_is_compared_with_its_way():
    """Twice as fast within the sheet allows twice the error; the motion of the whole does not count."""
    mass, size, step = node_masses(STATE.mesh, MODEL.materials), 0.1, 0.02
    jump = np.tile([0.0, 0.0, 0.1], (len(STATE.x), 1))

    def error(inner: float, whole: float = 0.0) -> float:
        v = inner * np.cross([0.0, 0.0, 1.0], STATE.x - STATE.x.mean(axis=0)) + whole
        return step_error(OPTIONS, step_path(scheme=TR_BDF2, velocities=(v, v + jump, v)), step, mass, size)

    assert error(20.0) == pytest.approx(0.5 * error(10.0), rel=0.05)
    assert error(10.0, whole=5.0) == pytest.approx(error(10.0), rel=1e-6)
