"""One session for every engine and every driver: command line, studio, sweeps, environments, Python.

It takes time further, tells observers, records, keeps what has happened, goes back and on again, and moves handles and
obstacles by hand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np

from crumple.boundary.motions import rotation_matrix
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.model import Model
from crumple.recording import Recorder, Recording, create_recording, resume_recording
from crumple.recording.recorder import Resolved
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Floats
from crumple.session.arguments import positive, vector, whole
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
from crumple.session.history import History, Mark
from crumple.session.picking import Place, pick, place_at
from crumple.session.script import METHODS, Action, Script, scripted
from crumple.session.surface_view import SurfaceView, view_of
from crumple.simulation.engine import Engine, Moment, PhysicsEngine, frame_end
from crumple.simulation.observers import Audience, Event, Observer
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport

SHORTEST = 1e-9
"""Of a frame: times that differ by less are the same."""
KEPT_EVENTS = 10_000
"""Events that wait to be asked for; the oldest are forgotten first."""


def run(model: Model, state: State, observers: Sequence[Observer] = (), *, frames: int | None = None) -> State:
    """Advance until frame `frames` (default: the model's duration) and return the last state.

    Observers see every step and every frame; `on_end` is called whatever happens. A run that an observer ends with
    `StopRun` finishes its frame first.
    """
    return Session(PhysicsEngine(model, state)).run(frames, observers=observers)


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
        self._depth = 0
        self._seen: SheetMesh | None = None
        self._topology = 0
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
        self._is_replayable = False
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

    @scripted
    def advance(self, dt: float, *, keep: bool = True) -> StepReport:
        """Advance by exactly `dt` [s], in as many time steps as that needs; returns the report of the last.

        The mesh is adapted whenever a frame of the scene is over, and the frame recorded if there is a recording.
        `keep`: whether one can go back to before it; else `undo` goes back to before what was done earlier.
        """
        end = self._later(dt)
        if keep:
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

    @scripted
    def advance_frame(self) -> FrameReport:
        """Advance to the end of the current frame of the scene."""
        self._mark()
        return self._advance_frame(self._audience())

    @scripted
    def run(self, frames: int | None = None, *, observers: Sequence[Observer] = ()) -> State:
        """Advance to the end of the scene, or until `frames` frames are done, and return the state.

        Observers see every step and every frame; `on_end` is called whatever happens. A run that an observer ends with
        `StopRun` finishes its frame first.
        """
        last = self.model.frame_count if frames is None else whole("run: frames", frames)
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
        return len(self._history.past)

    @property
    def redo_count(self) -> int:
        """How often one can go on again."""
        return len(self._history.future)

    @scripted
    def undo(self, count: int = 1) -> State:
        """Back to before the last advance, run, grasp or release, or before the last `count` of them.

        Frames that were recorded since are moved aside.
        """
        return self._travel("undo", count)

    @scripted
    def redo(self, count: int = 1) -> State:
        """Take back the last `undo`, or the last `count`; possible until something else is done."""
        return self._travel("redo", count)

    def reset(self) -> State:
        """Back to the start. A recording ends."""
        self.close()
        self.engine.restore(self._first)
        self._begin(self._first)
        return self.state

    @scripted
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
        self.set_handle(name, self.handle_position(name) + vector("translate", translate))

    @scripted
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
        self.set_obstacle(name, self.obstacle_position(name) + vector("translate", translate))

    @scripted
    def release(self, name: str) -> None:
        """Let a handle or a hand go of its nodes from now on."""
        body = find_body(self.model, "handle", name)
        self._mark()
        self._forget(body)
        self.engine.change(self.model, let_go(self.state, body))

    @scripted
    def grasp(self, name: str, at: Sequence[float] | Floats, *, reach: float = 0.01) -> bool:
        """Let a handle take hold of the node nearest to the point `at` [m] that no handle holds; whether it found one.

        Only a node within `reach` [m] is taken, where it is. What the handle holds already it keeps.
        """
        body, point = find_body(self.model, "handle", name), vector("at", at)
        held = take_hold(self.model, self.state, body, point, positive("reach", reach, "m"))
        if held is None:
            return False
        self._mark()
        self.engine.change(self.model, held)
        return True

    def pick(self, origin: Sequence[float] | Floats, direction: Sequence[float] | Floats) -> Place | None:
        """Where a ray from `origin` [m] along `direction` first meets a sheet, None where it meets none."""
        along = vector("pick: direction", direction)
        if not np.any(along):
            raise InputError("pick: direction", "must not be zero", list(along))
        return pick(self.state, vector("pick: origin", origin), along)

    @scripted
    def grab(
        self,
        u: Sequence[float] | Floats,
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
        model, state, name = add_hand(self.model, self.state, place, grip)
        self._mark()
        self.engine.change(model, state)
        body = find_body(self.model, "handle", name)
        self._forget(body)
        self._offsets[name] = place.position - hand_middle(self.state, body)
        return name

    def move(
        self,
        hand: str,
        position: Sequence[float] | Floats | None = None,
        rotation: Sequence[float] | Floats | None = None,
    ) -> None:
        """Say where a hand is to be at the end of the next step; it goes there steadily, and then stays.

        `position` [m]: of the point that it has grabbed;  `rotation`: a rotation vector [rad] from its direction then.
        """
        if hand not in self._offsets:
            raise InputError("hand", f"there are {', '.join(self._offsets) or 'none'}", hand)
        body, offset = find_body(self.model, "handle", hand), self._offsets[hand]
        turn = self._turns.get(body, np.eye(3)) if rotation is None else rotation_matrix(vector("rotation", rotation))
        middle = None if position is None else vector("position", position) - turn @ offset
        self.set_handle(hand, middle, rotation)

    @property
    def hands(self) -> tuple[str, ...]:
        """Names of the hands that hold something."""
        return tuple(self._offsets)

    def hand_position(self, hand: str) -> Floats:
        """Where the point that a hand has grabbed is wanted now, (3,) [m]."""
        body = find_body(self.model, "handle", hand)
        turn = self._turns.get(body, np.eye(3))
        return wanted_position(self.model, self.state, body) + turn @ self._offsets.get(hand, np.zeros(3))

    @scripted
    def calm(self) -> State:
        """Bring all sheets to rest where they are, such as after a step that has failed."""
        self.engine.change(self.model, self.state.replaced(v=np.zeros_like(self.state.v)))
        return self.state

    @scripted
    def set_gravity(self, acceleration: Sequence[float] | Floats) -> None:
        """Let the gravity [m/s²] be another one from now on."""
        x, y, z = vector("set_gravity: acceleration", acceleration).tolist()
        self._mark()
        self.engine.change(replace(self.model, gravity=(x, y, z)), self.state)

    def view(self) -> SurfaceView:
        """What there is to be seen; its `topology` is another number whenever the mesh is another."""
        if self.state.mesh is not self._seen:
            self._seen = self.state.mesh
            self._topology += 1
        return view_of(self.state, self._topology)

    def script(self) -> Script:
        """What has been done since the start, or since the last `reset`, to be played again; see `play`."""
        if not self._is_replayable:
            raise InputError("script", "the state was replaced by hand, which a script cannot repeat")
        return Script(tuple(self._actions))

    def play(self, script: Script) -> State:
        """Do what a script says and return the state: the same bits as then, if the session was at the same start.

        What failed then fails again, of which an event of the kind "trouble" tells, and leaves the same state behind.
        """
        for number, action in enumerate(script.actions):
            place = f"script: actions[{number}]"
            if action.method not in METHODS:
                raise InputError(place, f"must be one of {', '.join(sorted(METHODS))}", action.method)
            try:
                getattr(self, action.method)(**action.arguments)
            except SimulationError as error:
                self._listener.events.append(Event(self.time, "trouble", str(error)))
            except TypeError as error:
                raise InputError(place, str(error), action.arguments) from None
        return self.state

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
        self._history = History()
        self._actions: list[Action] = []
        self._is_replayable = True
        self._offsets: dict[str, Floats] = {}
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
        end = self.time + positive("step: dt", dt, "s")
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
        self._history.keep(self._here())

    def _here(self) -> Mark:
        return Mark(self.engine.moment, dict(self._turns), dict(self._offsets))

    def _travel(self, place: str, count: int) -> State:
        """Go back ("undo") or on again ("redo") by `count` places."""
        goal = self._history.goal(place, count)
        self._refuse_earlier(goal.moment.state, place)
        self._history.go(place, count, self._here())
        self.engine.restore(goal.moment)
        self._turns, self._offsets = dict(goal.turns), dict(goal.offsets)
        self._goals = {}
        self._follow()
        return self.state

    def _forget(self, body: Body) -> None:
        """A handle that lets go, or takes hold anew, has no goal, turn or point any more."""
        self._goals.pop(body, None)
        self._turns.pop(body, None)
        self._offsets.pop(self.model.handles[body.number].name, None)

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
    where = None if position is None else vector("position", position)
    return Goal(where, None if rotation is None else rotation_matrix(vector("rotation", rotation)))
