"""Handles, obstacles and hands of a session: taking hold, moving, turning, letting go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.session.arguments import positive, rotation, vector, whole
from crumple.session.base import Base
from crumple.session.guidance import (
    Body,
    Goal,
    felt_force,
    find_body,
    let_go,
    send,
    stop,
    take_hold,
    turned_now,
    wanted_position,
)
from crumple.session.hands import Grip, add_hand, hand_middle
from crumple.session.picking import Place, pick, place_at
from crumple.session.script import scripted

Numbers = Sequence[float] | Floats
Turn = Sequence[float] | Sequence[Sequence[float]] | Floats
"""A rotation vector (3,) [rad], a unit quaternion (4,) x, y, z, w, or a rotation matrix (3, 3)."""


class Handling(Base):
    """What hands do in a session."""

    @property
    def handles(self) -> tuple[str, ...]:
        """Names of the handles."""
        return tuple(handle.name for handle in self.model.handles)

    @property
    def obstacles(self) -> tuple[str, ...]:
        """Names of the obstacles."""
        return tuple(obstacle.name for obstacle in self.model.obstacles)

    @property
    def hands(self) -> tuple[str, ...]:
        """Names of the hands that hold something."""
        return tuple(self._wishes.offsets)

    @scripted
    def set_handle(self, name: str, position: Numbers | None = None, rotation: Turn | None = None) -> None:
        """Say where a handle is to be at the end of the next step; it goes there steadily, and then stays.

        `position` [m]: of the middle of the nodes that it holds, where it is by default;  `rotation` from its direction
        at the start, as it is by default: a rotation vector [rad], a unit quaternion (x, y, z, w) or a matrix.
        """
        self._wishes.goals[find_body(self.model, "handle", name)] = _goal(position, rotation)

    def move_handle(self, name: str, translate: Numbers) -> None:
        """Move a handle by `translate` [m] in the next step."""
        self.set_handle(name, self.handle_position(name) + vector("translate", translate))

    @scripted
    def set_obstacle(self, name: str, position: Numbers | None = None, rotation: Turn | None = None) -> None:
        """Say where an obstacle is to be at the end of the next step; it goes there steadily, and then stays.

        `position` [m]: of the middle of its nodes, where it is by default;  `rotation` about the middle from its
        direction at the start, as it is by default: as for `set_handle`. It pushes sheets aside on its way; where they
        have no room it is held back, of which an event tells.
        """
        self._wishes.goals[find_body(self.model, "obstacle", name)] = _goal(position, rotation)

    def move_obstacle(self, name: str, translate: Numbers) -> None:
        """Move an obstacle by `translate` [m] in the next step."""
        self.set_obstacle(name, self.obstacle_position(name) + vector("translate", translate))

    @scripted
    def release(self, name: str) -> None:
        """Let a handle or a hand go of its nodes from now on."""
        body = find_body(self.model, "handle", name)
        self._mark()
        self._forget(body)
        self.engine.change(self.model, let_go(self.state, body))

    @scripted
    def grasp(self, name: str, at: Numbers, *, reach: float = 0.01) -> bool:
        """Let a handle take hold of the node nearest to the point `at` [m] that no handle holds; whether it found one.

        Only a node within `reach` [m] is taken, where it is. What the handle holds already it keeps.
        """
        body, point = find_body(self.model, "handle", name), vector("at", at)
        held = take_hold(self.model, self.state, body, point, positive("reach", reach, "m"))
        if held is None:
            return False
        self._change(self.model, held)
        return True

    def pick(self, origin: Numbers, direction: Numbers) -> Place | None:
        """Where a ray from `origin` [m] along `direction` first meets a sheet, None where it meets none."""
        along = vector("pick: direction", direction)
        if not np.any(along):
            raise InputError("pick: direction", "must not be zero", list(along))
        return pick(self.state, vector("pick: origin", origin), along)

    @scripted
    def grab(
        self,
        u: Numbers,
        *,
        sheet: int = 0,
        radius: float = Grip.radius,
        stiffness: float = Grip.stiffness,
        largest: float = Grip.largest,
    ) -> str:
        """Take hold of a sheet with a hand, where it is, at the point `u` [m] of its pattern; returns the hand's name.

        The hand holds all that lies within `radius` [m] of the point, at least a face, by springs of `stiffness` [N/m]
        together, and pulls with a force of at most `largest` [N]: the sheet wins over the hand.
        """
        grip = Grip(
            positive("grab: radius", radius, "m"),
            positive("grab: stiffness", stiffness, "N/m"),
            positive("grab: largest", largest, "N"),
        )
        place = place_at(self.state, vector("grab: u", u, 2), whole("grab: sheet", sheet))
        name = self._take(place, grip)
        body = find_body(self.model, "handle", name)
        self._forget(body)
        self._wishes.offsets[name] = place.position - hand_middle(self.state, body)
        return name

    def _take(self, place: Place, grip: Grip) -> str:
        """Let a hand hold a sheet at a place, where the engine may put nodes first; the name of the hand."""
        before = self._here()
        nodes = self.engine.grip(place.face, place.u, grip.radius)
        try:
            model, state, name = add_hand(self.model, self.state, place, nodes, grip)
        except InputError:
            if self.state is not before.moment.state:
                self.engine.restore(before.moment)
            raise
        self._history.keep(before)
        self.engine.change(model, state)
        return name

    @scripted
    def move(self, hand: str, position: Numbers | None = None, rotation: Turn | None = None) -> None:
        """Say where a hand is to be at the end of the next step; it goes there steadily, and then stays.

        `position` [m]: of the point that it has grabbed;  `rotation` about it from its direction then, which turns all
        that it holds: a rotation vector [rad], a unit quaternion (x, y, z, w) or a matrix.
        """
        offsets = self._wishes.offsets
        if hand not in offsets:
            raise InputError("hand", f"there are {', '.join(offsets) or 'none'}", hand)
        body = find_body(self.model, "handle", hand)
        before = self._wishes.turns.get(body, np.eye(3))
        turn = before if rotation is None else _turn(rotation)
        point = self.hand_position(hand) if position is None else vector("position", position)
        self.set_handle(hand, point - turn @ offsets[hand], rotation)

    def hand_position(self, hand: str) -> Floats:
        """Where the point that a hand has grabbed is wanted now, (3,) [m]."""
        body = find_body(self.model, "handle", hand)
        turn = self._wishes.turns.get(body, np.eye(3))
        return wanted_position(self.model, self.state, body) + turn @ self._wishes.offsets.get(hand, np.zeros(3))

    def handle_position(self, name: str) -> Floats:
        """Where the middle of the nodes of a handle is wanted now, (3,) [m]."""
        return wanted_position(self.model, self.state, find_body(self.model, "handle", name))

    def obstacle_position(self, name: str) -> Floats:
        """Where the middle of the nodes of an obstacle is wanted now, (3,) [m]."""
        return wanted_position(self.model, self.state, find_body(self.model, "obstacle", name))

    def forces(self, name: str) -> Floats:
        """The force that a handle or an obstacle feels from the sheets, (3,) [N], at the end of the last step."""
        if name not in self.handles + self.obstacles:
            known = ", ".join(self.handles + self.obstacles) or "none"
            raise InputError("forces", f"no handle or obstacle has this name, there are {known}", name)
        kind = "handle" if name in self.handles else "obstacle"
        return felt_force(self.model, self.state, find_body(self.model, kind, name))

    def _send(self, end: float) -> None:
        """What is wanted somewhere is on its way until `end` [s]."""
        wishes = self._wishes
        if not wishes.goals or not end > self.time:
            return
        self.engine.change(*send(self.model, self.state, wishes.goals, wishes.turns, end))
        wishes.sent, wishes.goals, wishes.arrival = wishes.goals, {}, end

    def _stop(self) -> None:
        """What was sent somewhere stays where it is wanted now: where it was sent, unless a step has failed."""
        wishes = self._wishes
        if not wishes.sent:
            return
        wishes.turns |= turned_now(self.model, wishes.sent, wishes.turns, self.time)
        self.engine.change(*stop(self.model, self.state, wishes.sent, self.time))
        wishes.sent, wishes.arrival = {}, np.inf

    def _forget(self, body: Body) -> None:
        """A handle that lets go, or takes hold anew, has no goal, turn or point any more."""
        self._wishes.goals.pop(body, None)
        self._wishes.turns.pop(body, None)
        self._wishes.offsets.pop(self.model.handles[body.number].name, None)


def _goal(position: Numbers | None, turn: Turn | None) -> Goal:
    where = None if position is None else vector("position", position)
    return Goal(where, None if turn is None else _turn(turn))


def _turn(turn: Turn) -> Floats:
    return rotation("rotation", turn)
