"""One frame, after Algorithm 1 of [Narain2013]:

    integrate · tear · yield · embed   in steps, up to the end of the frame, with contact inside the implicit solve
    remesh · resample · project        once, at its end

Sheets yield after cracks have run: one that is pulled while its cracks wait for the end of the step is bent by far more
than it ever is.

What is derived from a state is made anew at the start of the frame and whenever the mesh changes, so a run that is
resumed from a frame repeats the same bits.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, replace

from crumple.errors import SimulationError
from crumple.simulation.adapting import CALM_FRAMES, remesh_state
from crumple.simulation.derived import Derived
from crumple.simulation.lips import grow_lips
from crumple.simulation.losses import yield_loss
from crumple.simulation.model import Model
from crumple.simulation.observers import FrameReport, Observer, StepReport
from crumple.simulation.pieces import part_pieces
from crumple.simulation.projection import project
from crumple.simulation.pulling import handle_loads, handle_pulls, obstacle_pulls
from crumple.simulation.step import measure_energies, take_step
from crumple.simulation.tearing import tear
from crumple.simulation.tip_load import spare_tips
from crumple.solving.pose import make_pose
from crumple.solving.potential import Potential
from crumple.state import State
from crumple.threads import worthwhile_threads
from crumple.timing import PhaseTimer
from crumple.typing import Floats

SHORTENINGS = 3
"""Times that a step is halved because a crack could not run on."""


def advance_frame(model: Model, state: State, observers: Sequence[Observer] = ()) -> tuple[State, FrameReport]:
    """The state at the end of the next frame, and what the frame cost. Observers are told of every step."""
    begin, timer = clock.perf_counter(), PhaseTimer()
    for observer in observers:
        observer.on_frame_start(model, state, timer)
    with timer("preparation"):
        derived = Derived(model, state, timer).prepared()
    end = (state.frame + 1) * model.frame_time
    reports: list[StepReport] = []
    is_embedded = False
    while state.time < end:
        state, report, is_embedded, derived = advance_once(state, derived, end, is_embedded)
        reports.append(report)
        for observer in observers:
            observer.on_step(model, state, report)
    warnings = [report.note for report in reports if report.note]
    state = adapt(state.replaced(frame=state.frame + 1), derived, warnings, observers)
    return state, _summarise(state, reports, warnings, clock.perf_counter() - begin, derived)


def advance_once(
    state: State, derived: Derived, end: float, is_embedded: bool
) -> tuple[State, StepReport, bool, Derived]:
    """One step with all that it leaves behind: integrate, tear, yield, embed.

    `is_embedded`: whether the plastic embedding shows the plastic state already; returned for the next step, like what
    is derived from the mesh, which tearing changes. A step after which a crack is overloaded and cannot run on is taken
    again, shorter, a few times; if that does not help, the first attempt counts, and the crack waits.
    """
    with worthwhile_threads(state.mesh.face_count):
        solver = derived.model.solver
        tried = [_advance(state, derived, end, is_embedded)]
        while tried[-1].is_stuck and len(tried) <= SHORTENINGS and solver.fixed_step is None:
            shorter = 0.5 * tried[-1].report.step
            if shorter < solver.min_step:
                break
            try:
                tried.append(_advance(state.replaced(step_size=shorter), derived, end, is_embedded))
            except SimulationError:
                break  # the attempt before could be taken
        found = tried[0] if tried[-1].is_stuck else tried[-1]
        iterations = sum(one.report.iterations for one in tried)
        report = replace(found.report, iterations=iterations, retries=found.report.retries + len(tried) - 1)
        return found.state, report, found.is_embedded, found.derived


@dataclass(frozen=True)
class _Advance:
    """A step with all that it leaves behind; `is_stuck`: a crack is overloaded and could not run on."""

    state: State
    report: StepReport
    is_embedded: bool
    derived: Derived
    is_stuck: bool


def _advance(state: State, derived: Derived, end: float, is_embedded: bool) -> _Advance:
    """`advance_once` with a single attempt."""
    try:
        moved, report, passage = take_step(state, derived, end)
    except SimulationError as error:
        raise SimulationError(f"frame {state.frame + 1}, t = {state.time:.6g} s: {error}") from None
    energies = dict(report.energies)  # of contact, while it was solved
    torn, is_stuck = moved, False
    if derived.model.tearing is not None:
        with derived.timer("tearing"):
            tear_end = tear(moved, derived, passage)
        is_embedded, is_stuck = is_embedded and tear_end.derived is derived, tear_end.is_stuck
        torn, derived, report = tear_end.state, tear_end.derived, tear_end.noted(report)
        energies["fracture"] = torn.fracture_work
    with derived.timer("plasticity"):
        settled = settle(torn, derived, report.step)
        settled, is_embedded = embed(torn, settled, derived, is_embedded)
    losses = {} if derived.model.tearing is None else {"yielding": yield_loss(torn, settled, derived)}
    energies = measure_energies(settled, derived) | energies
    report = replace(
        report,
        energies=energies,
        handles=handle_pulls(derived.model, state, moved, settled),
        obstacles=obstacle_pulls(derived.model, state, moved, settled),
        losses=losses,
    )
    settled = settled.replaced(handle_load=handle_loads(derived.model, settled))
    return _Advance(settled, report, is_embedded, derived, is_stuck)


def settle(state: State, derived: Derived, step: float) -> State:
    """The state after what a step has bent and stretched too far has yielded."""
    before = state
    for _, term in derived.terms:
        state = term.settle(state, step)
    if derived.model.tearing is not None:
        state = spare_tips(before, state, derived.model)
    if state is before or not state.has_acceleration:
        return state
    change = _pull(state, derived) - _pull(before, derived)  # yielding has relaxed some of the force
    return state.replaced(a=state.a + change / derived.mass[:, None])


def _pull(state: State, derived: Derived) -> Floats:
    """Elastic forces on the nodes, (node_count, 3) [N]."""
    kept = [e for kind, term in derived.terms if kind.is_in_play for e in term.stored(state, state.time)]
    potential = Potential(state.mesh.node_count, kept, None, PhaseTimer(), turn_count=derived.turn_count)
    return -potential.gradient(make_pose(state.x, state.half_turn))


def embed(before: State, state: State, derived: Derived, is_embedded: bool) -> tuple[State, bool]:
    """The state with its plastic embedding moved towards the plastic state, and whether it is there.

    The embedding of a large sheet that hardly yields is moved on with every remeshing, which needs it, only.
    """
    is_same = state.plastic_curvature is before.plastic_curvature and state.plastic_strain is before.plastic_strain
    if (is_same and is_embedded) or not derived.model.is_plastic:
        return state, is_embedded
    is_calm = derived.embedding.is_calm(before.plastic_curvature, state.plastic_curvature)
    if is_calm and derived.model.remeshing is not None and (state.frame + 1) % CALM_FRAMES:
        return state, False
    embedded = derived.embedding.advance(
        state.y, state.plastic_curvature, state.plastic_strain, before=before.plastic_curvature
    )
    return state if embedded.y is state.y else state.replaced(y=embedded.y), embedded.is_settled


def adapt(
    state: State, derived: Derived, warnings: list[str] | None = None, observers: Sequence[Observer] = ()
) -> State:
    """The state on a mesh that is as fine as its shape asks for, and with lips of cracks that have gained thickness.

    `warnings`: a list to add to when the mesh is coarser than asked for;  `observers` are told of a new mesh at once.
    """
    remeshed = _remeshed(state, derived, warnings, observers)
    if derived.model.tearing is None:
        return remeshed
    return part_pieces(derived.model, grow_lips(derived.model, remeshed))


def _remeshed(state: State, derived: Derived, warnings: list[str] | None, observers: Sequence[Observer] = ()) -> State:
    """The state on a mesh that is as fine as its shape asks for; itself when remeshing is off."""
    model, timer = derived.model, derived.timer
    if model.remeshing is None:
        return state
    with timer("remeshing"), worthwhile_threads(state.mesh.face_count):
        found = remesh_state(state, derived)
    if found is None:
        return state
    remeshed, change = found
    if warnings is not None and change.statistics.limited:
        limit = model.remeshing.max_faces
        warnings.append(f"the mesh is coarser than asked for: remeshing.max_faces = {limit} faces are reached")
    if change.is_none:
        return remeshed
    for observer in observers:
        observer.on_mesh(model, remeshed)
    with timer("projection"), worthwhile_threads(remeshed.mesh.face_count):
        fresh = Derived(model, remeshed)
        for _, term in fresh.terms:
            remeshed = term.relax(remeshed)
        if model.remeshing.projection:
            remeshed = project(remeshed, fresh, change.node_fields["acceleration"], change.changed_nodes)
    return remeshed


def _summarise(
    state: State, reports: list[StepReport], warnings: list[str], seconds: float, derived: Derived
) -> FrameReport:
    return FrameReport(
        frame=state.frame,
        time=state.time,
        faces=state.mesh.face_count,
        steps=len(reports),
        iterations=sum(report.iterations for report in reports),
        contacts_max=max((report.contacts for report in reports), default=0),
        seconds=seconds,
        phases=derived.timer.take(),
        energies=reports[-1].energies if reports else {},
        warnings=tuple(warnings),
        linear_solver=derived.system.solver.name,
    )
