"""Runs a simulation frame by frame and tells the observers."""

from __future__ import annotations

from collections.abc import Sequence

from crumple.simulation.frame import advance_frame
from crumple.simulation.model import Model
from crumple.simulation.observers import Audience, Observer
from crumple.state import State


def run(model: Model, state: State, observers: Sequence[Observer] = (), *, frames: int | None = None) -> State:
    """Advance until frame `frames` (default: the model's duration) and return the last state.

    Observers see every step and every frame; `on_end` is called whatever happens. A run that an observer ends with
    `StopRun` finishes its frame first.
    """
    last = model.frame_count if frames is None else frames
    audience = Audience(observers)
    try:
        audience.on_start(model, state)
        while state.frame < last and not audience.wants_end:
            state, report = advance_frame(model, state, [audience])
            audience.on_frame(model, state, report)
    finally:
        audience.on_end(model, state)
    return state
