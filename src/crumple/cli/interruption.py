"""Ctrl-C during a run: write what there is, stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from crumple.model.model import Model
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport


class Interruption(Observer):
    """While entered, SIGINT or SIGTERM ends the run by `KeyboardInterrupt`.

    Python runs its handler between two operations, so the run ends as soon as the kernel or factorisation that is
    going on is done, also in the middle of a long solve: a step that is not finished is worth nothing to a recording.
    A shielded observer (the recorder) finishes what it is doing first; a second signal ends even that at once.
    """

    def __init__(self) -> None:
        self._asked = self._shielded = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    @contextmanager
    def unwrapped(self) -> Iterator[None]:
        """Let `KeyboardInterrupt` be what a signal ends this with, also one that came while compiled code handed its
        results over: the interpreter makes a `SystemError` of that."""
        try:
            yield
        except SystemError:
            if not self._asked:
                raise
            raise KeyboardInterrupt from None

    def shield(self, observer: Observer) -> Observer:
        """The `observer`, not interrupted while it is at work by the first signal."""
        return _Shielded(observer, self)

    @contextmanager
    def held_off(self) -> Iterator[None]:
        """Let what is inside finish before a first signal takes effect."""
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False

    def stop_if_asked(self) -> None:
        """End the run when a signal came; also catches one whose exception was lost in a destructor."""
        if self._asked:
            raise KeyboardInterrupt

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self.stop_if_asked()

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        self.stop_if_asked()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        again, self._asked = self._asked, True
        if again or not self._shielded:
            raise KeyboardInterrupt


class _Shielded(Observer):
    """Passes everything on to an observer; signals wait until it is done."""

    def __init__(self, observer: Observer, interruption: Interruption) -> None:
        self._observer, self._interruption = observer, interruption

    def on_start(self, model: Model, state: State) -> None:
        with self._interruption.held_off():
            self._observer.on_start(model, state)
        self._interruption.stop_if_asked()

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        with self._interruption.held_off():
            self._observer.on_step(model, state, report)
        self._interruption.stop_if_asked()

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        with self._interruption.held_off():
            self._observer.on_frame(model, state, report)
        self._interruption.stop_if_asked()

    def on_end(self, model: Model, state: State) -> None:
        with self._interruption.held_off():
            self._observer.on_end(model, state)
