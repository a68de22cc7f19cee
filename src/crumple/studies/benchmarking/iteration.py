"""iteration: what a Newton iteration costs, by phase, on a flat and on a heavily folded sheet of several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crumple.model.model import Model
from crumple.scenes import build, load_scene
from crumple.simulation.engine import PhysicsEngine
from crumple.state import State
from crumple.stepping.reports import FrameReport
from crumple.studies.benchmarking.folded import folded_state
from crumple.studies.benchmarking.report import PHASES, Record, Report, iteration_costs, scaling_exponent

DIVISIONS = (1, 2, 3)
"""Cuts per edge of the coarse folded sheet of 2000 faces: 2, 8 and 18 thousand."""
ITERATIONS = 30
"""Newton iterations that are timed, at least."""
WARM_UP = 1e-3
"""Simulated before the timing starts [s]: it compiles, and brings the contacts of a subdivided sheet to rest."""
FRAME_TIME = 4e-3
"""Of the frames that are timed [s]: a few steps."""
SHAKE = 0.3
"""Random speed of the nodes of the flat sheet [m/s]: it has something to do, but stays flat."""


def measure_iterations(divisions: Sequence[int] = DIVISIONS, iterations: int = ITERATIONS) -> Report:
    """Milliseconds per Newton iteration, and the exponents with which they grow with the number of faces."""
    records: list[Record] = []
    for name, prepare in (("flat", _flat_state), ("folded", folded_state)):
        rows: list[Record] = []
        for division in divisions:
            model, state = prepare(division)
            frames = _advance(model, state, iterations)
            row: Record = {
                "state": name,
                "faces": state.mesh.face_count,
                "contacts": max(frame.contacts_max for frame in frames),
                "iterations": sum(frame.iterations for frame in frames),
            }
            rows.append(row | iteration_costs(frames))
        records += rows
        records.append(_exponents(f"{name}: exponent", rows))
    return Report("Newton iteration [ms]", tuple(records), ("state", "faces"), ("iterations", "ms", *PHASES, "other"))


def _exponents(label: str, rows: Sequence[Record]) -> Record:
    """A record of the growth of the columns that are times."""
    faces = [float(row["faces"]) for row in rows]
    result: Record = {"state": label}
    for key in rows[0]:
        values = [max(float(row[key]), 1e-6) for row in rows if not isinstance(row[key], str)]
        if key not in ("state", "faces", "iterations", "ratio", "ratio with analysis"):
            result[key] = scaling_exponent(faces, values)
    return result


def _advance(model: Model, state: State, iterations: int) -> list[FrameReport]:
    """Reports of as many frames of FRAME_TIME as it takes, after one step that warms up."""
    model = replace(model, frame_time=WARM_UP)
    engine = PhysicsEngine(model, state.replaced(frame=round(state.time / WARM_UP), step_size=WARM_UP))
    engine.advance_frame()
    state = engine.state
    state = state.replaced(frame=round(state.time / FRAME_TIME), step_size=0.5 * FRAME_TIME)
    engine = PhysicsEngine(replace(model, frame_time=FRAME_TIME), state)
    frames: list[FrameReport] = []
    while sum(frame.iterations for frame in frames) < iterations:
        frames.append(engine.advance_frame())
    return frames


def _flat_state(divisions: int) -> tuple[Model, State]:
    """A sheet of the same number of faces that floats freely with a little noise in its velocity."""
    size = 0.0083 / divisions
    model, state, _ = build(load_scene("stuff", [f"sheets[0].shape.size={size}", "solver.fixed_step=0.002"]))
    v = SHAKE * np.random.default_rng(0).uniform(-1.0, 1.0, state.x.shape)
    return model, state.replaced(v=v)
