"""Recordings of what is shown: frames of an engine whose sheet is seen finer than it is simulated."""

from __future__ import annotations

from crumple.model.model import Model
from crumple.recording import Recorder
from crumple.simulation.engine import Engine
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport


class Film(Observer):
    """Hands a recorder every frame as the engine shows it."""

    def __init__(self, recorder: Recorder, engine: Engine) -> None:
        self.recorder, self._engine = recorder, engine

    def on_start(self, model: Model, state: State) -> None:
        self.recorder.on_start(model, self._engine.shown_state())

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self.recorder.on_step(model, state, report)

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        self.recorder.on_frame(model, self._engine.shown_state(), report)

    def on_end(self, model: Model, state: State) -> None:
        self.recorder.on_end(model, state)
