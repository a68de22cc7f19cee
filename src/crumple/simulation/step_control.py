"""How long the next step is: shortened on trouble and on error, lengthened again when all goes well."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from crumple.errors import SimulationError
from crumple.simulation.model import SolverOptions
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


@dataclass(frozen=True)
class Attempt:
    """A step to try: its length [s], whether obstacles may be held back, and what earlier attempts cost."""

    step: float
    hold: bool = False
    retries: int = 0
    iterations: int = 0


def first_attempt(options: SolverOptions, step_size: float, remaining: float, *, hold: bool) -> Attempt:
    """The first try within the `remaining` time [s], which is divided evenly into steps.

    `hold`: obstacles may be held back at once, because they are already: shortening the step has not helped.
    """
    wanted = options.fixed_step or min(step_size, options.max_step)
    return Attempt(remaining / max(1, ceil(remaining / wanted - 1e-9)), hold)


def shorter_attempt(options: SolverOptions, failed: Attempt, ending: Ending, iterations: int) -> Attempt:
    """What to try after a failure; raises SimulationError when the shortest step fails too."""
    tried = replace(failed, retries=failed.retries + 1, iterations=failed.iterations + iterations)
    is_shortest = failed.step * SHORTER < options.min_step
    if ending is Ending.NO_ROOM and (failed.retries >= HOLD_AFTER or is_shortest) and not failed.hold:
        return replace(tried, hold=True)
    if is_shortest:
        raise SimulationError(f"a step of {failed.step:.3g} s failed: {ending.value} (see solver.min_step)")
    return replace(tried, step=failed.step * SHORTER)


def step_error(options: SolverOptions, state: State, outcome: Outcome, step: float, mass: Floats, size: float) -> float:
    """Local error of a step as a share of the allowed one, 0 when the step length is prescribed.

    Implicit Euler misses ½ dt² a of the true path, measured here as ½ dt |v₁ − v₀| in the mass-weighted mean.
    """
    if options.fixed_step is not None or options.mode == "static":
        return 0.0
    jump = (outcome.x[: len(state.x)] - state.x) / step - state.v
    mean = np.sqrt(np.sum(mass * np.einsum("ni,ni->n", jump, jump)) / np.sum(mass))
    return float(0.5 * step * mean / (options.step_error * size))


def next_step_size(options: SolverOptions, attempt: Attempt, wanted: float, error: float, iterations: int) -> float:
    """The length to try next [s].

    `wanted` is what the control asked for before the step was fitted to the frame; `error` is the local error of
    the step as a fraction of the allowed one: it grows with the square of the step.
    """
    factor = min(LONGER, SAFETY / max(error, 1e-12) ** 0.5)
    if attempt.retries:
        factor = min(factor, 1.0)
    if iterations > HARD:
        shortest = min(1.0, SHORTEST_FOR_WORK * options.max_step / attempt.step)
        factor = min(factor, max(SHORTER, HARD / iterations, shortest))
    elif iterations > EASY:
        factor = min(factor, 1.0)
    base = attempt.step if attempt.retries or factor < 1.0 else max(attempt.step, min(wanted, attempt.step * 2.0))
    return min(max(base * factor, options.min_step), options.max_step)
