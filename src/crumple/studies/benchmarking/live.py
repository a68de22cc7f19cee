"""live: what frames of a small sheet under two hands cost, with the parts for small sheets and the general solver, in
turns.

A square of paper, 12 cm wide, lies on a floor; two hands fold it over, press, drag, lift and crumple it for ten
seconds, in steps of 1/60 s of implicit Euler. Both solvers do the same session, frame by frame after each other, so
that whatever else the machine does falls on both alike. CPU time, not that on the clock.
"""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np

from crumple.runtime.typing import Floats
from crumple.scenes import scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studies.benchmarking.report import Record, Report

FACES = (153, 299, 627, 1032)
SECONDS = 10.0
"""Of the session."""
SIDE, FRAME = 0.12, 1.0 / 60.0
"""Of the sheet [m], and the time of a frame [s]."""
UNCOUNTED = 10
"""Frames at the start, in which kernels are compiled."""
KEYS = np.array(
    [  # time [s]; first hand: along the line of the hands and across it, over their distance, and height [m]; second
        (0.0, -0.50, 0.0, 0.0000, 0.50, 0.00, 0.000),
        (1.0, -0.50, 0.0, -0.0004, 0.25, 0.00, 0.050),
        (2.0, -0.50, 0.0, -0.0004, -0.15, 0.00, 0.050),
        (3.0, -0.50, 0.0, -0.0004, -0.35, 0.00, 0.012),  # folded over
        (3.5, -0.50, 0.0, -0.0004, -0.35, 0.00, 0.005),  # pressed
        (4.5, -0.50, 0.3, -0.0004, -0.35, 0.30, 0.005),  # dragged, two layers
        (5.5, -0.30, 0.3, 0.0000, -0.15, 0.30, 0.010),
        (6.5, -0.30, 0.1, 0.0200, 0.10, 0.10, 0.060),  # lifted
        (7.5, -0.10, 0.0, 0.0100, 0.05, 0.00, 0.012),  # pushed together
        (8.5, -0.05, 0.1, 0.0050, 0.02, 0.05, 0.020),
        (9.25, -0.05, 0.1, 0.0030, 0.02, 0.05, 0.004),  # pressed down
        (10.0, -0.05, 0.3, 0.0030, 0.02, 0.25, 0.004),  # dragged
    ]
)


def measure_live(sizes: tuple[int, ...] = FACES, seconds: float = SECONDS) -> Report:
    """Median and 99th percentile of the CPU time per frame with both solvers, for sheets of about so many faces."""
    records = [record for faces in sizes for record in _measure(faces, seconds)]
    return Report("live", tuple(records), ("faces", "solver"), ("CPU ms/frame", "99 %", "iterations/frame"))


def _measure(faces: int, seconds: float) -> list[Record]:
    both = {name: Hands(faces, solver) for name, solver in (("small sheets", "auto"), ("general", "pardiso"))}
    for frame in range(round(seconds / FRAME)):
        for hands in both.values():
            hands.advance(frame)
    return [hands.record(name) for name, hands in both.items()]


class Hands:
    """A session in which two hands move the sheet, and what its frames have cost."""

    def __init__(self, faces: int, solver: str) -> None:
        self._simulation = Simulation(scene_from_tables(_tables(faces, solver), source="small sheets"))
        first, second = (self._simulation.handle_position(name) for name in ("a", "b"))
        self._start = first, second
        self.seconds: list[float] = []
        self.iterations: list[int] = []

    @property
    def faces(self) -> int:
        return self._simulation.state.mesh.face_count

    def advance(self, frame: int) -> None:
        """One frame."""
        for name, point in zip(("a", "b"), _path(*self._start, (frame + 1) * FRAME), strict=True):
            self._simulation.set_handle(name, point)
        before, begin = self._simulation.state.iterations, clock.process_time()
        self._simulation.step(FRAME)
        if frame >= UNCOUNTED:
            self.seconds.append(clock.process_time() - begin)
            self.iterations.append(self._simulation.state.iterations - before)

    def record(self, solver: str) -> Record:
        """Median, 99th percentile and iterations of a frame."""
        cost = 1e3 * np.array(self.seconds)
        return {
            "faces": self.faces,
            "solver": solver,
            "CPU ms/frame": float(np.median(cost)),
            "99 %": float(np.percentile(cost, 99)),
            "iterations/frame": float(np.mean(self.iterations)),
            "ms/iteration": float(cost.sum()) / max(sum(self.iterations), 1),
        }


def _tables(faces: int, solver: str) -> dict[str, Any]:
    """The scene."""
    size = float(np.sqrt(4.0 * SIDE * SIDE / (np.sqrt(3.0) * faces)))
    radius, half, height = max(0.012, 1.2 * size), 0.5 * SIDE, 0.0015
    corners = {"a": [-half, -half, height], "b": [half, half, height]}
    handles = [
        {"name": name, "select": {"kind": "ball", "center": corner, "radius": radius}, "stiffness": 1e3}
        for name, corner in corners.items()
    ]
    sheet = {
        "name": "sheet",
        "material": "paper80",
        "shape": {"kind": "rectangle", "width": SIDE, "height": SIDE, "size": size},
        "transform": {"translate": [0.0, 0.0, height]},
        "jitter": {"amplitude": 1e-4, "seed": 1},
    }
    return {
        "name": "hands",
        "run": {"frame_time": FRAME, "duration": 100.0},
        "solver": {"integrator": "implicit-euler", "fixed_step": FRAME, "linear_solver": solver},
        "contact": {"friction": 0.3},
        "sheets": [sheet],
        "handles": handles,
        "obstacles": [{"name": "floor", "shape": {"kind": "plane", "width": 1.0, "height": 1.0}}],
    }


def _path(first: Floats, second: Floats, at: float) -> tuple[Floats, Floats]:
    """Where the hands are at a time [s]."""
    line = second - first
    length = float(np.linalg.norm(line))
    along, up = line / length, np.array([0.0, 0.0, 1.0])
    across, middle = np.array([-along[1], along[0], 0.0]), 0.5 * (first + second)
    k = min(int(np.searchsorted(KEYS[:, 0], at, side="right")) - 1, len(KEYS) - 2)
    s = min((at - KEYS[k, 0]) / (KEYS[k + 1, 0] - KEYS[k, 0]), 1.0)
    s = s * s * (3.0 - 2.0 * s)
    now = (1.0 - s) * KEYS[k, 1:] + s * KEYS[k + 1, 1:]
    ends = [middle + p * length * along + q * length * across + z * up for p, q, z in (now[:3], now[3:])]
    return ends[0], ends[1]
