"""What watches a run: recorders, progress bars, statistics, stop rules, the user's own callbacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crumple.model.model import Model
from crumple.runtime.timing import PhaseTimer
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport


@dataclass(frozen=True)
class Event:
    """Something that has happened at a `time` [s]: its `kind`, what there is to say of it, the `energy` set free [J].

    Kinds of the physics engine: "tear" (a crack has run), "crease" (the sheet has yielded), "snap" (stored energy was
    set free), "note" (an obstacle was held back, a crease has yielded or
    broken, a crack waits), "warning" (the mesh is coarser than asked for).
    """

    time: float
    kind: str
    message: str
    energy: float = 0.0


class Observer:
    """Does nothing; override what you need. Raise `StopRun` from any of these to end the run after the frame.

    Every observer is told everything, whatever another one raises: the order of observers does not matter.
    """

    def on_start(self, model: Model, state: State) -> None:
        """Before the first step, with the state that the run starts from."""

    def on_frame_start(self, model: Model, state: State, timer: PhaseTimer) -> None:
        """When work on the next frame begins; `timer` shows what is going on, until its end."""

    def on_mesh(self, model: Model, state: State) -> None:
        """At the end of a frame whose mesh has changed, before the nodes have settled on the new one."""

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        """After every accepted time step."""

    def on_event(self, model: Model, state: State, event: Event) -> None:
        """After a step, or at the end of a frame, in which something has happened."""

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        """After every frame."""

    def on_end(self, model: Model, state: State) -> None:
        """Once, when the run ends, also after an error or an interruption."""


class StopRun(Exception):  # noqa: N818 (a signal, not an error)
    """Raised by an observer to end the run after the current frame, which is finished first and told to everyone."""


class Audience(Observer):
    """All observers of a run: each is told everything, also what comes after one of them has raised something.

    `wants_end`: whether one has asked for the end of the run with `StopRun`. The first error is raised when all have
    been told.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers)
        self.wants_end = False

    def on_start(self, model: Model, state: State) -> None:
        self._notify(lambda observer: observer.on_start(model, state))

    def on_frame_start(self, model: Model, state: State, timer: PhaseTimer) -> None:
        self._notify(lambda observer: observer.on_frame_start(model, state, timer))

    def on_mesh(self, model: Model, state: State) -> None:
        self._notify(lambda observer: observer.on_mesh(model, state))

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self._notify(lambda observer: observer.on_step(model, state, report))

    def on_event(self, model: Model, state: State, event: Event) -> None:
        self._notify(lambda observer: observer.on_event(model, state, event))

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        self._notify(lambda observer: observer.on_frame(model, state, report))

    def on_end(self, model: Model, state: State) -> None:
        self._notify(lambda observer: observer.on_end(model, state))

    def _notify(self, notify: Callable[[Observer], None]) -> None:
        errors: list[BaseException] = []
        for observer in self._observers:
            try:
                notify(observer)
            except StopRun:
                self.wants_end = True
            except BaseException as error:  # an interruption too: a recorder behind it still gets the frame
                errors.append(error)
        if errors:
            raise errors[0]


class Callback(Observer):
    """Calls `function(state, report)` after every frame."""

    def __init__(self, function: Callable[[State, FrameReport], None]) -> None:
        self._function = function

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        self._function(state, report)


class Statistics(Observer):
    """Keeps all reports in memory: `steps` and `frames`."""

    def __init__(self) -> None:
        self.steps: list[StepReport] = []
        self.frames: list[FrameReport] = []

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self.steps.append(report)

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        self.frames.append(report)


class StopAtRest(Observer):
    """Ends the run when no node moves faster than `speed` [m/s] at the end of a frame."""

    def __init__(self, speed: float) -> None:
        self._speed = speed

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        if state.time > 0.0 and abs(state.v).max() < self._speed:
            raise StopRun
