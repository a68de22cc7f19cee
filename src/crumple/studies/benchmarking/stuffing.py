"""stuffing: the dense stage of the scene `stuff` (sphere below 0.1 m), with its tolerance and one four times tighter.

Both runs start from the same state, when the sphere has shrunk to 0.1 m. The shape is chaotic, so what is compared are
energies, contact force and time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.model.model import Model
from crumple.scenes import build, load_scene
from crumple.session.simulation import Simulation
from crumple.simulation.observers import Observer, Statistics, StopRun
from crumple.state import State
from crumple.stepping.contact_forces import contact_forces
from crumple.stepping.reports import FrameReport
from crumple.studies.benchmarking.report import Record, Report

DENSE_RADIUS = 0.1
"""Radius below which the stage is called dense [m]."""
TIGHTER = 4.0


class StopAtRadius(Observer):
    """Ends a run when the obstacles are within `radius` [m] of the origin."""

    def __init__(self, radius: float) -> None:
        self._radius = radius

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        if sphere_radius(state) <= self._radius:
            raise StopRun


class ForceHistory(Observer):
    """Total contact force on the sheets after every frame [N]: the sum of the sizes of the nodes' forces."""

    def __init__(self) -> None:
        self.forces: list[float] = []

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        forces = contact_forces(model, state)[: len(state.x)]
        self.forces.append(float(np.linalg.norm(forces, axis=1).sum()))


def measure_stuffing(frames: int | None = None, overrides: tuple[str, ...] = ()) -> Report:
    """Seconds per frame and mean energies below 0.1 m; `frames`: only the first ones of the dense stage."""
    model, state, _ = build(load_scene("stuff", overrides))
    loose = Statistics()
    state = Simulation(model=model, state=state).run(observers=[loose, StopAtRadius(DENSE_RADIUS)])
    records = [_record("approach", model, loose, [])]
    end = model.frame_count if frames is None else min(model.frame_count, state.frame + frames)
    for factor in (1.0, TIGHTER):
        records.append(_dense(model, state, end, factor))
    return Report(
        "stuff: dense stage", tuple(records), ("stage", "tolerance", "frames"), ("iterations/frame", "s/frame")
    )


def sphere_radius(state: State) -> float:
    """Largest distance of an obstacle node from the origin [m]."""
    return float(np.linalg.norm(state.obstacle_x, axis=1).max())


def _dense(model: Model, state: State, end: int, factor: float) -> Record:
    solver = replace(
        model.solver,
        tolerance=model.solver.tolerance / factor,
        speed_tolerance=model.solver.speed_tolerance / factor,
    )
    model = replace(model, solver=solver)
    statistics, forces = Statistics(), ForceHistory()
    last = Simulation(model=model, state=state).run(end, observers=[statistics, forces])
    record = _record("dense" if factor == 1.0 else f"dense, {factor:g}× tighter", model, statistics, forces.forces)
    return record | {"radius [m]": sphere_radius(last)}


def _record(stage: str, model: Model, statistics: Statistics, forces: list[float]) -> Record:
    count = max(1, len(statistics.frames))
    seconds = [frame.seconds for frame in statistics.frames]
    record: Record = {
        "stage": stage,
        "tolerance": model.solver.tolerance,
        "speed tolerance [m/s]": model.solver.speed_tolerance,
        "faces": statistics.frames[-1].faces,
        "frames": count,
        "steps/frame": len(statistics.steps) / count,
        "iterations/frame": sum(frame.iterations for frame in statistics.frames) / count,
        "contacts": max(frame.contacts_max for frame in statistics.frames),
        "s/frame": sum(seconds) / count,
        "s/frame at most": max(seconds),
    }
    for name in ("membrane", "bending", "kinetic"):
        record[f"{name} [J]"] = sum(frame.energies.get(name, 0.0) for frame in statistics.frames) / count
    if forces:
        record["contact force [N]"] = sum(forces) / len(forces)
    return record
