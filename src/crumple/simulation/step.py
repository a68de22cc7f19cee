"""One time step, after Algorithm 1 of [Narain2013], with contact inside the implicit solve."""

from __future__ import annotations

import time as clock
from dataclasses import replace

import numpy as np

from crumple.simulation.arrivals import check_arrivals
from crumple.simulation.integrate import integrate, kinetic_energy
from crumple.simulation.model import Model
from crumple.simulation.observers import StepReport
from crumple.simulation.state import State
from crumple.simulation.step_control import first_attempt, next_step_size, shorter_attempt, step_error
from crumple.simulation.workspace import Workspace
from crumple.solving.newton import Outcome


def advance_step(model: Model, state: State, workspace: Workspace, end: float) -> tuple[State, StepReport]:
    """The state after one accepted step that does not pass `end` [s]; a step that fails is shortened."""
    begin = clock.perf_counter()
    is_held = bool(np.any(state.obstacle_lag > 0.0))
    attempt = first_attempt(model.solver, state.step_size, end - state.time, hold=is_held)
    while True:
        state = grip(model, state, attempt.step)
        check_arrivals(model, state, workspace, attempt.step)
        outcome = integrate(model, state, workspace, attempt.step, hold=attempt.hold)
        error = step_error(model.solver, state, outcome, attempt.step, workspace.mass, workspace.size)
        reason = outcome.reason or ("the step is too inaccurate" if error > 4.0 else "")
        if not reason:
            break
        attempt = shorter_attempt(model.solver, attempt, reason, outcome.iterations)
    moved = move(model, state, outcome, attempt.step, end)
    moved, workspace.elastic = workspace.creasing.advance(moved, workspace.elastic, attempt.step)
    size = next_step_size(model.solver, attempt, state.step_size, error, outcome.iterations)
    report = StepReport(
        time=moved.time,
        step=attempt.step,
        iterations=attempt.iterations + outcome.iterations,
        contacts=outcome.contacts,
        min_gap=outcome.min_gap,
        energies=measure_energies(model, moved, workspace),
        seconds=clock.perf_counter() - begin,
        retries=attempt.retries,
        note=_note(model, moved, outcome),
    )
    return moved.replaced(step_size=size), report


def grip(model: Model, state: State, step: float) -> State:
    """The state with the nodes of the handles that start within the step taken where they are now."""
    pins = state.pins
    anchor = pins.anchor
    for index, handle in enumerate(model.handles):
        if handle.grips and state.time < handle.start <= state.time + step:
            held = pins.handle == index
            anchor = anchor.copy()
            anchor[held] = handle.anchor(handle.start, state.x[pins.node[held]])
    return state if anchor is pins.anchor else state.replaced(pins=replace(pins, anchor=anchor))


def move(model: Model, state: State, outcome: Outcome, step: float, end: float) -> State:
    """The state at the end of the step, with the obstacles where they got to."""
    count = state.mesh.node_count
    time = state.time + step
    time = end if abs(end - time) < 1e-9 * step + 1e-12 * abs(end) else time
    x = np.ascontiguousarray(outcome.x[:count])
    v = np.zeros_like(x) if model.solver.mode == "static" else (x - state.x) / step
    held = np.isin(np.arange(len(model.obstacles)) + len(model.sheet_names), outcome.held)
    return state.replaced(
        time=time,
        x=x,
        v=v,
        obstacle_x=np.ascontiguousarray(outcome.x[count:]),
        obstacle_lag=np.where(held, state.obstacle_lag + step, 0.0),
        steps=state.steps + 1,
        iterations=state.iterations + outcome.iterations,
    )


def measure_energies(model: Model, state: State, workspace: Workspace) -> dict[str, float]:
    """Energies of the sheets by name [J]."""
    energies = {"kinetic": kinetic_energy(workspace.mass, state.v)}
    for term in workspace.elastic.energies:
        name = "membrane" if term.stencil.shape[1] == 3 else "bending"
        energies[name] = energies.get(name, 0.0) + float(np.sum(term.value(state.x)))
    energies["gravity"] = -float(np.sum(workspace.mass[:, None] * state.x * np.array(model.gravity)))
    return energies


def _note(model: Model, state: State, outcome: Outcome) -> str:
    """Which obstacles were held back, and how far they are behind."""
    names = [model.part_names[part] for part in outcome.held]
    lags = [state.obstacle_lag[part - len(model.sheet_names)] for part in outcome.held]
    held = ", ".join(f"'{name}' by {lag:.3g} s" for name, lag in zip(names, lags, strict=True))
    return f"t = {state.time:.4g} s: no room, held back {held}" if held else ""
