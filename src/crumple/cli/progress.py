"""What a run shows while it goes on: a progress bar on a terminal, a line per frame elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from crumple.simulation.model import Model
from crumple.simulation.observers import FrameReport, Observer, StepReport
from crumple.state import State


class RunProgress(Observer):
    """Shows frame, simulated time, faces, contacts, Newton iterations, seconds per frame and time left."""

    def __init__(self, console: Console, frame_count: int) -> None:
        self._console, self._frame_count = console, frame_count
        self._bar = Progress(
            TextColumn("frame {task.completed:.0f}/{task.total:.0f}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[status]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("run", total=frame_count, status="")
        self._contacts = self._iterations = 0
        self._seconds = 0.0

    def on_start(self, model: Model, state: State) -> None:
        self._bar.update(self._task, completed=state.frame)
        self._bar.start()

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self._contacts, self._iterations = report.contacts, self._iterations + report.iterations
        self._bar.update(self._task, status=self._status(state))

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        for warning in dict.fromkeys(report.warnings):
            self._console.print(f"frame {report.frame}: {warning}", style="yellow", markup=False)
        self._seconds = report.seconds
        status = self._status(state)
        self._iterations = 0
        self._bar.update(self._task, completed=state.frame, status=status)
        if not self._console.is_terminal:
            self._console.print(f"frame {state.frame}/{self._frame_count}  {status}", markup=False, highlight=False)

    def on_end(self, model: Model, state: State) -> None:
        self._bar.stop()

    def _status(self, state: State) -> str:
        """Iterations are those of the frame so far, seconds those of the last finished frame."""
        size = f"t {state.time:.2f} s  {state.mesh.face_count} faces  {self._contacts} contacts"
        return f"{size}  {self._iterations} Newton  {self._seconds:.2f} s/frame"
