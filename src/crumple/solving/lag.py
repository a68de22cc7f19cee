"""Friction at the forces of the step.

Friction has a potential only while its normal forces and tangents are frozen (see `contact.friction`). Frozen once, at
the start of a solve, they belong to another pose: a contact that begins within the step has no friction in it, and the
normal force of an impact acts on through the step after it. So they are frozen anew where the solve would end, until
the error of *motion* that the last change makes, d = −H⁻¹ Δf with the last factorisation, is within the errors that
the solve allows and friction has settled. Within the descent they follow, too, but only by moderate changes: poses on
the way to an equilibrium have barrier forces far from it, and friction that was frozen there would lead astray.

Freezing anew changes the potential, so the descent is not monotonous across it; it is bounded in number for that
reason.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.linalg import inner
from crumple.runtime.compiled import rule
from crumple.runtime.typing import Floats
from crumple.solving.directions import Directions
from crumple.solving.pose import Pose
from crumple.solving.step_contact import StepContact
from crumple.solving.stop import Stop, is_small
from crumple.solving.tuning import TUNING

FOLLOWED = TUNING.lag_iterations.value
FOLLOWED_CHANGE = TUNING.lag_change.value
WILD_CHANGE = TUNING.lag_wild_change.value
SETTLED_CHANGE = TUNING.lag_settled_change.value
MOST_OF_A_STEP = TUNING.lag_step.value
ROUNDS = TUNING.lag_rounds.value
LOOSE_ROUNDS = TUNING.lag_loose_rounds.value
ALLOWED = TUNING.lag_allowed.value
CORRECTED = TUNING.lag_corrected.value
CREEP = TUNING.lag_creep.value


class LagError(NamedTuple):
    """What a change of friction would do: the `change` over the size of friction, the decrease of the potential that it
    `predicted` [J] and the `farthest` that it would move a node [m]."""

    change: float
    predicted: float
    farthest: float


@rule
def follows(iterations: int, length: float, is_static: bool) -> bool:
    """Whether friction is frozen anew after a step of a `length` was accepted."""
    return iterations <= FOLLOWED and (length > MOST_OF_A_STEP or (is_static and length > 0.0))


@rule
def is_followed(change: float, is_static: bool) -> bool:
    """Whether friction that would change by the fraction `change` is frozen anew within the descent."""
    return change > FOLLOWED_CHANGE and (is_static or change <= WILD_CHANGE)


@rule
def is_settled(stop: Stop, error: LagError, iterations: int, is_loose: bool) -> bool:
    """Whether the error that the lag of friction makes is small enough for the solve to end; `is_loose`: by a loose
    stop."""
    if is_small(stop, error.predicted, error.farthest, 1.0):
        return True
    if is_loose and is_creep(stop, error, iterations):
        return True
    factor = max(ALLOWED, stop.slow_factor) if is_loose else ALLOWED
    return error.change <= SETTLED_CHANGE and is_small(stop, error.predicted, error.farthest, factor)


@rule
def is_creep(stop: Stop, error: LagError, iterations: int) -> bool:
    """Whether friction goes on changing, but neither wildly nor by more than the loose stop allows; where it hardly
    changes, a node may move a few times as far."""
    if iterations < stop.patience or error.change > WILD_CHANGE:
        return False
    distance = CREEP * stop.loose_distance if error.change <= FOLLOWED_CHANGE else stop.loose_distance
    return error.predicted <= stop.loose_energy and error.farthest <= distance


class Lag:
    """The lag of friction in one descent; nothing happens where there is no friction."""

    def __init__(self, directions: Directions) -> None:
        self._directions = directions
        self._potential = directions.potential
        self._contact = directions.potential.step_contact
        self._is_static = directions.options.inertia is None
        self._rounds = 0

    @property
    def is_active(self) -> bool:
        """Whether friction can act in this solve."""
        return self._contact is not None and self._contact.may_slide

    @property
    def _step_contact(self) -> StepContact:
        assert self._contact is not None  # asked for only while active
        return self._contact

    def follow(self, pose: Pose, length: float) -> bool:
        """Freeze friction at the pose after a step of a `length`, if it is time for that and it has changed, but not
        wildly; whether the potential has changed."""
        if not self.is_active or not self._step_contact.is_frozen:
            return False
        if not follows(self._directions.iterations, length, self._is_static):
            return False
        old = self._step_contact.friction
        change = self._step_contact.refreeze(pose.x, self._potential.free_count)
        if not is_followed(change.fraction, self._is_static):
            self._step_contact.friction = old
            return False
        return True

    def settles(self, pose: Pose, *, is_loose: bool) -> bool:
        """Freeze friction where the solve would end; whether it may end, and if so the pose is corrected."""
        if not self.is_active or self._rounds >= (LOOSE_ROUNDS if is_loose else ROUNDS):
            return True
        change = self._step_contact.refreeze(pose.x, self._potential.free_count)
        if change.fraction == 0.0:
            return True
        displacement, turn = self._directions.respond(-change.force)
        options = self._directions.options
        error = LagError(change.fraction, -0.5 * inner(change.force, displacement), options.farthest(displacement))
        stop = options.stop_at(pose.x)
        if is_settled(stop, error, self._directions.iterations, is_loose):
            if change.fraction > CORRECTED:
                self._correct(pose, self._motion(pose, displacement, turn))
            return True
        self._rounds += 1
        return False

    def _correct(self, pose: Pose, motion: Pose) -> None:
        """Move the pose along `motion` if the potential falls."""
        length, _ = self._potential.free_length(pose, motion)
        if self._potential.value(pose.moved(motion, length)) < self._potential.value(pose):
            pose.move(motion, length)

    def _motion(self, pose: Pose, displacement: Floats, turn: Floats) -> Pose:
        """A displacement of the free nodes with their turns, as a direction."""
        motion = Pose(np.zeros_like(pose.x), np.zeros_like(pose.half_turn))
        motion.x[: self._potential.free_count] = displacement
        if self._potential.turn_count:
            motion.half_turn = self._potential.half_direction(pose, motion.x, turn)
        return motion
