"""One frame, after Algorithm 1 of [Narain2013]:

    integrate · tear · yield · embed   in steps, up to the end of the frame, with contact inside the implicit solve
    remesh · resample · project        once, at its end

Sheets yield after cracks have run: one that is pulled while its cracks wait for the end of the step is bent by far more
than it ever is.

What is derived from a state is made anew at the start of the frame and whenever the mesh changes, so a run that is
resumed from a frame repeats the same bits.

`advance_frame` takes a whole frame. A driver that interferes between steps calls `advance_once` for each of them, and
`close_frame` at the end of the frame.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import replace

from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.remeshing.adapting import (
    Adapting,
    AdaptingPhase,
    judge_sheets,
    project_sheets,
    remesh_sheets,
    resample_sheets,
)
from crumple.runtime.threads import worthwhile_threads
from crumple.runtime.timing import PhaseTimer
from crumple.simulation.demands import mesh_demands
from crumple.simulation.embedding import embed_sheets
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.stepping.advance import Phase, advance_through, move_sheets, sum_up, yield_sheets
from crumple.stepping.bookkeeping import note_pressing, with_stale_ledger
from crumple.stepping.reports import FrameReport, StepReport
from crumple.tearing.phases import lead_cracks, part_lips, spare_cracks, tear_sheets

STEP: tuple[Phase, ...] = (lead_cracks, move_sheets, tear_sheets, yield_sheets, spare_cracks, embed_sheets, sum_up)
"""The phases of every step."""
END: tuple[AdaptingPhase, ...] = (remesh_sheets, resample_sheets, project_sheets, part_lips, judge_sheets)
"""The phases at the end of a frame."""


def advance_frame(model: Model, state: State, observers: Sequence[Observer] = ()) -> tuple[State, FrameReport]:
    """The state at the end of the next frame, and what the frame cost. Observers are told of every step."""
    begin, timer = clock.perf_counter(), PhaseTimer()
    for observer in observers:
        observer.on_frame_start(model, state, timer)
    with timer("preparation"):
        derived = Derived(model, state, timer).prepared()
    end = (state.frame + 1) * model.frame_time
    reports: list[StepReport] = []
    while state.time < end:
        state, report, derived = advance_once(state, derived, end)
        reports.append(report)
        for observer in observers:
            observer.on_step(model, state, report)
    return close_frame(state, derived, reports, observers, seconds=clock.perf_counter() - begin)


def advance_once(state: State, derived: Derived, end: float) -> tuple[State, StepReport, Derived]:
    """One step with all that it leaves behind, which does not pass `end` [s]: its state, its report, and what is
    derived from the mesh of the state, which a step may change; the next step takes both."""
    with worthwhile_threads(state.mesh.face_count):
        advance = advance_through(STEP, state, derived, end)
    return advance.state, advance.report, advance.derived


def close_frame(
    state: State,
    derived: Derived,
    reports: Sequence[StepReport],
    observers: Sequence[Observer] = (),
    *,
    seconds: float | None = None,
) -> tuple[State, FrameReport]:
    """The state after the last step of a frame on its new mesh, counted as a frame, and the report of the frame.

    `derived` from the mesh of `state`;  `reports` of the steps of the frame;  `seconds` that it has taken so far, those
    of its steps by default. Observers are told of a new mesh.
    """
    begin, taken = clock.perf_counter(), sum(report.seconds for report in reports) if seconds is None else seconds
    warnings = tuple(report.note for report in reports if report.note)
    state, pressed = note_pressing(state, derived)
    done = _adapt(state.replaced(frame=state.frame + 1), derived, (*warnings, *pressed), observers)
    report = FrameReport(
        frame=done.state.frame,
        time=done.state.time,
        faces=done.state.mesh.face_count,
        steps=len(reports),
        iterations=sum(report.iterations for report in reports),
        contacts_max=max((report.contacts for report in reports), default=0),
        seconds=taken + clock.perf_counter() - begin,
        phases=derived.timer.take(),
        energies=reports[-1].energies if reports else {},
        ledger=reports[-1].ledger if reports else {},
        warnings=done.warnings,
        linear_solver=derived.system.solver_name,
    )
    return done.state, report


def adapt(state: State, derived: Derived) -> State:
    """The state on a mesh that is as fine as its shape asks for, and with lips of cracks that have gained thickness."""
    return _adapt(state, derived).state


def _adapt(
    state: State, derived: Derived, warnings: tuple[str, ...] = (), observers: Sequence[Observer] = ()
) -> Adapting:
    """The end of a frame after all phases; observers are told of a new mesh, before the nodes have settled on it."""
    model, is_reported = derived.model, False
    adapting = Adapting(state, derived, derived.timer, mesh_demands(model), warnings=warnings)
    for phase in END:
        adapting = phase(adapting)
        if adapting.change is not None and not is_reported:
            is_reported = True
            for observer in observers:
                observer.on_mesh(model, adapting.state)
    return adapting if adapting.state is state else replace(adapting, state=with_stale_ledger(adapting.state))
