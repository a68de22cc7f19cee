"""The rules of Newton's method: back-off, acceptance, watchdog and stop, in Python and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from crumple.solving import acceptance, backoff, enforcement, stop
from crumple.solving.acceptance import (
    ACCEPTED,
    GO_BACK,
    LONGER_IF_STRAIGHT,
    ON_TRUST,
    SHORTER,
    WAITING,
    WHOLE,
    Watchdog,
    choose,
    judge,
    judge_slips,
    waking,
)
from crumple.solving.backoff import Backoff, failed, is_due, succeeded, waited
from crumple.solving.stop import GOES_ON, MET, MET_LOOSELY, STALLED, Stop, is_stalled, judge_stop


def test_pauses_double_up_to_the_longest_and_start_again_after_a_success():
    state, pauses = Backoff(0, 1), []
    for works in (False, False, False, False, True, False):
        state = succeeded(state, 1) if works else failed(state, 4)
        pauses.append(state.wait)
        while not is_due(state):
            state = waited(state)
    assert pauses == [1, 2, 4, 4, 0, 1]


def test_a_broken_promise_blunts_friction_for_a_while():
    slips, pauses = Backoff(0, 1), []
    for gain in (0.4, 0.4, 0.4, 0.6, 0.4):
        slips = judge_slips(slips, gain, 1.0)
        pauses.append(slips.wait)
        while not is_due(slips):
            slips = judge_slips(slips, -1.0, 1.0)  # of the quadratic above: says nothing about friction's own curvature
    assert pauses == [1, 2, 4, 0, 1]


def test_a_good_step_is_taken_and_made_longer_unless_it_is_the_last():
    assert choose(waking(), 1.0, 1.5, False) == (waking(), LONGER_IF_STRAIGHT)
    assert choose(waking(), 1.0, 1.5, True) == (waking(), WHOLE)


def test_a_step_that_rises_is_trusted_once_and_less_often_after_it_fails():
    watchdog, choice = choose(waking(), 3.0, 2.0, False)
    assert choice == ON_TRUST
    assert watchdog.pends
    assert choose(watchdog, 5.0, 4.0, False)[1] == SHORTER, "one is pending"
    watchdog, verdict = judge(watchdog, 2.5, 0.5)
    assert verdict == WAITING
    watchdog, verdict = judge(watchdog, 2.1, 0.5)
    assert verdict == GO_BACK
    watchdog, choice = choose(watchdog, 3.0, 2.0, False)
    assert choice == SHORTER, "not so soon after a failure"
    assert choose(watchdog, 3.0, 2.0, False)[1] == ON_TRUST


def test_a_step_on_trust_is_made_up_for_at_its_goal():
    watchdog, _ = choose(waking(), 3.0, 2.0, False)
    assert judge(watchdog, 2.0, 0.5) == (waking(), ACCEPTED)
    assert judge(watchdog, 2.5, 0.0)[1] == GO_BACK, "no step was found from there"


@pytest.mark.parametrize(("full", "is_last"), [(np.inf, False), (3.0, True)])
def test_what_is_never_trusted(full, is_last):
    assert choose(waking(), full, 2.0, is_last) == (waking(), SHORTER)


def test_patience_allows_larger_errors():
    allowed = Stop(1e-6, 1e-3, 5, 30.0, 12, 1e-2, 1e-1)
    assert judge_stop(allowed, 1e-6, 1e-3, 1, np.inf) == MET
    assert judge_stop(allowed, 1e-2, 1e-1, 11, np.inf) == GOES_ON
    assert judge_stop(allowed, 1e-2, 1e-1, 12, np.inf) == MET_LOOSELY
    assert judge_stop(allowed, 1e-2, 2e-1, 12, np.inf) == GOES_ON
    assert judge_stop(allowed, 9e-4, 3e-2, 5, 5e-3) == MET_LOOSELY
    assert judge_stop(allowed, 9e-4, 3e-2, 5, 5e-2) == GOES_ON, "it converges well"


def test_a_solve_stalls_when_it_does_not_come_nearer() -> None:
    assert is_stalled(2 * STALLED, 0.5, 1.0)
    assert not is_stalled(2 * STALLED, 0.05, 1.0), "it comes nearer"
    assert not is_stalled(2 * STALLED - 1, 0.5, 1.0), "it has hardly begun"


SLIPS = (Backoff(0, 2), 0.3, 0.7)
STOP = Stop(1e-6, 1e-3, 5, 30.0, 12, 1e-2, 1e-1)
PENDING = Watchdog(True, 1.1, 0, Backoff(0, 1))
CALLS = [
    (backoff.is_due, (Backoff(1, 2),)),
    (backoff.waited, (Backoff(3, 4),)),
    (backoff.failed, (Backoff(0, 3), 4)),
    (backoff.succeeded, (Backoff(0, 3), 1)),
    (acceptance.waking, ()),
    (acceptance.goal, (0.1, 0.3, 0.7)),
    (acceptance.choose, (waking(), 1.3, 1.1, False)),
    (acceptance.judge, (PENDING, 1.3, 0.25)),
    (acceptance.is_straight, (1.0, 0.1, 1.0, 1.1)),
    (acceptance.is_stuck, (0.0, 1e-14, 0.3)),
    (acceptance.promised, (0.3, 0.7)),
    (acceptance.judge_slips, SLIPS),
    (acceptance.judge_exact, (Backoff(0, 2), False, 8, 16)),
    (enforcement.boosted, (7e3, True)),
    (stop.is_small, (STOP, 8e-4, 2e-2, 30.0)),
    (stop.judge_stop, (STOP, 9e-4, 3e-2, 5, 5e-3)),
    (stop.is_stalled, (16, 0.5, 1.0)),
]


@pytest.mark.parametrize(("rule", "arguments"), CALLS, ids=[rule.__name__ for rule, _ in CALLS])
def test_a_compiled_loop_can_call_the_rule_and_gets_the_same_bits(rule, arguments):
    @njit
    def call(values):
        return rule(*values)

    assert call(arguments) == rule(*arguments)


def test_every_rule_is_called_here():
    known = {rule.__name__ for rule, _ in CALLS}
    rules = {
        name
        for module in (backoff, acceptance, enforcement, stop)
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__ and not isinstance(value, type)
    }
    assert {name for name in rules if not name.startswith("_")} <= known
