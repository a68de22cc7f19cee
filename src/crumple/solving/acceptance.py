"""Which steps Newton's method takes: the rules of its line search and of its watchdog, on scalars.

A step must bring a fraction of the decrease that the gradient promises. A full step along a stiff, turning sheet
stretches it at second order, so the potential may rise although the step is right (the effect of Maratos). Such a step
is taken on trust: the next `TRUST` iterations must make up for it, or the method goes back and takes the shorter step
that decreases the potential (a watchdog [Chamberlain1982]). Every failure makes it trust less often.

Energies are in joules; a `decrement` is twice the decrease that the quadratic model predicts for a whole direction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from crumple.runtime.compiled import rule
from crumple.solving.backoff import Backoff, failed, is_due, succeeded, waited
from crumple.solving.tuning import TUNING

ARMIJO = TUNING.armijo.value
BACKTRACKS = TUNING.newton_backtracks.value
ROUNDING = TUNING.potential_rounding.value
TRUST = TUNING.trusted_iterations.value
STRAIGHT = TUNING.straight_decrease.value
ROUGH_ROUNDING = TUNING.curving_rounding.value
LONGER = TUNING.line_search_growth.value
LONGEST = TUNING.line_search_longest.value
LONGEST_PAUSE = TUNING.exact_hessian_pause.value
PROMISE = TUNING.kept_promise.value
LONGEST_DISTRUST = TUNING.trust_pause.value

ON_TRUST, SHORTER, WHOLE, LONGER_IF_STRAIGHT = 0, 1, 2, 3
"""What `choose` says of a proposed step: take it to its limit although the potential does not fall enough, find a
shorter one that decreases the potential, take it as it is, or make it longer where the potential hardly curves."""
ACCEPTED, WAITING, GO_BACK = 0, 1, 2
"""What `judge` says of a step that was taken: it stands, it stands until the next one is known, or the method returns
to where it took a step on trust."""


class Watchdog(NamedTuple):
    """What the method remembers of steps that are taken on trust.

    `pends`: one is to be made up for, by reaching its `goal` [J], and `doubt` iterations have not;
    `distrust`: the pauses between such steps.
    """

    pends: bool
    goal: float
    doubt: int
    distrust: Backoff


@rule
def waking() -> Watchdog:
    """The watchdog at the start."""
    return Watchdog(False, 0.0, 0, Backoff(0, 1))


@rule
def goal(energy: float, length: float, decrement: float) -> float:
    """The value that a step of a `length` from a pose with an `energy` has to reach [J]."""
    return energy - ARMIJO * length * decrement


@rule
def choose(watchdog: Watchdog, full: float, wanted: float, is_last: bool) -> tuple[Watchdog, int]:
    """What to do with a step that leads to the value `full` where `wanted` is its goal [J]; `is_last`: it is small
    enough to be the last."""
    if full <= wanted:
        return watchdog, WHOLE if is_last else LONGER_IF_STRAIGHT
    if watchdog.pends or is_last:
        return watchdog, SHORTER
    if not is_due(watchdog.distrust):
        return Watchdog(False, 0.0, 0, waited(watchdog.distrust)), SHORTER
    if not math.isfinite(full):
        return watchdog, SHORTER
    return Watchdog(True, wanted, 0, watchdog.distrust), ON_TRUST


@rule
def judge(watchdog: Watchdog, energy: float, length: float) -> tuple[Watchdog, int]:
    """What becomes of a step of a `length` that led to the `energy` [J]."""
    if not watchdog.pends or not energy > watchdog.goal:
        return Watchdog(False, 0.0, 0, watchdog.distrust), ACCEPTED
    doubt = watchdog.doubt + 1
    if length > 0.0 and doubt <= TRUST:
        return Watchdog(True, watchdog.goal, doubt, watchdog.distrust), WAITING
    return Watchdog(False, 0.0, 0, failed(watchdog.distrust, LONGEST_DISTRUST)), GO_BACK


@rule
def is_straight(energy: float, full: float, length: float, decrement: float) -> bool:
    """Whether the potential hardly curves along a whole step from `energy` to `full`, so that a longer one may gain."""
    is_rough = decrement < ROUGH_ROUNDING * abs(full)
    return length >= 1.0 and not is_rough and not energy - full < STRAIGHT * decrement


@rule
def is_stuck(length: float, predicted: float, energy: float) -> bool:
    """Whether no step was found because rounding hides the `predicted` decrease."""
    return length == 0.0 and predicted <= ROUNDING * abs(energy)


@rule
def promised(length: float, decrement: float) -> float:
    """The decrease that the quadratic model predicts for a `length` of a direction [J]."""
    return length * (1.0 - 0.5 * length) * decrement


@rule
def judge_slips(slips: Backoff, gain: float, promise: float) -> Backoff:
    """Whether friction is followed by its own curvature in the next iterations, by what one step gained [J] of what it
    promised. A step with the quadratic above says nothing about that curvature."""
    if not is_due(slips):
        return waited(slips)
    return succeeded(slips, 1) if gain >= PROMISE * promise else failed(slips, LONGEST_PAUSE)


@rule
def judge_exact(exact: Backoff, is_definite: bool, pause: int, longest: int) -> Backoff:
    """When the exact Hessian is tried again after it was tried; `pause`: iterations after a first failure, and
    `longest` after many."""
    return succeeded(exact, pause) if is_definite else failed(exact, longest)
