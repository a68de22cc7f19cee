"""Runs a simulation frame by frame and tells the observers."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

from crumple.errors import SimulationError
from crumple.simulation.adapting import adapt
from crumple.simulation.model import Model
from crumple.simulation.observers import FrameReport, Observer, StepReport, StopRun
from crumple.simulation.state import State
from crumple.simulation.step import advance_step
from crumple.simulation.workspace import Workspace
from crumple.timing import PhaseTimer


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


def advance_frame(model: Model, state: State, observers: Sequence[Observer] = ()) -> tuple[State, FrameReport]:
    """One frame: adaptive steps up to its end, then remeshing.

    Everything derived from the state is made anew here, so a run resumed from a frame repeats the same bits.
    """
    timer = PhaseTimer()
    begin = clock.perf_counter()
    with timer("preparation"):
        workspace = Workspace(model, state, timer)
    end = (state.frame + 1) * model.frame_time
    reports: list[StepReport] = []
    while state.time < end:
        try:
            state, report = advance_step(model, state, workspace, end)
        except SimulationError as error:
            raise SimulationError(f"frame {state.frame + 1}, t = {state.time:.6g} s: {error}") from None
        reports.append(report)
        for observer in observers:
            observer.on_step(model, state, report)
    warnings = [report.note for report in reports if report.note]
    state = adapt(model, state.replaced(frame=state.frame + 1), workspace, warnings)
    return state, _summarise(state, reports, warnings, clock.perf_counter() - begin, timer, workspace.solver.name)


def _summarise(
    state: State, reports: list[StepReport], warnings: list[str], seconds: float, timer: PhaseTimer, solver: str
) -> FrameReport:
    return FrameReport(
        frame=state.frame,
        time=state.time,
        faces=state.mesh.face_count,
        steps=len(reports),
        iterations=sum(report.iterations for report in reports),
        contacts_max=max((report.contacts for report in reports), default=0),
        seconds=seconds,
        phases=timer.take(),
        energies=reports[-1].energies if reports else {},
        warnings=tuple(warnings),
        linear_solver=solver,
    )
