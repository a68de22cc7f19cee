"""One session for every engine and every driver: command line, studio, sweeps, environments, Python.

It takes time further, tells observers, records, keeps what has happened, goes back and on again, and moves handles and
obstacles by hand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from crumple.boundary.motions import rotation_matrix
from crumple.model.model import Model
from crumple.recording import Recorder, Recording, create_recording, resume_recording
from crumple.recording.recorder import Resolved
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
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
from crumple.simulation.engine import Engine, Moment, PhysicsEngine, frame_end
from crumple.simulation.observers import Audience, Event, Observer
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport

SHORTEST = 1e-9
"""Of a frame: times that differ by less are the same."""
KEPT_FACES = 100_000
"""Faces of all states together that a session keeps to go back to, about 100 MB: hundreds of small sheets, the last one
of a large sheet."""
KEPT_EVENTS = 10_000
"""Events that wait to be asked for; the oldest are forgotten first."""


def run(model: Model, state: State, observers: Sequence[Observer] = (), *, frames: int | None = None) -> State:
    """Advance until frame `frames` (default: the model's duration) and return the last state.

    Observers see every step and every frame; `on_end` is called whatever happens. A run that an observer ends with
    `StopRun` finishes its frame first.
    """
    return Session(PhysicsEngine(model, state)).run(frames, observers=observers)


@dataclass(frozen=True)
class _Mark:
    """A place to go back to: the engine's moment, and how bodies that were turned by hand are turned, (3, 3) each."""

    moment: Moment
    turns: dict[Body, Floats]


class _Listener(Observer):
    """Keeps the events of a session."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=KEPT_EVENTS)

    def on_event(self, model: Model, state: State, event: Event) -> None:
        self.events.append(event)


class Session:
    """An engine that is advanced as one likes.

    `observers` are told of all that the session does, and may be changed between its steps; those of `run` of that run
    only.
    """

    def __init__(
        self, engine: Engine, *, scene: Resolved | str | None = None, observers: Sequence[Observer] = ()
    ) -> None:
        """`scene`: what recordings say that the model was built from, none when it was built by hand."""
        self.engine = engine
        self.observers = list(observers)
        self._scene = scene
        self._recorder: Recorder | None = None
        self._listener = _Listener()
        self._begin(engine.moment)

    @property
    def model(self) -> Model:
        """What is constant, but for handles and obstacles that are moved by hand."""
        return self.engine.model

    @property
    def state(self) -> State:
        """What the session is at; it may be replaced between steps."""
        return self.engine.state

    @state.setter
    def state(self, state: State) -> None:
        self._mark()
        self.engine.change(self.model, state)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    @property
    def handles(self) -> tuple[str, ...]:
        """Names of the handles."""
        return tuple(handle.name for handle in self.model.handles)

    @property
    def obstacles(self) -> tuple[str, ...]:
        """Names of the obstacles."""
        return tuple(obstacle.name for obstacle in self.model.obstacles)

    def advance(self, dt: float) -> StepReport:
        """Advance by exactly `dt` [s], in as many time steps as that needs; returns the report of the last.

        The mesh is adapted whenever a frame of the scene is over, and the frame recorded if there is a recording.
        """
        end = self._later(dt)
        self._mark()
        audience = self._audience()
        self._send(end)
        try:
            while self.time < end:
                report = self._step(end, audience)
                if self.time >= frame_end(self.engine):
                    self.engine.close_frame(audience)
        finally:
            self._stop()
        return report

    def advance_frame(self) -> FrameReport:
        """Advance to the end of the current frame of the scene."""
        self._mark()
        return self._advance_frame(self._audience())

    def run(self, frames: int | None = None, *, observers: Sequence[Observer] = ()) -> State:
        """Advance to the end of the scene, or until `frames` frames are done, and return the state.

        Observers see every step and every frame; `on_end` is called whatever happens. A run that an observer ends with
        `StopRun` finishes its frame first.
        """
        last = self.model.frame_count if frames is None else whole_number("run: frames", frames)
        self._mark()
        audience = self._audience(observers)
        try:
            audience.on_start(self.model, self.state)
            while self.state.frame < last and not audience.wants_end:
                self._advance_frame(audience)
        finally:
            audience.on_end(self.model, self.state)
        return self.state

    def events(self) -> list[Event]:
        """What has happened since this was last asked."""
        happened = list(self._listener.events)
        self._listener.events.clear()
        return happened

    @property
    def undo_count(self) -> int:
        """How often one can go back."""
        return len(self._past)

    @property
    def redo_count(self) -> int:
        """How often one can go on again."""
        return len(self._future)

    def undo(self, count: int = 1) -> State:
        """Back to before the last advance, run, grasp or release, or before the last `count` of them.

        Frames that were recorded since are moved aside.
        """
        return self._travel(self._past, self._future, count, "undo")

    def redo(self, count: int = 1) -> State:
        """Take back the last `undo`, or the last `count`; possible until something else is done."""
        return self._travel(self._future, self._past, count, "redo")

    def reset(self) -> State:
        """Back to the start. A recording ends."""
        self.close()
        self.engine.restore(self._first)
        self._begin(self._first)
        return self.state

    def set_handle(
        self,
        name: str,
        position: Sequence[float] | Floats | None = None,
        rotation: Sequence[float] | Floats | None = None,
    ) -> None:
        """Say where a handle is to be at the end of the next step; it goes there steadily, and then stays.

        `position` [m]: of the middle of the nodes that it holds, where it is by default;  `rotation`: a rotation vector
        [rad] from its direction at the start, as it is by default.
        """
        self._goals[find_body(self.model, "handle", name)] = _goal(position, rotation)

    def move_handle(self, name: str, translate: Sequence[float] | Floats) -> None:
        """Move a handle by `translate` [m] in the next step."""
        self.set_handle(name, self.handle_position(name) + _three("translate", translate))

    def set_obstacle(
        self,
        name: str,
        position: Sequence[float] | Floats | None = None,
        rotation: Sequence[float] | Floats | None = None,
    ) -> None:
        """Say where an obstacle is to be at the end of the next step; it goes there steadily, and then stays.

        `position` [m]: of the middle of its nodes, where it is by default;  `rotation`: a rotation vector [rad] about
        the middle from its direction at the start, as it is by default. It pushes sheets aside on its way; where they
        have no room it is held back, of which an event tells.
        """
        self._goals[find_body(self.model, "obstacle", name)] = _goal(position, rotation)

    def move_obstacle(self, name: str, translate: Sequence[float] | Floats) -> None:
        """Move an obstacle by `translate` [m] in the next step."""
        self.set_obstacle(name, self.obstacle_position(name) + _three("translate", translate))

    def release(self, name: str) -> None:
        """Let a handle go of its nodes from now on."""
        body = find_body(self.model, "handle", name)
        self._mark()
        self.engine.change(self.model, let_go(self.state, body))

    def grasp(self, name: str, at: Sequence[float] | Floats, *, reach: float = 0.01) -> bool:
        """Let a handle take hold of the node nearest to the point `at` [m] that no handle holds; whether it found one.

        Only a node within `reach` [m] is taken, where it is. What the handle holds already it keeps.
        """
        body, point = find_body(self.model, "handle", name), _three("at", at)
        held = take_hold(self.model, self.state, body, point, _positive("reach", reach, "m"))
        if held is None:
            return False
        self._mark()
        self.engine.change(self.model, held)
        return True

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

    def record(self, path: str | Path, *, force: bool = False) -> Recording:
        """Write every frame from now on into a new recording in the folder `path`.

        A model that was built by hand is recorded like that of a scene, and resumed, analysed and shown in the same
        way.
        """
        self.close()
        self._recorder = create_recording(path, self._scene, force=force)
        self._recorder.on_start(self.model, self.state)
        return self._recorder.recording

    def save(self, path: str | Path, *, force: bool = False) -> Recording:
        """Write the present state as the only frame of a recording in the folder `path`."""
        kept, self._recorder = self._recorder, None
        try:
            return self.record(path, force=force)
        finally:
            self.close()
            self._recorder = kept

    def close(self) -> None:
        """End the recording, if there is one."""
        if self._recorder is not None:
            self._recorder.close()
        self._recorder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, first: Moment) -> None:
        """Nothing has been done, and nothing is wanted yet."""
        self._first = first
        self._past: list[_Mark] = []
        self._future: list[_Mark] = []
        self._goals: dict[Body, Goal] = {}
        self._turns: dict[Body, Floats] = {}
        self._sent: dict[Body, Goal] = {}
        self._arrival = np.inf
        self._listener.events.clear()

    def _audience(self, observers: Sequence[Observer] = ()) -> Audience:
        """All who are told."""
        recorders = [] if self._recorder is None else [self._recorder]
        return Audience([self._listener, *recorders, *self.observers, *observers])

    def _later(self, dt: float) -> float:
        """The time `dt` later [s]; the end of a frame if it is that but for rounding."""
        shortest = SHORTEST * self.model.frame_time
        end = self.time + _positive("step: dt", dt, "s")
        frame = round(end / self.model.frame_time) * self.model.frame_time if np.isfinite(end) else end
        end = frame if abs(end - frame) <= shortest else end
        if not end - self.time > shortest:
            raise InputError("step: dt", f"must be longer than {shortest:g} s, a billionth of a frame", dt)
        return end

    def _advance_frame(self, audience: Audience) -> FrameReport:
        end = frame_end(self.engine)
        self._send(end)
        try:
            while self.time < end:
                self._step(end, audience)
        finally:
            self._stop()
        return self.engine.close_frame(audience)

    def _step(self, end: float, audience: Audience) -> StepReport:
        """One time step; what was sent and has arrived stays from now on, so that frames are recorded like that."""
        report = self.engine.advance(min(end, frame_end(self.engine)), audience)
        if self.time >= self._arrival:
            self._stop()
        return report

    def _send(self, end: float) -> None:
        """What is wanted somewhere is on its way until `end` [s]."""
        if not self._goals or not end > self.time:
            return
        self.engine.change(*send(self.model, self.state, self._goals, self._turns, end))
        self._sent, self._goals, self._arrival = self._goals, {}, end

    def _stop(self) -> None:
        """What was sent somewhere stays where it is wanted now: where it was sent, unless a step has failed."""
        if not self._sent:
            return
        self._turns |= turned_now(self.model, self._sent, self._turns, self.time)
        self.engine.change(*stop(self.model, self.state, self._sent, self.time))
        self._sent, self._arrival = {}, np.inf

    def _mark(self) -> None:
        """Keep where the session is, as a place to go back to."""
        self._past.append(_Mark(self.engine.moment, dict(self._turns)))
        self._future.clear()
        faces = 0
        for number, mark in enumerate(reversed(self._past)):
            faces += mark.moment.state.mesh.face_count
            if faces > KEPT_FACES and number > 0:
                del self._past[: len(self._past) - number]
                break

    def _travel(self, source: list[_Mark], target: list[_Mark], count: int, place: str) -> State:
        """Go `count` places along `source`, and keep the way back in `target`."""
        steps = whole_number(f"{place}: count", count)
        if not 1 <= steps <= len(source):
            raise InputError(f"{place}: count", f"must be 1 to {len(source)}, as often as it can be done", count)
        goal = source[-steps].moment.state
        self._refuse_earlier(goal, place)
        mark = _Mark(self.engine.moment, dict(self._turns))
        for _ in range(steps):
            target.append(mark)
            mark = source.pop()
        self.engine.restore(mark.moment)
        self._turns = dict(mark.turns)
        self._goals = {}
        self._follow()
        return self.state

    def _refuse_earlier(self, goal: State, place: str) -> None:
        """A recording cannot go back to before its first frame."""
        first = None if self._recorder is None else self._recorder.recording.frames[0]
        if first is not None and goal.frame < first:
            raise InputError(
                place, f"the recording begins with frame {first}; close it to go back to before", goal.frame
            )

    def _follow(self) -> None:
        """The recording ends with the present frame: those after it are moved aside, and one that is missing comes."""
        if self._recorder is None:
            return
        recording, frame = self._recorder.recording, self.state.frame
        if recording.frames[-1] > frame:
            self.close()
            _, self._recorder = resume_recording(recording.path, frame=frame)
        if frame in recording.frames or self.time == frame * self.model.frame_time:
            self._recorder.on_start(self.model, self.state)


def _goal(position: Sequence[float] | Floats | None, rotation: Sequence[float] | Floats | None) -> Goal:
    where = None if position is None else _three("position", position)
    return Goal(where, None if rotation is None else rotation_matrix(_three("rotation", rotation)))


def _three(name: str, values: Sequence[float] | Floats) -> Floats:
    """Three finite numbers as an array."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(name, "must be three finite numbers", values) from None
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(name, "must be three finite numbers", list(np.ravel(array)))
    return array


def _positive(place: str, value: float, unit: str) -> float:
    """A finite number > 0."""
    if isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value) and value > 0.0:
        return float(value)
    raise InputError(place, f"must be > 0, in {unit}", value)


def whole_number(place: str, value: int) -> int:
    """A whole number ≥ 0."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
        return int(value)
    raise InputError(place, "must be a whole number >= 0", value)
