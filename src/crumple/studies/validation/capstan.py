"""capstan: a strip is pulled over a drum that it wraps by half a turn, with the default settings.

Euler and Eytelwein: while it slides, the tensions on the two sides have the ratio T₂/T₁ = e^{μπ}. One end hangs on a
soft spring, the other is pulled steadily."""

from __future__ import annotations

import numpy as np

from crumple.boundary import Handle, Key, make_motion, make_obstacle
from crumple.materials import preset
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.session.session import run
from crumple.shapes import cylinder_surface
from crumple.simulation.observers import Observer
from crumple.state import State, initial_state
from crumple.stepping.reports import StepReport
from crumple.studies.validation.result import CaseResult, Figure, curve, relative_check
from crumple.studies.validation.strip import Strip, hold, make_strip, reaction

RADIUS, WIDTH, LEG = 0.02, 0.02, 0.03
"""Of the drum, of the strip, and of the strip beyond it on either side [m]."""
FRICTIONS = (0.3, 0.6)
ROWS = (48, 72)
PULL, TIME = 0.012, 0.6
"""How far the end is pulled [m], in which time [s]."""
SOFT, HARD = 0.5, 2e3
"""Stiffness of each held node at the free end and at the pulled one [N/m]."""
SETTLED = 0.5
"""Fraction of the time after which the strip slides."""


class Tensions(Observer):
    """Notes the time and the ratio of the tensions after every step."""

    def __init__(self) -> None:
        self.path: list[tuple[float, float]] = []

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        slack, pulled = (abs(float(reaction(model, state, index)[2])) for index in (0, 1))
        self.path.append((report.time, pulled / slack if slack > 0.0 else np.nan))


def validate_capstan() -> CaseResult:
    """T₂/T₁ over e^{μπ}: within 1.5 % for two coefficients, on two meshes."""
    checks, curves = [], []
    for friction in FRICTIONS:
        for rows in ROWS:
            path = pull_over_drum(friction, rows)
            late = np.array([ratio for time, ratio in path if time > SETTLED * TIME])
            expected = float(np.exp(np.pi * friction))
            checks.append(relative_check(f"T₂/T₁ for μ = {friction:g}, {rows} rows", expected, late.mean(), 0.015))
            curves.append(curve(f"μ = {friction:g}, {rows} rows", [(t, r / expected) for t, r in path]))
    return CaseResult("capstan", tuple(checks), figure=Figure("time [s]", "T₂/T₁ over e^{μπ}", tuple(curves)))


def pull_over_drum(friction: float, rows: int) -> list[tuple[float, float]]:
    """Time and T₂/T₁ after every step."""
    material = preset("cotton")
    strip = make_strip(np.pi * RADIUS + 2.0 * LEG, WIDTH, rows, clamps=0)
    gap = 0.5 * material.thickness + 9e-4
    x = _wrapped(strip, RADIUS + gap)
    points, faces = cylinder_surface(RADIUS, 3.0 * WIDTH, 96)
    drum = make_obstacle("drum", faces, np.ascontiguousarray(np.asarray(points)[:, [0, 2, 1]] * [1.0, 1.0, -1.0]))
    contact = ContactOptions(sheet_thickness=(material.thickness,), friction=np.full((2, 2), friction))
    down = make_motion("down", keys=[Key(0.0), Key(TIME, translate=(0.0, 0.0, -PULL))])
    low = (0.0, 0.0, -0.02)
    hang = make_motion("hang", keys=[Key(0.0), Key(0.1 * TIME, translate=low), Key(TIME, translate=low)])
    handles = (Handle("slack", stiffness=SOFT, motion=hang), Handle("pulled", stiffness=HARD, motion=down))
    model = Model(
        (material,), handles=handles, obstacles=(drum,), contact=contact, gravity=(0.0, 0.0, 0.0), duration=TIME
    )
    pins = hold(strip, x, (0,), (strip.last,))
    state = initial_state(strip.mesh, x, obstacle_x=model.obstacle_positions(0.0), obstacle_count=1, pins=pins)
    watch = Tensions()
    run(model, state, [watch])
    return watch.path


def _wrapped(strip: Strip, radius: float) -> np.ndarray:
    """The strip over the upper half of a circle around the y axis, its ends straight down."""
    s = strip.x[:, 0] - strip.x[:, 0].mean()
    half = 0.5 * np.pi * RADIUS
    angle = np.clip(s, -half, half) / RADIUS
    x = np.empty_like(strip.x)
    x[:, 0] = radius * np.sin(angle)
    x[:, 1] = strip.x[:, 1] - strip.x[:, 1].mean()
    x[:, 2] = radius * np.cos(angle) - np.maximum(np.abs(s) - half, 0.0)
    return np.ascontiguousarray(x)
