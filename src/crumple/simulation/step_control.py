"""How long the next step is and how it is taken: shortened on trouble and on error, lengthened when all goes well.

Motion is followed to second order, with well-solved stages, and its error is kept below a share of the way that is
gone. Where that asks too much of Newton's method in contact (`NEEDLESS`, or a stage has to be content with less), the
sheet is in dense contact: quasi-static, snapping, dissipative. Then steps are taken with implicit Euler, as long as
they can be, until some in a row were solved well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from crumple.errors import SimulationError
from crumple.simulation.integrate import Passage
from crumple.simulation.model import SolverOptions
from crumple.simulation.schemes import ERROR_ORDER, EULER, TR_BDF2, path_error
from crumple.solving.newton import Ending, Outcome
from crumple.state import State
from crumple.typing import Floats

SHORTER = 0.5
"""Factor of a step that failed."""
LONGER = 1.5
"""Most that a step may grow over the one before."""
HOLD_AFTER = 2
"""Times that a step is shortened before an obstacle without room is held back instead."""
EASY, HARD = 16, 32
"""Newton iterations below which the step may grow, and above which it is shortened.

Iterations grow much more slowly than the step: frames of `crumple` and `fold` in dense contact took 19 and 28
iterations in one step of 40 ms, 26 and 36 in two, 37 and 49 in four, 49 and 78 in eight, and ended with the same
energies.
"""
SHORTEST_FOR_WORK = 0.125
"""Steps are not shortened below this share of the longest for the sake of fewer iterations: a snapping facet costs
about as many iterations in a short step as in a long one."""
SAFETY = 0.9
SHORTEST_IN_MOTION = 1.0 / 16.0
"""Steps are not shortened below this share of the longest for the sake of the path of a motion: an impact or a snap is
sudden at any length. The looser bound by the sheets' size holds for all."""
LEAST_WAY = 2e-3
"""Share of the allowed error over the sheets' size that is always allowed: tremor."""
DENSE_STEPS = 4
"""Steps taken as in dense contact after the last that was too hard to be solved well."""
NEEDLESS = 160
"""Newton iterations over the longest step that motion in contact may cost."""


@dataclass(frozen=True)
class Attempt:
    """A step to try: its length [s], whether it is taken as in dense contact, whether obstacles may be held back, what
    earlier attempts cost, and the trouble that the last of them had."""

    step: float
    dense: bool = False
    hold: bool = False
    retries: int = 0
    iterations: int = 0
    trouble: str = ""


def first_attempt(
    options: SolverOptions, state: State, remaining: float, *, hold: bool, longest: float = np.inf
) -> Attempt:
    """The first try within the `remaining` time [s], which is divided evenly into steps.

    `hold`: obstacles may be held back at once, because they are already: shortening the step has not helped;
    `longest`: step that is stable [s], if the step is not prescribed.
    """
    wanted = options.fixed_step or min(state.step_size, options.max_step, longest)
    return Attempt(remaining / max(1, ceil(remaining / wanted - 1e-9)), state.dense_steps > 0 or hold, hold)


def next_attempt(options: SolverOptions, failed: Attempt, ending: Ending, passage: Passage, error: float) -> Attempt:
    """What to try after a failure, or after an `error` that is too large; raises SimulationError when the shortest step
    fails too."""
    outcome = passage.outcome
    spent = failed.iterations + outcome.iterations
    tried = replace(failed, retries=failed.retries + 1, iterations=spent, trouble=ending.value)
    if outcome.ending is Ending.CONVERGED and passage.scheme != EULER:
        shortest = max(SHORTEST_IN_MOTION * options.max_step, options.min_step)
        return replace(tried, step=max(failed.step * _factor(passage, error), min(shortest, SHORTER * failed.step)))
    tried = replace(tried, dense=outcome.contacts > 0)
    is_shortest = failed.step * SHORTER < options.min_step
    if ending is Ending.NO_ROOM and (failed.retries >= HOLD_AFTER or is_shortest) and not failed.hold:
        return replace(tried, hold=True)
    if is_shortest:
        raise SimulationError(f"a step of {failed.step:.3g} s failed: {ending.value} (see solver.min_step)")
    return replace(tried, step=failed.step * SHORTER)


def choose_scheme(options: SolverOptions, attempt: Attempt, *, has_acceleration: bool) -> str:
    """The scheme of an attempt: implicit Euler in dense contact, and instead of TR-BDF2 at the start of a run."""
    is_ready = has_acceleration or options.integrator != TR_BDF2
    return options.integrator if is_ready and not attempt.dense else EULER


def remaining_dense_steps(options: SolverOptions, attempt: Attempt, before: int, outcome: Outcome) -> int:
    """How many of the next steps are taken as in dense contact."""
    if options.mode == "static":
        return 0
    if attempt.dense:
        return DENSE_STEPS if outcome.loose or before == 0 else before - 1
    if options.integrator != TR_BDF2:
        return 0
    cost = outcome.iterations * options.max_step / attempt.step
    return DENSE_STEPS if outcome.contacts and (outcome.loose or cost > NEEDLESS) else 0


def step_error(options: SolverOptions, passage: Passage, step: float, mass: Floats, size: float) -> float:
    """Local error of a step as a share of the allowed one, in the mass-weighted mean; 0 when the step is prescribed.

    Allowed is a share of the way that the nodes go, apart from that of the whole, in a step of second order that could
    be shorter, else a share of the `size` of the sheets [m].
    """
    if options.fixed_step is not None or options.mode == "static" or passage.outcome.ending is not Ending.CONVERGED:
        return 0.0
    error = _mean(mass, path_error(passage.scheme, passage.instants, step))
    most = options.step_error * size
    if passage.scheme != TR_BDF2 or step <= SHORTEST_IN_MOTION * options.max_step:
        return error / most
    way = step * max(_mean(mass, one.v - mass @ one.v / mass.sum()) for one in passage.instants)
    return error / min(max(options.path_error * way, LEAST_WAY * most), most)


def _factor(passage: Passage, error: float) -> float:
    """How much longer the step could have been with the allowed error."""
    return float(SAFETY / max(error, 1e-12) ** (1.0 / ERROR_ORDER[passage.scheme]))


def _mean(mass: Floats, vectors: Floats) -> float:
    """Root mean square of vectors (n, 3), weighted by the mass (n,)."""
    return float(np.sqrt(np.sum(mass * np.einsum("ni,ni->n", vectors, vectors)) / np.sum(mass)))


def next_step_size(options: SolverOptions, attempt: Attempt, wanted: float, passage: Passage, error: float) -> float:
    """The length to try next [s].

    `wanted` is what the control asked for before the step was fitted to the frame; `error` is the local error of
    the step as a fraction of the allowed one: it grows with a power of the step.
    """
    iterations = passage.outcome.iterations // (len(passage.instants) - 1)
    factor = min(LONGER, _factor(passage, error))
    if attempt.retries:
        factor = min(factor, 1.0)
    if iterations > HARD:
        shortest = min(1.0, SHORTEST_FOR_WORK * options.max_step / attempt.step)
        factor = min(factor, max(SHORTER, HARD / iterations, shortest))
    elif iterations > EASY:
        factor = min(factor, 1.0)
    base = attempt.step if attempt.retries or factor < 1.0 else max(attempt.step, min(wanted, attempt.step * 2.0))
    return min(max(base * factor, options.min_step), options.max_step)
