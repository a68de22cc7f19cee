"""creases: what pressed creases cost. A tube of cloth like a trouser leg, with four of them, on a swinging bar.

As many faces as in [Choi2004], and creases as long as there: 55 edges of the 79 from hem to waist, which are 652
conditions when a ridge is held in one direction and wings on one side; here they are held in both, and on both.

Every step is taken twice from the same state, with the creases held and without; the run goes on from the first.
CPU time, not that on the clock, so that a busy machine disturbs less.
"""

from __future__ import annotations

import time as clock
from dataclasses import replace

import numpy as np

from crumple.contract import Constraint
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.scenes import build, scene_from_tables
from crumple.simulation.frame import advance_once
from crumple.state import State, no_creases
from crumple.studies.benchmarking.report import Record, Report

SIDE = 0.8
"""Circumference of the tube [m]; its height is one row less."""
STEP = 0.01
"""[s]"""
CREASED = 55 / 79
"""Share of its height that is creased, from below."""
WARM_UP = 20
"""Steps before those that count: the creases reach their angles, and the bar touches the tube."""


def measure_creases(columns: int = 80, steps: int = 20, warm_up: int = WARM_UP) -> Report:
    """Median CPU time per step with and without held creases for a tube of `columns` × (`columns` − 1) squares."""
    model, state = _tube(columns)
    plain = replace(model, creases=())
    for _ in range(warm_up):
        state, *_ = _advance(model, state)
    seconds: list[tuple[float, float]] = []
    iterations: list[tuple[int, int]] = []
    worst, contacts, rows = 0.0, 0, 0
    for _ in range(steps):
        _, free, free_iterations, _ = _advance(plain, state.replaced(creases=no_creases()))
        state, held, held_iterations, touching = _advance(model, state)
        seconds.append((held, free))
        iterations.append((held_iterations, free_iterations))
        derived = Derived(model, state)
        off, counts = derived.residuals(state)
        rows = sum(one.multiplier.size for one in derived.stored(state) if isinstance(one, Constraint))
        worst, contacts = max(worst, float(np.abs(off[counts]).max(initial=0.0))), max(contacts, touching)
    with_creases, without = np.median(np.array(seconds), axis=0)
    record: Record = {
        "faces": state.mesh.face_count,
        "rows": rows,
        "contacts": contacts,
        "CPU ms/step": 1e3 * float(with_creases),
        "without creases": 1e3 * float(without),
        "ratio": float(np.median([held / free for held, free in seconds])),
        "iterations/step": float(np.mean([held for held, _ in iterations])),
        "without": float(np.mean([free for _, free in iterations])),
        "worst angle [°]": float(np.degrees(worst)),
    }
    return Report("creases", (record,), ("faces", "rows"), ("iterations/step", "CPU ms/step", "without creases"))


def _advance(model: Model, state: State) -> tuple[State, float, int, int]:
    """The state one step later, CPU seconds, iterations and contacts; what is prepared once per mesh does not count."""
    derived = Derived(model, state).prepared()
    begin = clock.process_time()
    after, report, _ = advance_once(state, derived, state.time + STEP)
    return after, clock.process_time() - begin, report.iterations, report.contacts


def _tube(columns: int) -> tuple[Model, State]:
    """A tube that hangs from its top, with four pressed creases, and a bar that swings inside it."""
    size = SIDE / columns
    height = size * (columns - 1)
    press = {"engage": 60, "strength": 1.0, "spinal": 0.05, "torsion": 0.5}
    creases = [
        {"line": [[u, 0.0], [u, size * round(CREASED * (columns - 1))]], "angle": 60, "press": press}
        for u in (0.1, 0.3, 0.5, 0.7)
    ]
    swing = [{"time": 0.1}, {"time": 0.5, "rotate": {"angle": 12, "axis": [0, 1, 0]}}]
    tables = {
        "run": {"frame_time": STEP, "duration": 1.0},
        "solver": {"fixed_step": STEP, "integrator": "implicit-euler"},
        "contact": {"activation": 1e-3, "thickness": 1e-3},
        "sheets": [
            {
                "shape": {"kind": "cylinder", "circumference": SIDE, "height": height, "size": size},
                "material": {"stretch": 200, "bend": 2e-5, "thickness": 1e-3, "density": 0.25, "damping": 5e-3},
                "creases": creases,
            }
        ],
        "handles": [{"select": {"kind": "side", "side": "top"}}],
        "obstacles": [
            {
                "shape": {"kind": "cylinder", "radius": 0.105, "height": 0.7, "center": [0, 0, height - 0.43]},
                "motion": "swing",
            }
        ],
        "motions": {"swing": {"center": [0, 0, height], "keys": swing}},
    }
    return build(scene_from_tables(tables, source="creases"))[:2]
