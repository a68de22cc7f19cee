"""How long the next step is and how it is taken: shortened on trouble and on error, lengthened when all goes well.

Motion is followed to second order, with well-solved stages, and its error is kept below a fraction of the way that is
gone. Where that asks too much of Newton's method in contact (`NEEDLESS`, or a stage has to be content with less), the
sheet is in dense contact: quasi-static, snapping, dissipative. Then steps are taken with implicit Euler, as long as
they can be, until some in a row were solved well.

An impact is neither: steps go up to where surfaces meet, then with implicit Euler, well solved and as short as the
angular momentum asks, through it (`impacts`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from crumple.options.solver import EULER, TR_BDF2, SolverOptions
from crumple.runtime.errors import SimulationError
from crumple.runtime.typing import Floats
from crumple.solving.outcome import Ending, Outcome
from crumple.state import State
from crumple.stepping.impacts import angular_defect, impact_step, meeting, root_mean
from crumple.stepping.integration import StepPath
from crumple.stepping.schemes import ERROR_ORDER, path_error
from crumple.stepping.tuning import TUNING

SHORTER = TUNING.failed_step_factor.value
LONGER = TUNING.step_growth.value
HOLD_AFTER = TUNING.hold_after.value
EASY = TUNING.easy_iterations.value
HARD = TUNING.hard_iterations.value
SHORTEST_FOR_WORK = TUNING.shortest_for_work.value
SAFETY = TUNING.path_safety.value
SHORTEST_IN_IMPACT = TUNING.shortest_in_impact.value
HARD_IMPACT = TUNING.hard_impact.value
BEFORE_MEETING = TUNING.before_meeting.value
ALLOWED_DEFECT = TUNING.angular_defect.value
SHORTEST_IN_MOTION = TUNING.shortest_in_motion.value
LEAST_ERROR = TUNING.least_path_error.value
DENSE_STEPS = TUNING.dense_steps.value
NEEDLESS = TUNING.needless_iterations.value


@dataclass(frozen=True)
class Attempt:
    """A step to try: its length [s], whether it is taken as in dense contact, whether obstacles may be held back, what
    earlier attempts cost, and the trouble that the last of them had; whether it is taken as an `impact`, and whether
    surfaces meet in it or at its end."""

    step: float
    dense: bool = False
    hold: bool = False
    retries: int = 0
    iterations: int = 0
    trouble: str = ""
    impact: bool = False
    meets: bool = False


def first_attempt(
    options: SolverOptions, state: State, remaining: float, *, hold: bool, longest: float = np.inf
) -> Attempt:
    """The first try within the `remaining` time [s], which is divided evenly into steps.

    `hold`: obstacles may be held back at once, because they are already: shortening the step has not helped;
    `longest`: step that is stable [s], if the step is not prescribed.
    """
    is_dense = state.dense_steps > 0 or hold
    wanted = options.fixed_step or min(state.step_size, options.max_step, longest)
    if is_starting(options, state) and options.fixed_step is None and not is_dense:
        wanted = min(wanted, max(SHORTEST_IN_MOTION * options.max_step, options.min_step))
    is_impact = is_starting(options, state) and not is_dense
    return Attempt(remaining / max(1, ceil(remaining / wanted - 1e-9)), is_dense, hold, impact=is_impact)


def is_starting(options: SolverOptions, state: State) -> bool:
    """Whether the next step is one of first order only because no acceleration is known yet: at the start of a run, and
    after an impact."""
    return options.mode == "dynamic" and options.integrator == TR_BDF2 and not state.has_acceleration


def next_attempt(options: SolverOptions, failed: Attempt, ending: Ending, step_path: StepPath, error: float) -> Attempt:
    """What to try after a failure, or after an `error` that is too large; raises SimulationError when the shortest step
    fails too."""
    outcome = step_path.outcome
    spent = failed.iterations + outcome.iterations
    tried = replace(failed, retries=failed.retries + 1, iterations=spent, trouble=ending.value)
    if outcome.ending is Ending.CONVERGED and (failed.impact or step_path.scheme != EULER):
        fraction = SHORTEST_IN_IMPACT if failed.impact else SHORTEST_IN_MOTION
        shortest = max(fraction * options.max_step, options.min_step)
        return replace(tried, step=max(failed.step * _factor(step_path, error), min(shortest, SHORTER * failed.step)))
    tried = replace(tried, dense=outcome.contacts > 0)
    is_shortest = failed.step * SHORTER < options.min_step
    if ending is Ending.NO_ROOM and (failed.retries >= HOLD_AFTER or is_shortest) and not failed.hold:
        return replace(tried, hold=True)
    if is_shortest:
        raise SimulationError(f"a step of {failed.step:.3g} s failed: {ending.value} (see solver.min_step)")
    return replace(tried, step=failed.step * SHORTER)


def next_in_impact(options: SolverOptions, failed: Attempt, step_path: StepPath, mass: Floats, size: float) -> Attempt:
    """What to try after a step of second order in which contact was sudden: up to where surfaces meet, and if it still
    is, or the step is short enough, through the impact."""
    longest = longest_in_impact(options, step_path, mass, size)
    step, is_through = failed.step, options.fixed_step is not None or failed.step <= longest
    if not is_through and not failed.meets:
        step = min(max(longest, failed.step * meeting(step_path)), BEFORE_MEETING * failed.step)
    elif not is_through:
        step, is_through = longest, True
    spent = failed.iterations + step_path.outcome.iterations
    tried = replace(failed, retries=failed.retries + 1, iterations=spent, trouble=Ending.IMPACT.value)
    return replace(tried, step=step, impact=is_through, meets=True)


def longest_in_impact(options: SolverOptions, step_path: StepPath, mass: Floats, size: float) -> float:
    """The longest step of an impact [s]; as long as the shortest at least."""
    return max(impact_step(step_path, mass, size), SHORTEST_IN_IMPACT * options.max_step, options.min_step)


def choose_scheme(options: SolverOptions, attempt: Attempt, *, has_acceleration: bool) -> str:
    """The scheme of an attempt: implicit Euler in dense contact, in impacts, and instead of TR-BDF2 at the start of a
    run."""
    is_ready = has_acceleration or options.integrator != TR_BDF2
    return options.integrator if is_ready and not (attempt.dense or attempt.impact) else EULER


def remaining_dense_steps(
    options: SolverOptions, attempt: Attempt, before: int, outcome: Outcome, *, is_free: bool = False
) -> int:
    """How many of the next steps are taken as in dense contact; `is_free`: see
    `impacts.is_moving_freely`."""
    if options.mode == "static":
        return 0
    if attempt.impact and not attempt.dense:
        is_hard = outcome.contacts > 0 and not attempt.retries and outcome.iterations > HARD_IMPACT
        return DENSE_STEPS if is_hard and not is_free else before
    if attempt.dense:
        return DENSE_STEPS if outcome.loose or before == 0 else before - 1
    if options.integrator != TR_BDF2:
        return 0
    cost = outcome.iterations * options.max_step / attempt.step
    is_costly = cost > NEEDLESS and outcome.iterations > HARD_IMPACT
    is_dense = outcome.contacts > 0 and (outcome.loose or is_costly)
    return DENSE_STEPS if is_dense and not is_free else 0


def step_error(
    options: SolverOptions, step_path: StepPath, step: float, mass: Floats, size: float, *, dense: bool = False
) -> float:
    """Local error of a step as a fraction of the allowed one, in the mass-weighted mean; 0 when the step is prescribed.

    Allowed is a fraction of the way that the nodes go, apart from that of the whole, in a step of second order that
    could be shorter, else a fraction of the `size` of the sheets [m]. In contact that is not `dense`, the angular
    momentum that a step loses is bounded as well.
    """
    if options.fixed_step is not None or options.mode == "static" or step_path.outcome.ending is not Ending.CONVERGED:
        return 0.0
    error = root_mean(mass, path_error(step_path.scheme, step_path.instants, step))
    most = options.step_error * size
    if step_path.outcome.contacts and not dense:
        lost = angular_defect(step_path, step, mass, size) / ALLOWED_DEFECT
        error = max(error, most * lost ** ERROR_ORDER[step_path.scheme])
    if step_path.scheme != TR_BDF2 or step <= SHORTEST_IN_MOTION * options.max_step:
        return error / most
    distance = step * max(root_mean(mass, one.v - mass @ one.v / mass.sum()) for one in step_path.instants)
    return error / min(max(options.path_error * distance, LEAST_ERROR * most), most)


def _factor(step_path: StepPath, error: float) -> float:
    """How much longer the step could have been with the allowed error."""
    return float(SAFETY / max(error, 1e-12) ** (1.0 / ERROR_ORDER[step_path.scheme]))


def next_step_size(
    options: SolverOptions,
    attempt: Attempt,
    wanted: float,
    step_path: StepPath,
    error: float,
    *,
    is_start: bool = False,
) -> float:
    """The length to try next [s].

    `wanted` is what the control asked for before the step was fitted to the frame; `error` is the local error of
    the step as a fraction of the allowed one: it grows with a power of the step. `is_start`: the step was only so short
    because it was the first.
    """
    if is_start and not attempt.retries:
        return min(max(min(wanted, attempt.step * _factor(step_path, error)), options.min_step), options.max_step)
    iterations = step_path.outcome.iterations // (len(step_path.instants) - 1)
    factor = min(LONGER, _factor(step_path, error))
    if attempt.retries:
        factor = min(factor, 1.0)
    enough = SHORTEST_FOR_WORK * options.max_step / attempt.step  # for work: a shorter step costs as many iterations
    if iterations > HARD:
        factor = min(factor, max(SHORTER, HARD / iterations, enough))
    elif iterations > EASY:
        factor = min(factor, max(1.0, enough))
    base = attempt.step if attempt.retries or factor < 1.0 else max(attempt.step, min(wanted, attempt.step * 2.0))
    return min(max(base * factor, options.min_step), options.max_step)
