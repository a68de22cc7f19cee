"""Ctrl-C during a run: finish the step, write what there is, stop."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from rich.console import Console

from crumple.simulation.model import Model
from crumple.simulation.observers import FrameReport, Observer, StepReport
from crumple.state import State


class Interruption(Observer):
    """While entered, the first SIGINT or SIGTERM ends the run after the current step, a second one at once.

    Ends it by `KeyboardInterrupt`; place it behind the recorder, so that a finished frame is on disk by then.
    """

    def __init__(self, console: Console) -> None:
        self._console, self._asked = console, False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self._stop_if_asked()

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        self._stop_if_asked()

    def _stop_if_asked(self) -> None:
        if self._asked:
            raise KeyboardInterrupt

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        self._console.print("stopping after this step (once more: at once) …")
