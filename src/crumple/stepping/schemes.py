"""Time integration: the implicit stages of a step, and how far it is from the true path.

Every stage asks for x, v and a at its time with

    x = origin + span v,   v = drift + span a(x, v),

which is the minimum of an incremental potential with the inertia ½ |x − origin − span drift|²_M / span² (see
`integrate`). So all schemes share one solve, one contact and one friction:

* "tr-bdf2" [Bank1985; Hosea1996]: the trapezoidal rule over the fraction γ = 2 − √2 of the step, then the backward
  differentiation formula of second order over the whole step, both with span (γ/2) h. Second order and L-stable; it
  needs the acceleration at the start, which is the one at the end of the step before.
* "implicit-euler": one stage, first order; it needs nothing but x and v.
* "semi-implicit" [Baraff1998]: the same stage, of which only the first linear system is solved, see `solving.single`.
* "verlet": the same stage with the elastic forces of its start, see `stepping.explicit`; x₂ − 2 x₁ + x₀ = h² a(x₁),
  and v is that of the middle of the step. It must be shorter than a critical step.

TR-BDF2 takes one step at a time, so steps of any length follow each other, and both of its stages are of second order.
The latter is what a sheet asks for that hardly stretches: for a stiff triangle that turns once in 1 s, in steps of
20 ms, 99.98 % of the angular momentum are left, against 76 % with the two-stage method of Alexander (γ = 1 − 1/√2),
which has the same stability function but stages of first order, and 62 % with implicit Euler.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from crumple.contract import Stage
from crumple.options.solver import EULER, SEMI_IMPLICIT, TR_BDF2, VERLET
from crumple.runtime.typing import Floats
from crumple.state import State

GAMMA = 2.0 - sqrt(2.0)
"""Share of the step that the first stage of TR-BDF2 covers."""
SPAN = 0.5 * GAMMA
"""Span of both stages of TR-BDF2 over the step."""
WEIGHT = 0.25 * sqrt(2.0)
"""Weight of the start and of the first stage in the second: (1 − SPAN)/2."""
ERROR_WEIGHTS = ((4.0 * WEIGHT - 1.0) / 3.0, -1.0 / 3.0, 2.0 * SPAN / 3.0)
"""Weights of start, first stage and end in TR-BDF2 minus those of the formula of third order on the same stages."""

ERROR_ORDER = {TR_BDF2: 3, EULER: 2, SEMI_IMPLICIT: 2, VERLET: 2}
"""Power of the step with which the error of one step grows."""


def _no_turns() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True)
class Instant:
    """Positions `x` [m], velocities `v` [m/s], accelerations `a` [m/s²] of the sheets' nodes, (node_count, 3) each.

    `half_turn` [rad] and `half_rate` [rad/s] of the edges, (edge_count,), where bending has any.
    """

    x: Floats
    v: Floats
    a: Floats
    half_turn: Floats = field(default_factory=_no_turns)
    half_rate: Floats = field(default_factory=_no_turns)


def starting(state: State) -> Instant:
    """The instant of a state."""
    return Instant(state.x, state.v, state.a, state.half_turn, state.half_rate)


def reached(stage: Stage, x: Floats, half_turn: Floats) -> Instant:
    """The instant whose positions and half turns are the solution x (node_count, 3), (edge_count,) of a stage."""
    v = (x - stage.origin) / stage.span
    rate = (half_turn - stage.past_turned(lambda _, turn: turn)) / stage.span
    return Instant(x, v, (v - stage.drift) / stage.span, half_turn, rate)


Stages = Generator[Stage, Instant, None]
"""Yields stages and is sent what they reached."""


def scheme_stages(scheme: str, state: State, step: float, *, is_static: bool = False) -> Stages:
    """The stages of one step of `step` [s] from `state`."""
    if is_static:
        return _static(state, step)
    return _tr_bdf2(state, step) if scheme == TR_BDF2 else _euler(state, step)


def _static(state: State, step: float) -> Stages:
    still = np.zeros_like(state.v)
    yield Stage(
        state, state.time, state.time + step, state.x, still, state.x, still, step, ((1.0, state.x),),
        is_static=True, half_turns=(state.half_turn,),
    )  # fmt: skip


def _euler(state: State, step: float) -> Stages:
    yield Stage(
        state, state.time, state.time + step, state.x, state.v, state.x, state.v, step, ((1.0, state.x),),
        half_turns=(state.half_turn,),
    )  # fmt: skip


def _tr_bdf2(state: State, step: float) -> Stages:
    span, begin = SPAN * step, starting(state)
    before, half_turns = _advanced(begin, span)
    first = state.time + GAMMA * step
    middle = yield Stage(
        state=state,
        since=state.time,
        time=first,
        start=begin.x,
        velocity=begin.v,
        origin=begin.x + span * begin.v,
        drift=begin.v + span * begin.a,
        span=span,
        before=before,
        half_turns=half_turns,
        guess=_extrapolate(begin, GAMMA * step),
    )
    ratio = WEIGHT / SPAN
    yield Stage(
        state=state,
        since=first,
        time=state.time + step,
        start=middle.x,
        velocity=middle.v,
        origin=begin.x + WEIGHT * step * (begin.v + middle.v),
        drift=begin.v + WEIGHT * step * (begin.a + middle.a),
        span=span,
        before=((1.0 - ratio, begin.x), (ratio, middle.x)),
        half_turns=(begin.half_turn, middle.half_turn),
        guess=_extrapolate(middle, (1.0 - GAMMA) * step),
    )


def _extrapolate(begin: Instant, time: float) -> Floats:
    """Where the nodes are `time` [s] later if their accelerations stay."""
    return begin.x + time * begin.v + 0.5 * time**2 * begin.a


def _advanced(begin: Instant, span: float) -> tuple[tuple[tuple[float, Floats], ...], tuple[Floats, ...]]:
    """Strain at the start plus `span` [s] times its rate there: a central difference along the velocity, as weights,
    poses, and half turns.

    It is exact for the Green strain, which is quadratic in x. For angles the way must be short beside an edge.
    """
    fastest = float(np.abs(begin.v).max(initial=0.0))
    if fastest == 0.0:
        return ((1.0, begin.x),), (begin.half_turn,)
    size = float(np.ptp(begin.x, axis=0).max()) or 1.0
    instant = 1e-6 * size / fastest
    half = 0.5 * span / instant
    turn = instant * begin.half_rate
    before = ((1.0, begin.x), (half, begin.x + instant * begin.v), (-half, begin.x - instant * begin.v))
    return before, (begin.half_turn, begin.half_turn + turn, begin.half_turn - turn)


def path_error(scheme: str, instants: Sequence[Instant], step: float) -> Floats:
    """Estimated local error of the positions after a step [m], (node_count, 3).

    `instants`: at its start and at every stage. Euler's steps miss ½ h² a; TR-BDF2 is compared with the formula of
    third order that uses the same stages.
    """
    if scheme != TR_BDF2:
        return 0.5 * step * (instants[-1].v - instants[0].v)
    return step * np.asarray(sum(weight * one.v for weight, one in zip(ERROR_WEIGHTS, instants, strict=True)))


def integrate_power(powers: Sequence[float], step: float) -> float:
    """The work [J] over a step of `step` [s] of a power [W] at its start and at every stage, with the weights by which
    the scheme integrates forces and velocities."""
    if len(powers) == 3:
        return step * (WEIGHT * (powers[0] + powers[1]) + SPAN * powers[2])
    return step * powers[-1]
