"""One session for every engine and every driver: command line, studio, sweeps, environments, Python.

It takes time further, tells observers, records, keeps what has happened, goes back and on again. What hands do is in
`handling`, what tools do to sheets and surroundings in `tooling`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.model import Model
from crumple.recording import Recorder, Recording, create_recording, resume_recording, state_digest
from crumple.recording.frame import decode_frame
from crumple.recording.recorder import Resolved
from crumple.runtime.errors import InputError, SimulationError
from crumple.session.arguments import positive, whole
from crumple.session.filming import Film
from crumple.session.handling import Handling
from crumple.session.history import Mark
from crumple.session.script import METHODS, Script, scripted
from crumple.session.tooling import Tooling
from crumple.simulation.engine import Engine, Moment, PhysicsEngine, frame_end
from crumple.simulation.observers import Audience, Event, Observer
from crumple.simulation.surface_view import SurfaceView
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport

SHORTEST = 1e-9
"""Of a frame: times that differ by less are the same."""
LONGEST = 1e6
"""Frames that one call may take: more is a slip of the pen, which would not end."""
FORGOTTEN = "more was done than is kept, so it cannot be replayed; reset() begins anew, and save() keeps the state"
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


class Session(Handling, Tooling):
    """An engine that is advanced as one likes.

    `observers` are told of all that the session does, and may be changed between its steps; those of `run` of that run
    only.
    """

    _has_told_full: bool = False

    def __init__(
        self, engine: Engine, *, scene: Resolved | str | None = None, observers: Sequence[Observer] = ()
    ) -> None:
        """`scene`: what recordings say that the model was built from, none when it was built by hand."""
        self.observers = list(observers)
        self._scene = scene
        self._recorder: Recorder | None = None
        self._film: Film | None = None
        self._listener = _Listener()
        self._seen: SheetMesh | None = None
        self._topology = 0
        super().__init__(engine)

    @property
    def is_recorded(self) -> bool:
        return self._recorder is not None or self._film is not None

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
    def run(
        self,
        frames: int | None = None,
        *,
        observers: Sequence[Observer] = (),
        between: Callable[[], None] | None = None,
    ) -> State:
        """Advance to the end of the scene, or until `frames` frames are done, and return the state.

        Observers see every step and every frame; `on_end` is called whatever happens. A run that an observer ends with
        `StopRun` finishes its frame first.  `between`: called before every frame, where hands may do something; no
        script can repeat such a run.
        """
        if between is not None:
            self._is_replayable = False
        last = self.model.frame_count if frames is None else whole("run: frames", frames)
        self._mark()
        audience = self._audience(observers)
        try:
            audience.on_start(self.model, self.state)
            while self.state.frame < last and not audience.wants_end:
                if between is not None:
                    between()
                self._advance_frame(audience)
        finally:
            audience.on_end(self.model, self.state)
        return self.state

    def events(self) -> list[Event]:
        """What has happened since this was last asked."""
        if self._actions.is_full and not self._has_told_full:
            self._has_told_full = True
            self._listener.events.append(Event(self.time, "forgotten", FORGOTTEN))
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
        """Back to before the last advance or run, or the last thing that a hand or a tool has done, or before the last
        `count` of them.

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

    def view(self) -> SurfaceView:
        """What there is to be seen; its `topology` is another number whenever the mesh is another."""
        view = self.engine.view()
        if view.mesh is not self._seen:
            self._seen = view.mesh
            self._topology += 1
        return replace(view, topology=self._topology)

    def script(self) -> Script:
        """What has been done since the start, or since the last `reset`, to be played again; see `play`."""
        if not self._is_replayable:
            raise InputError("script", "the state was replaced by hand, which a script cannot repeat")
        if self._actions.is_full:
            raise InputError("script", FORGOTTEN)
        return Script(self._actions.copy(), state_digest(self._first.state))

    def play(self, script: Script, *, check: bool = True) -> State:
        """Do what a script says and return the state: the same bits as then, if the session was at the same start.

        What failed then fails again, of which an event of the kind "trouble" tells, and leaves the same state behind.
        Another start than that of the script is refused; without `check` it is not looked at.
        """
        if check:
            script.check_start(self.state)
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

    def record(self, path: str | Path, *, force: bool = False, shown: bool = False) -> Recording:
        """Write every frame from now on into a new recording in the folder `path`.

        A model that was built by hand is recorded like that of a scene, and resumed, analysed and shown in the same
        way.  `shown`: frames as they are shown, for pictures and exports, where the engine shows sheets finer than it
        simulates them.
        """
        self.close()
        recorder = create_recording(path, self._scene, force=force)
        if shown:
            self._film = Film(recorder, self.engine)
            self._film.on_start(self.model, self.state)
        else:
            self._recorder = recorder
            recorder.on_start(self.model, self.state)
        return recorder.recording

    def save(self, path: str | Path, *, force: bool = False) -> Recording:
        """Write the present state as the only frame of a recording in the folder `path`."""
        kept, self._recorder, self._film = (self._recorder, self._film), None, None
        try:
            return self.record(path, force=force)
        finally:
            self.close()
            self._recorder, self._film = kept

    def close(self) -> None:
        """End the recording, if there is one."""
        for recorder in (self._recorder, None if self._film is None else self._film.recorder):
            if recorder is not None:
                recorder.close()
        self._recorder = self._film = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, first: Moment) -> None:
        super()._begin(first)
        self._listener.events.clear()
        self._has_told_full = False
        self._aside: dict[int, Path] = {}

    def _audience(self, observers: Sequence[Observer] = ()) -> Audience:
        """All who are told."""
        recorders = [recorder for recorder in (self._recorder, self._film) if recorder is not None]
        return Audience([self._listener, *recorders, *self.observers, *observers])

    def _later(self, dt: float) -> float:
        """The time `dt` later [s]; the end of a frame if it is that but for rounding."""
        shortest = SHORTEST * self.model.frame_time
        end = self.time + positive("step: dt", dt, "s")
        frame = round(end / self.model.frame_time) * self.model.frame_time if np.isfinite(end) else end
        end = frame if abs(end - frame) <= shortest else end
        if not end - self.time > shortest:
            raise InputError("step: dt", f"must be longer than {shortest:g} s, a billionth of a frame", dt)
        longest = LONGEST * self.model.frame_time
        if not end - self.time < longest:
            raise InputError("step: dt", f"must be shorter than {longest:g} s, a million frames", dt)
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
        if self.time >= self._wishes.arrival:
            self._stop()
        return report

    def _travel(self, place: str, count: int) -> State:
        """Go back ("undo") or on again ("redo") by `count` places."""
        way = self._history.way(place, count)
        if self._film is not None:
            raise InputError(place, "a recording of what is shown only goes on; close it to go elsewhere")
        self._refuse_earlier(way[-1].moment.state, place)
        if not self.redo_count:  # what was moved aside before belongs to another course of things
            self._aside.clear()
        self._refuse_lost(way, place)
        self._history.go(place, count, self._here())
        self._return(way[-1])
        self._follow(way)
        return self.state

    def _refuse_earlier(self, goal: State, place: str) -> None:
        """A recording cannot go back to before its first frame."""
        first = None if self._recorder is None else self._recorder.recording.frames[0]
        if first is not None and goal.frame < first:
            raise InputError(
                place, f"the recording begins with frame {first}; close it to go back to before", goal.frame
            )

    def _refuse_lost(self, way: Sequence[Mark], place: str) -> None:
        """A recording cannot go on again over frames that are there no more."""
        if self._recorder is None:
            return
        for number in self._frames_between(way):
            if number not in self._aside or not self._aside[number].is_file():
                remedy = "the frame is not in the folder set-aside any more; close the recording to go on again"
                raise InputError(place, remedy, number)

    def _frames_between(self, way: Sequence[Mark]) -> list[int]:
        """Frames after the last recorded one that a way leads over, without those that it stops at the end of."""
        assert self._recorder is not None
        known = {mark.moment.state.frame for mark in way if _is_at_end(mark.moment)}
        first, last = self._recorder.recording.frames[-1] + 1, way[-1].moment.state.frame
        return [number for number in range(first, last + 1) if number not in known]

    def _bring_back(self, way: Sequence[Mark]) -> None:
        """Record again all frames that were moved aside and that the way leads over."""
        assert self._recorder is not None
        lost = self._frames_between(way)
        for mark in way:
            for number in [number for number in lost if number <= mark.moment.state.frame]:
                self._recorder.on_start(mark.moment.model, decode_frame(self._aside[number], number))
                lost.remove(number)
            if _is_at_end(mark.moment):
                self._recorder.on_start(mark.moment.model, mark.moment.state)

    def _follow(self, way: Sequence[Mark]) -> None:
        """The recording ends with the present frame: those after it are moved aside, and those that are missing
        come."""
        if self._recorder is None:
            return
        recording, frame = self._recorder.recording, self.state.frame
        if recording.frames[-1] > frame:
            self.close()
            _, self._recorder = resume_recording(recording.path, frame=frame)
            self._aside |= self._recorder.replaced
        elif recording.frames[-1] < frame:
            self._bring_back(way)
        if frame in recording.frames or _is_at_end(self.engine.moment):
            self._recorder.on_start(self.model, self.state)


def _is_at_end(moment: Moment) -> bool:
    """Whether a moment is the end of its frame, not within the next."""
    return moment.state.time == moment.state.frame * moment.model.frame_time
