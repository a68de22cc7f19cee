"""The descent of Newton's method: steps that decrease the potential, or are taken on trust, until they are small.

The rules are those of `acceptance` and `stop`; this loop evaluates what they ask for. Multipliers move with every
iteration, but not while a step that was taken on trust is pending.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crumple.solving.acceptance import (
    ACCEPTED,
    BACKTRACKS,
    GO_BACK,
    LONGER,
    LONGER_IF_STRAIGHT,
    LONGEST,
    ON_TRUST,
    ROUGH_ROUNDING,
    SHORTER,
    choose,
    goal,
    is_straight,
    is_stuck,
    judge,
    promised,
    waking,
)
from crumple.solving.directions import Direction, Directions
from crumple.solving.lag import Lag
from crumple.solving.outcome import Ending
from crumple.solving.pose import Pose
from crumple.solving.stop import GOES_ON, MET_LOOSELY, STALLED, is_stalled, judge_stop


@dataclass(frozen=True)
class Descended:
    """How a descent ended, the decrease that its last direction `predicted` [J], and whether a `loose` stop was
    enough."""

    ending: Ending
    predicted: float = np.inf
    loose: bool = False


class Step(NamedTuple):
    """A step that could be taken from `pose` along a direction, free of collisions up to `limit`; `energy` at the pose
    and `full` at the limit [J]."""

    pose: Pose
    direction: Direction
    limit: float
    energy: float
    full: float

    def ends(self, length: float) -> Pose:
        """Where a `length` of the step leads."""
        return self.pose.moved(self.direction.motion, length)

    def goal(self, length: float) -> float:
        """The value that a `length` of the step has to reach [J]."""
        return goal(self.energy, length, self.direction.decrement)


def descend(directions: Directions, pose: Pose) -> Descended:
    """Move the pose to where the potential is least, as well as the options ask."""
    return _Descent(directions).run(pose)


class _Descent:
    """One descent; holds what its iterations share."""

    def __init__(self, directions: Directions) -> None:
        self._directions = directions
        self._potential = directions.potential
        self._enforcement = directions.enforcement
        self._predicted, self._predicted_before = np.inf, np.inf
        self._loose = False
        self._history = deque[float](maxlen=STALLED + 1)
        self._lag = Lag(directions)
        self._settled: tuple[Pose, bool] | None = None

    def run(self, pose: Pose) -> Descended:
        """Descend from the pose, which is moved."""
        ending = self._run(pose)
        return Descended(ending, self._predicted, self._loose)

    def _run(self, pose: Pose) -> Ending:
        energy: float | None = None
        watchdog, trusted = waking(), None
        start = pose.copy()
        while self._directions.may_go_on:
            if self._is_adrift(start, pose):
                return Ending.ADRIFT
            step = self._propose(pose, energy, move_multipliers=not watchdog.pends)
            if step is None:
                return Ending.NOT_FINITE
            is_last = self._is_last(step)
            if not is_last and self._is_stalled(step):
                return Ending.NOT_CONVERGED
            watchdog, choice = choose(watchdog, step.full, step.goal(step.limit), is_last)
            if choice == ON_TRUST:
                trusted, energy = step, step.full
                pose.move(step.direction.motion, step.limit)
                self._directions.note_step(step.pose)
                continue
            length, energy = self._find_length(step, choice)
            pose.move(step.direction.motion, length)
            self._directions.note_step(step.pose)
            watchdog, verdict = judge(watchdog, energy, length)
            if verdict == GO_BACK and trusted is not None:
                length, energy = self._go_back(pose, trusted)
                is_last = False
            elif verdict != ACCEPTED:
                continue
            may_end = is_last or is_stuck(length, self._predicted, energy)
            if may_end and self._enforcement.is_met(pose):
                end, loose = pose.copy(), self._loose
                if self._lag.settles(pose, is_loose=loose):
                    return Ending.CONVERGED
                self._settled, energy = (end, loose), None
                continue
            if length == 0.0 and not step.direction.has_moved:
                return Ending.NO_DESCENT if self._settled is None else self._take_settled(pose)
            if self._lag.follow(pose, length):
                energy = None
        if self._settled is not None:
            return self._take_settled(pose)
        if watchdog.pends and trusted is not None:
            pose.take(trusted.pose)
        return Ending.NOT_CONVERGED if self._enforcement.is_met(pose) else Ending.UNMET

    def _is_adrift(self, start: Pose, pose: Pose) -> bool:
        """Whether a node has gone farther from its start than any support could let it."""
        reach = self._directions.options.reach
        return bool(np.isfinite(reach)) and self._directions.options.farthest(pose.x - start.x) > reach

    def _take_settled(self, pose: Pose) -> Ending:
        """Go back to where the solve would have ended but for friction, which does not settle."""
        assert self._settled is not None
        end, self._loose = self._settled
        pose.take(end)
        self._potential.free_length(pose, Pose(np.zeros_like(pose.x), np.zeros_like(pose.half_turn)))
        return Ending.CONVERGED

    def _propose(self, pose: Pose, energy: float | None, *, move_multipliers: bool) -> Step | None:
        """The Newton step from a pose, where the potential is `energy` [J] if known; None when it is not finite."""
        found = self._directions.descending(pose, move_multipliers=move_multipliers)
        if not np.isfinite(found.decrement):
            return None
        self._predicted, self._predicted_before = 0.5 * found.decrement, self._predicted
        limit, _ = self._potential.free_length(pose, found.motion)
        limit = min(limit, self._longest_of(found.motion))
        energy = self._potential.value(pose) if energy is None else energy + found.change
        full = self._potential.value(pose.moved(found.motion, limit))
        self._directions.note_gain(energy - full, promised(limit, found.decrement))
        return Step(pose.copy(), found, limit, energy, full)

    def _longest_of(self, motion: Pose) -> float:
        """The largest share of a direction that moves no node farther than is allowed in one iteration."""
        options = self._directions.options
        if not np.isfinite(options.longest):
            return np.inf
        return options.longest / max(options.farthest(motion.x), np.finfo(float).tiny)

    def _is_last(self, step: Step) -> bool:
        """Whether the step is so small that it may be the last."""
        verdict = judge_stop(
            self._directions.options.stop_at(step.pose.x),
            self._predicted,
            self._directions.options.farthest(step.direction.motion.x),
            self._directions.iterations,
            self._predicted_before,
        )
        is_small = verdict != GOES_ON
        is_short = is_small and not self._enforcement.is_met(step.ends(step.limit))
        self._enforcement.note(is_short=is_short)
        self._loose = verdict == MET_LOOSELY and not is_short
        return is_small and not is_short

    def _is_stalled(self, step: Step) -> bool:
        """Whether a shorter time step is better than more iterations of this one; only where one can be taken, in
        motion that nothing touches, and not where rounding keeps the solve from coming nearer."""
        directions = self._directions
        self._history.append(self._predicted)
        if not directions.options.may_shorten or directions.contacts or self._enforcement.is_active:
            return False
        is_rough = self._predicted < ROUGH_ROUNDING * abs(step.energy)
        return not is_rough and is_stalled(directions.iterations, self._predicted, self._history[0])

    def _find_length(self, step: Step, choice: int) -> tuple[float, float]:
        """The length of a step that is taken in the chosen way, and the energy there."""
        if choice == SHORTER:
            return self._search(step)
        return self._lengthen(step) if choice == LONGER_IF_STRAIGHT else (step.limit, step.full)

    def _search(self, step: Step) -> tuple[float, float]:
        """Backtracking below the limit: the length that decreases the potential, 0 if none does, and its value."""
        length = step.limit
        for _ in range(BACKTRACKS):
            length *= 0.5
            energy = self._potential.value(step.ends(length))
            if energy <= step.goal(length):
                return length, energy
        return 0.0, step.energy

    def _lengthen(self, step: Step) -> tuple[float, float]:
        """A good step, made longer where the potential hardly curves along it: its length and the energy there.

        The Hessian of friction lies above it, so that contacts which begin to slide would gain speed by a small factor
        in every iteration; so does that of constraints that are overloaded. Lengths that quadruple find it in a few
        evaluations.
        """
        length, energy, motion = step.limit, step.full, step.direction.motion
        step_contact = self._potential.step_contact
        slides = step_contact is not None and step_contact.has_friction
        if not (slides or self._enforcement.is_active):
            return length, energy
        if not is_straight(step.energy, energy, length, step.direction.decrement):
            return length, energy
        while length < LONGEST:
            longer = LONGER * length
            if longer > self._longest_of(motion):
                break
            if self._potential.free_length(step.pose, motion, longer)[0] < 1.0:
                break
            value = self._potential.value(step.ends(longer))
            if not value < energy:
                break
            length, energy = longer, value
        self._potential.free_length(step.pose, motion, length)
        return length, energy

    def _go_back(self, pose: Pose, step: Step) -> tuple[float, float]:
        """Move the pose back to where `step` was proposed and take a shorter one; its length and the energy there."""
        pose.take(step.pose)
        self._potential.free_length(pose, step.direction.motion)
        length, energy = self._search(step)
        pose.move(step.direction.motion, length)
        self._directions.note_step(step.pose)
        return length, energy
