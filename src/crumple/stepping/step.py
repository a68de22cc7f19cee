"""One time step: tried, shortened on trouble, accepted."""

from __future__ import annotations

import time as clock

import numpy as np

from crumple.contract.term import kinetic_energy
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.solver import TR_BDF2
from crumple.runtime.errors import SimulationError
from crumple.runtime.forking import note_threads
from crumple.solving.outcome import Ending, Outcome
from crumple.state import State
from crumple.stepping.arrivals import check_arrivals
from crumple.stepping.explicit import stable_step
from crumple.stepping.impacts import is_impact, is_moving_freely
from crumple.stepping.integration import StepPath, integrate
from crumple.stepping.reports import StepReport
from crumple.stepping.step_control import (
    choose_scheme,
    first_attempt,
    is_starting,
    longest_in_impact,
    next_attempt,
    next_in_impact,
    next_step_size,
    remaining_dense_steps,
    step_error,
)

REMEDY = ' (give it a handle, a support or friction, or let it move: solver.mode = "dynamic")'
"""What helps a sheet without an equilibrium."""


def advance_step(state: State, derived: Derived, end: float) -> tuple[State, StepReport]:
    """The state after one accepted step that does not pass `end` [s], nothing yielded yet, and what the step cost."""
    return take_step(state, derived, end)[:2]


def take_step(
    state: State, derived: Derived, end: float, *, accuracy: float = np.inf, once: bool = False
) -> tuple[State, StepReport, StepPath]:
    """The same, and what the step went through; `accuracy` [J]: the energy by which solves may be off at most; `once`:
    a step that fails is not tried again, shorter."""
    note_threads()
    begin = clock.perf_counter()
    model = derived.model
    is_held = bool(np.any(state.obstacle_lag > 0.0))
    attempt = first_attempt(model.solver, state, end - state.time, hold=is_held, longest=stable_step(derived))
    while True:
        for _, term in derived.terms:
            state = term.begin(state, attempt.step)
        check_arrivals(state, derived, attempt.step)
        scheme = choose_scheme(model.solver, attempt, has_acceleration=state.has_acceleration)
        step_path = integrate(
            state,
            derived,
            attempt.step,
            scheme=scheme,
            hold=attempt.hold,
            thorough=attempt.impact and not attempt.dense,
            damped=not (attempt.dense and attempt.retries),
            accuracy=accuracy,
        )
        outcome = step_path.outcome
        error = step_error(model.solver, step_path, attempt.step, derived.mass, derived.size, dense=attempt.dense)
        ending = outcome.ending
        is_sudden = not attempt.dense and is_impact(model, step_path, attempt.step, derived.mass)
        if is_sudden and scheme == TR_BDF2:
            attempt = next_in_impact(model.solver, attempt, step_path, derived.mass, derived.size)
            continue
        if ending is Ending.CONVERGED and error > 4.0:
            ending = Ending.INACCURATE
        if ending is Ending.CONVERGED:
            break
        if ending is Ending.ADRIFT:
            raise SimulationError(f"sheet '{_farthest_sheet(state, derived, outcome)}': {ending.value}{REMEDY}")
        if once:
            raise SimulationError(ending.value)
        attempt = next_attempt(model.solver, attempt, ending, step_path, error)
    moved = move(model, state, step_path, attempt.step, end)
    moved, events = derived.keep(moved, attempt.step, outcome.multipliers)
    is_start = is_starting(model.solver, state)
    size = next_step_size(model.solver, attempt, state.step_size, step_path, error, is_start=is_start)
    if is_sudden or (attempt.meets and scheme == TR_BDF2):  # the acceleration is not that of what follows
        size = min(size, longest_in_impact(model.solver, step_path, derived.mass, derived.size))
        moved = moved.replaced(has_acceleration=False)
    is_free = is_moving_freely(state, step_path, attempt.step, derived.mass, derived.size)
    dense_steps = remaining_dense_steps(model.solver, attempt, state.dense_steps, outcome, is_free=is_free)
    report = StepReport(
        time=moved.time,
        step=attempt.step,
        iterations=attempt.iterations + outcome.iterations,
        contacts=outcome.contacts,
        min_gap=outcome.min_gap,
        energies={"contact": outcome.contact_energy},
        seconds=clock.perf_counter() - begin,
        retries=attempt.retries,
        note=_note(model, moved, outcome, events),
        trouble=attempt.trouble,
    )
    return moved.replaced(step_size=size, dense_steps=dense_steps), report, step_path


def move(model: Model, state: State, step_path: StepPath, step: float, end: float) -> State:
    """The state at the end of the step, with the obstacles where they got to."""
    outcome, last = step_path.outcome, step_path.instants[-1]
    is_static = model.solver.mode == "static"
    count = state.mesh.node_count
    time = state.time + step
    time = end if abs(end - time) < 1e-9 * step + 1e-12 * abs(end) else time
    lag = np.zeros(len(model.obstacles))
    for part in outcome.held:
        number = part - len(model.sheet_names)
        lag[number] = state.obstacle_lag[number] + step
    return state.replaced(
        time=time,
        x=last.x,
        v=np.zeros_like(last.x) if is_static else last.v,
        a=state.a if is_static else last.a,
        has_acceleration=not is_static,
        half_turn=last.half_turn,
        half_rate=np.zeros_like(last.half_rate) if is_static else last.half_rate,
        obstacle_x=np.ascontiguousarray(outcome.x[count:]),
        obstacle_lag=lag,
        obstacle_force=outcome.obstacle_force,
        steps=state.steps + 1,
        iterations=state.iterations + outcome.iterations,
    )


def measure_energies(state: State, derived: Derived) -> dict[str, float]:
    """Energies of the sheets by the names of the terms [J], and of their motion."""
    return {"kinetic": kinetic_energy(derived.mass, state.v)} | {
        kind.name: term.measure(state) for kind, term in derived.terms
    }


def _farthest_sheet(state: State, derived: Derived, outcome: Outcome) -> str:
    """The name of the sheet with the node that has gone farthest."""
    displacement = np.linalg.norm(outcome.x[: state.mesh.node_count] - state.x, axis=1)
    return derived.model.sheet_names[derived.node_part[int(displacement.argmax())]]


def _note(model: Model, state: State, outcome: Outcome, events: list[str]) -> str:
    """Which obstacles were held back, and how far they are behind; what else has happened."""
    names = [model.part_names[part] for part in outcome.held]
    lags = [state.obstacle_lag[part - len(model.sheet_names)] for part in outcome.held]
    held = ", ".join(f"'{name}' by {lag:.3g} s" for name, lag in zip(names, lags, strict=True))
    reported = [f"no room, held back {held}"] if held else []
    return f"t = {state.time:.4g} s: {'; '.join([*reported, *events])}" if reported or events else ""
