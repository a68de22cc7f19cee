"""Runs a simulation frame by frame and tells the observers."""

from __future__ import annotations

from collections.abc import Sequence

from crumple.simulation.frame import advance_frame
from crumple.simulation.model import Model
from crumple.simulation.observers import Observer, StopRun
from crumple.state import State


def run(model: Model, state: State, observers: Sequence[Observer] = (), *, frames: int | None = None) -> State:
    """Advance until frame `frames` (default: the model's duration) and return the last state.

    Observers see every step and every frame; `on_end` is called whatever happens.
    """
    last = model.frame_count if frames is None else frames
    for observer in observers:
        observer.on_start(model, state)
    try:
        while state.frame < last:
            state, report = advance_frame(model, state, observers)
            for observer in observers:
                observer.on_frame(model, state, report)
    except StopRun:
        pass
    finally:
        for observer in observers:
            observer.on_end(model, state)
    return state
