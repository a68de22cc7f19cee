"""What a run shows while it goes on: a progress bar on a terminal, a line per frame elsewhere, and what a long frame is
at."""

from __future__ import annotations

import threading
import time as clock

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.text import Text

from crumple.cli.consoles import text_column
from crumple.cli.costs import FrameCost
from crumple.model.model import Model
from crumple.runtime.compilation import CompilationWatch
from crumple.runtime.timing import PhaseTimer
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport

LONG_FRAME = 10.0
"""Seconds after which a terminal shows what a frame is at."""
HEARTBEAT = 60.0
"""Seconds between two lines about the same frame where there is no terminal."""


class RunProgress(Observer):
    """Shows frame, simulated time, faces, contacts, Newton iterations, seconds per frame and time left.

    A frame that takes long, or compiles kernels that no run before has needed, shows what it is at; one that costs far
    more than those before says so while it goes on, with the likely cause.
    """

    def __init__(self, console: Console, frame_count: int) -> None:
        self._console, self._frame_count = console, frame_count
        self._bar = Progress(
            text_column("frame {task.completed:.0f}/{task.total:.0f}"),
            BarColumn(bar_width=None),
            text_column("{task.fields[status]}"),
            _Activity(self),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("run", total=frame_count, status="")
        self._contacts = self._iterations = 0
        self._seconds = 0.0
        self._cost = FrameCost()
        self._timer = PhaseTimer()
        self._frame = 0
        self._ended = threading.Event()
        self._compiling = CompilationWatch()

    def on_start(self, model: Model, state: State) -> None:
        self._compiling.__enter__()
        self._bar.update(self._task, completed=state.frame)
        self._bar.start()
        if not self._console.is_terminal:
            threading.Thread(target=self._beat, name="crumple-progress", daemon=True).start()

    def on_frame_start(self, model: Model, state: State, timer: PhaseTimer) -> None:
        self._timer, self._frame = timer, state.frame + 1
        self._cost.on_frame_start(model, state)

    def on_mesh(self, model: Model, state: State) -> None:
        self._warn(self._cost.on_mesh(state))

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self._contacts, self._iterations = report.contacts, self._iterations + report.iterations
        self._bar.update(self._task, status=self._status(state))
        self._warn(self._cost.on_step(state, report))

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        for warning in dict.fromkeys(report.warnings):
            self._warn(warning)
        self._seconds = report.seconds
        self._cost.on_frame(report)
        status = self._status(state)
        self._iterations = 0
        self._bar.update(self._task, completed=state.frame, status=status)
        if not self._console.is_terminal:
            self._console.print(f"frame {state.frame}/{self._frame_count}  {status}", markup=False, highlight=False)

    def on_end(self, model: Model, state: State) -> None:
        self._ended.set()
        self._compiling.__exit__()
        self._bar.stop()

    @property
    def activity(self) -> str:
        """What a long frame is at, or which kernel it compiles; "" while it is not long."""
        seconds, kernel = self._cost.seconds, self._compiling.current
        if kernel:
            return f"compiling {kernel}, once on this machine"
        if seconds < LONG_FRAME:
            return ""
        return f"{seconds:.0f} s on this frame, in {self._timer.phase or 'between phases'}"

    def _status(self, state: State) -> str:
        """Iterations are those of the frame so far, seconds those of the last finished frame."""
        size = f"t {state.time:.2f} s  {state.mesh.face_count} faces  {self._contacts} contacts"
        return f"{size}  {self._iterations} Newton  {self._seconds:.2f} s/frame"

    def _warn(self, warning: str) -> None:
        if warning:
            self._console.print(f"frame {self._frame}: {warning}", style="yellow", markup=False, highlight=False)

    def _beat(self) -> None:
        """Print a line about a frame that takes more than a minute, every minute, and about one that compiles."""
        told, compiled = clock.monotonic(), 0
        while not self._ended.wait(1.0):
            if self._compiling.current and self._frame != compiled:
                compiled = self._frame
                self._console.print(f"frame {self._frame}: {self.activity}", markup=False, highlight=False)
            if self._cost.seconds < HEARTBEAT or clock.monotonic() - told < HEARTBEAT:
                continue
            told = clock.monotonic()
            steps = f"{self._cost.steps} steps and {self._cost.iterations} Newton iterations so far"
            self._console.print(f"frame {self._frame}: {self.activity}; {steps}", markup=False, highlight=False)


class _Activity(ProgressColumn):
    """What a long frame is at, asked for whenever the bar is drawn."""

    def __init__(self, progress: RunProgress) -> None:
        super().__init__()
        self._progress = progress

    def render(self, task: Task) -> Text:
        return Text(self._progress.activity, style="yellow")
