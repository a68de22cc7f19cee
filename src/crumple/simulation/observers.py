"""What watches a run: recorders, progress bars, statistics, stop rules, the user's own callbacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from crumple.simulation.model import Model
from crumple.state import State
from crumple.timing import PhaseTimer


@dataclass(frozen=True)
class Pull:
    """What a handle or an obstacle has done in a step: its `force` on the sheets at the end [N], its `displacement`
    since it took hold, the mean of its nodes [m], and its `work` during the step [J]."""

    force: tuple[float, float, float]
    displacement: tuple[float, float, float]
    work: float


@dataclass(frozen=True)
class StepReport:
    """One accepted time step: when it ended [s], how long it was [s], what it cost and what it left.

    `energies` [J] by term at the end of the step, and of "contact"; `min_gap` smallest contact gap [m];
    `retries` shortened attempts, and the `trouble` of the last of them, "" if there was none;
    `note` which obstacles were held back, and what creases and cracks have done, else "";
    `handles`, `obstacles`: what each of them has done, by name;  `losses` [J] during the step by their cause, where
    sheets tear: "yielding".
    """

    time: float
    step: float
    iterations: int
    contacts: int
    min_gap: float
    energies: dict[str, float]
    seconds: float
    retries: int = 0
    note: str = ""
    trouble: str = ""
    handles: dict[str, Pull] = field(default_factory=dict)
    obstacles: dict[str, Pull] = field(default_factory=dict)
    losses: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class FrameReport:
    """One finished frame: sums and extremes over its steps, seconds per phase, warnings, the solver."""

    frame: int
    time: float
    faces: int
    steps: int
    iterations: int
    contacts_max: int
    seconds: float
    phases: dict[str, float]
    energies: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    linear_solver: str = ""


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
        self._tell(lambda observer: observer.on_start(model, state))

    def on_frame_start(self, model: Model, state: State, timer: PhaseTimer) -> None:
        self._tell(lambda observer: observer.on_frame_start(model, state, timer))

    def on_mesh(self, model: Model, state: State) -> None:
        self._tell(lambda observer: observer.on_mesh(model, state))

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self._tell(lambda observer: observer.on_step(model, state, report))

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        self._tell(lambda observer: observer.on_frame(model, state, report))

    def on_end(self, model: Model, state: State) -> None:
        self._tell(lambda observer: observer.on_end(model, state))

    def _tell(self, notify: Callable[[Observer], None]) -> None:
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
