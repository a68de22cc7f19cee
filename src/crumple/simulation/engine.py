"""What a session is over: an engine that advances a model in time. The physics engine is the first.

An engine is asked for one time step at a time, and for the end of each frame; everything else (runs, recordings, hands,
undoing) is the session's and the same for every engine. Model and state are the common language: observers, recordings,
pictures and exports see them, and whoever moves a handle or an obstacle gives the engine a changed model and state. An
engine whose own state is richer shows it as a `State`, and puts the rest into its moments.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Protocol

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.runtime.errors import InputError
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats, Ints
from crumple.simulation.frame import advance_once, close_frame
from crumple.simulation.observers import Event, Observer
from crumple.simulation.surface_view import SurfaceView, view_of
from crumple.simulation.tuning import TUNING
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport

MOVED, HELD = ("handles", "obstacles"), ("pins",)
"""What of a model, and of a state, may change during a frame without everything being derived anew."""
HEARD = TUNING.heard_energy.value


@dataclass(frozen=True)
class Moment:
    """All that an engine is at, never changed: it can be kept and gone back to. `inner`: what only the engine knows."""

    model: Model
    state: State
    inner: object = None


class Engine(Protocol):
    """What advances a model in time; never itself watched, it tells the `observer` that it is given.

    A step that fails raises `SimulationError` and leaves the engine at the last safe state, from which it can go on.
    """

    @property
    def model(self) -> Model:
        """What stays constant, but for handles and obstacles that are moved by hand."""
        ...

    @property
    def state(self) -> State:
        """What the engine is at."""
        ...

    @property
    def moment(self) -> Moment:
        """All that the engine is at."""
        ...

    def restore(self, moment: Moment) -> None:
        """Go to a moment of this engine. From the end of a frame the same bits follow as did then."""
        ...

    def change(self, model: Model, state: State) -> None:
        """Go on with another model and state, such as after a handle was moved or has let go."""
        ...

    def refusal(self, action: str) -> str:
        """Why the engine cannot go on after an `action` of a session's tools, such as "cut"; "" when it can."""
        return ""

    def grip(self, face: int, u: Floats, radius: float) -> Ints:
        """The nodes that a hand holds at the point `u` (2,) [m] of the pattern, in a face: all of the sheet within
        `radius` [m], at least those of the face. An engine may put nodes there first."""
        return nodes_around(self.state.mesh, face, u, radius)

    def view(self) -> SurfaceView:
        """What there is to be seen."""
        return view_of(self.state)

    def shown_state(self) -> State:
        """The same as a state, for pictures."""
        return self.state

    def advance(self, until: float, observer: Observer) -> StepReport:
        """Take one time step, which does not pass `until` [s], at most the end of the frame."""
        ...

    def close_frame(self, observer: Observer) -> FrameReport:
        """Do what is done at the end of a frame, such as remeshing, and count it."""
        ...

    def advance_frame(self, observer: Observer | None = None) -> FrameReport:
        """Advance to the end of the present frame."""
        listener = observer or Observer()
        end = frame_end(self)
        while self.state.time < end:
            self.advance(end, listener)
        return self.close_frame(listener)


def nodes_around(mesh: SheetMesh, face: int, u: Floats, radius: float) -> Ints:
    """The nodes of the sheet of a face within `radius` [m] of the point `u` (2,) [m] of its pattern, and those of the
    face."""
    own = np.unique(mesh.faces[mesh.face_sheet == mesh.face_sheet[face]])
    near = own[np.linalg.norm(mesh.u[own] - u, axis=1) <= radius]
    return np.unique(np.append(mesh.vertex_node[near], mesh.face_nodes[face])).astype(np.int32)


def frame_end(engine: Engine) -> float:
    """When the present frame ends [s]."""
    return (engine.state.frame + 1) * engine.model.frame_time


@dataclass
class _Frame:
    """What is known of the frame in progress: what is derived from model and state, None after trouble."""

    timer: PhaseTimer
    derived: Derived | None = None
    reports: list[StepReport] = field(default_factory=list)
    seconds: float = 0.0


class PhysicsEngine(Engine):
    """Implicit steps with contact, plasticity, tearing and remeshing.

    What is derived from a state is made anew at the start of each frame and kept between its steps, whoever asks for
    them: a frame in one go and in pieces that end with it has the same bits.
    """

    def __init__(self, model: Model, state: State) -> None:
        self._model, self._state = model, state
        self._frame: _Frame | None = None

    @property
    def model(self) -> Model:
        return self._model

    @property
    def state(self) -> State:
        return self._state

    @property
    def moment(self) -> Moment:
        return Moment(self._model, self._state, () if self._frame is None else tuple(self._frame.reports))

    def restore(self, moment: Moment) -> None:
        self._model, self._state = moment.model, moment.state
        reports = [] if not isinstance(moment.inner, tuple) else list(moment.inner)
        self._frame = _Frame(PhaseTimer(), reports=reports) if reports else None

    def change(self, model: Model, state: State) -> None:
        frame = self._frame
        if state.frame != self._state.frame:
            self._frame = None
        elif frame is not None and frame.derived is not None:
            is_moved = _differ_only_in(model, self._model, MOVED) and _differ_only_in(state, self._state, HELD)
            frame.derived = frame.derived.with_handles(model) if is_moved else None
        self._model, self._state = model, state

    def advance(self, until: float, observer: Observer) -> StepReport:
        if not self._state.time < until <= frame_end(self):
            remedy = f"must be later than {self._state.time!r} s, and not after the frame, {frame_end(self)!r} s"
            raise InputError("advance: until", remedy, until)
        begin, before = clock.perf_counter(), self._state
        frame = self._open_frame(observer)
        derived = self._derive(frame)
        frame.derived = None  # until the step has succeeded
        self._state, report, frame.derived = advance_once(self._state, derived, until)
        frame.reports.append(report)
        try:
            observer.on_step(self._model, self._state, report)
            for event in _step_events(before, self._state, report):
                observer.on_event(self._model, self._state, event)
        finally:
            frame.seconds += clock.perf_counter() - begin
        return report

    def close_frame(self, observer: Observer) -> FrameReport:
        begin = clock.perf_counter()
        frame = self._open_frame(observer)
        derived = self._derive(frame)
        spent = frame.seconds + clock.perf_counter() - begin
        self._state, report = close_frame(self._state, derived, frame.reports, [observer], seconds=spent)
        self._frame = None
        noted = sum(bool(step.note) for step in frame.reports)
        for warning in report.warnings[noted:]:
            observer.on_event(self._model, self._state, Event(self._state.time, "warning", warning))
        observer.on_frame(self._model, self._state, report)
        return report

    def _open_frame(self, observer: Observer) -> _Frame:
        """The frame in progress, or a new one, of which the observer is told."""
        if self._frame is None:
            self._frame = _Frame(PhaseTimer())
            observer.on_frame_start(self._model, self._state, self._frame.timer)
        return self._frame

    def _derive(self, frame: _Frame) -> Derived:
        """What the next step of the frame needs."""
        if frame.derived is None:
            with frame.timer("preparation"):
                frame.derived = Derived(self._model, self._state, frame.timer).prepared()
        return frame.derived


def _differ_only_in(one: Model | State, other: Model | State, names: Sequence[str]) -> bool:
    """Whether all fields of two models, or of two states, are the same objects, but for those of the given `names`."""
    return all(getattr(one, part.name) is getattr(other, part.name) for part in fields(one) if part.name not in names)


def _step_events(before: State, state: State, report: StepReport) -> list[Event]:
    """What has happened in a step."""
    events = [Event(report.time, "note", report.note)] if report.note else []
    torn = state.fracture_work - before.fracture_work
    if torn > 0.0:
        events.append(Event(report.time, "tear", f"cracks have taken {torn:.3g} J", torn))
    yielded = report.losses.get("yielding", 0.0)
    if yielded > HEARD:
        events.append(Event(report.time, "crease", f"yielding has taken {yielded:.3g} J", yielded))
    freed = _set_free(before, state)
    if freed > HEARD:
        events.append(Event(report.time, "snap", f"{freed:.3g} J were set free", freed))
    return events


def _set_free(before: State, state: State) -> float:
    """The stored energy [J] that a step has turned into motion, or into what finite steps take of it."""
    old, new = before.ledger, state.ledger
    if not (old.has_begun and old.is_current) or new.stored >= old.stored:
        return 0.0
    return (new.kinetic + new.integrator) - (old.kinetic + old.integrator)
