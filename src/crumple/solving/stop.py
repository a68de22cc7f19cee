"""When Newton's method may stop: the rule, on scalars."""

from __future__ import annotations

from typing import NamedTuple

from crumple.runtime.compiled import rule
from crumple.solving.tuning import TUNING

SLOW = TUNING.slow_convergence.value
STALLED = TUNING.stalled_iterations.value

GOES_ON, MET, MET_LOOSELY = 0, 1, 2
"""What `judge_stop` says of a step: too large to be the last, small enough, or so only after many iterations."""


class Stop(NamedTuple):
    """Errors that are allowed, and after how many iterations larger ones are; see `NewtonOptions`.

    `energy` [J] and `distance` [m] at the present pose, with what the inertia adds to them.
    """

    energy: float
    distance: float
    slow_patience: int
    slow_factor: float
    patience: int
    loose_energy: float
    loose_distance: float


@rule
def is_small(stop: Stop, predicted: float, farthest: float, factor: float) -> bool:
    """Whether a step with the `predicted` decrease [J] that moves no node by more than `farthest` [m] is within the
    allowed errors, these times `factor`."""
    return predicted <= factor * factor * stop.energy and farthest <= factor * stop.distance


@rule
def judge_stop(stop: Stop, predicted: float, farthest: float, iterations: int, before: float) -> int:
    """Whether a step may be the last after so many `iterations`, the last but one of which predicted the decrease
    `before` [J]."""
    if is_small(stop, predicted, farthest, 1.0):
        return MET
    if iterations >= stop.patience and predicted <= stop.loose_energy:
        return MET_LOOSELY if farthest <= stop.loose_distance else GOES_ON
    is_slow = iterations >= stop.slow_patience and predicted > SLOW * before
    return MET_LOOSELY if is_slow and is_small(stop, predicted, farthest, stop.slow_factor) else GOES_ON


@rule
def is_stalled(iterations: int, predicted: float, earlier: float) -> bool:
    """Whether a solve in free motion is not worth more `iterations`: it predicts nearly the decrease that it did
    `STALLED` iterations `earlier` [J]. A shorter step, in which inertia counts for more, takes few."""
    return iterations >= 2 * STALLED and predicted > SLOW * earlier
