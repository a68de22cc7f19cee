"""stick-slip: a strip held upright over a plane and pressed down endwise; its tip sticks until friction gives way.

With the clamp lowered by ε L, equilibrium of the sticking strip asks for a ratio T/N = μ*(ε) of the forces at the tip,
which grows with ε. So a tip with the friction coefficient μ slips when μ*(ε) = μ. The case lowers the clamp slowly for
several μ, notes the ε at which the tip runs away, and compares μ*(ε) with μ; on the way it compares T/N, from the
reaction of the clamp, with μ*(ε).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from crumple.boundary import Key, make_motion, make_obstacle
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.session.simulation import Simulation
from crumple.shapes import plane
from crumple.simulation.observers import Observer, StopRun
from crumple.state import State, initial_state
from crumple.stepping.reports import StepReport
from crumple.studies.validation.elastica import tip_force_ratio
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check, table_check
from crumple.studies.validation.strip import Strip, clamp, hold, make_strip, reaction, static_model

TABLE = {
    0.01: 0.0449, 0.02: 0.0639, 0.05: 0.1035, 0.1: 0.1528, 0.15: 0.1959, 0.2: 0.2378, 0.25: 0.2807, 0.3: 0.3265,
}  # fmt: skip
"""ε and μ*."""
TABLE_DIGITS = 6e-5
"""Rounding of the table."""
TOLERANCE = 0.05
SLIPPING = (0.05, 0.1, 0.2, 0.3)
"""The ε whose μ* is tried as friction coefficient."""
LENGTH, BEND, STRETCH, DENSITY = 0.2, 4e-4, 4e5, 0.08
NUDGE = 0.02
"""Sideways weight of the strip, ρ g L³/B: decides to which side it buckles."""
ACTIVATION = 2e-4
TOUCHDOWN = 4e-5
"""Lowered in the first second, while the contact force builds up and the strip is still straight [m]."""
SLIP_SPEED = 2e-5
"""A sticking tip creeps by less than this [m/s]; the whole run takes 2 s."""
STEP = 0.01
RUNAWAY = 0.01
"""Way of the tip, over the length, that counts as slipping: creep is a hundred times less."""


@dataclass
class TipWatch(Observer):
    """Notes ε, T/N and the way of the tip over the length after every step; stops the run once the tip has slipped."""

    strip: Strip

    def __post_init__(self) -> None:
        self.path: list[tuple[float, float, float]] = []

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        line = self.strip.line(state.x)
        shortening = 1.0 - (line[1, 2] - line[-1, 2]) / LENGTH  # the clamp acts at the inner one of its rows
        force = reaction(model, state, 0)
        way = abs(line[-1, 0]) / LENGTH
        self.path.append((float(shortening), abs(float(force[0] / force[2])), float(way)))
        if way > RUNAWAY:
            raise StopRun

    @property
    def slipped(self) -> float:
        """The ε at which the tip ran away: between two steps; NaN when it did not."""
        for (before, _, _), (after, _, way) in pairwise(self.path):
            if way > RUNAWAY:
                return 0.5 * (before + after)
        return float("nan")


def validate_stick_slip(rows: int = 40, width: float = 0.15) -> CaseResult:
    """Friction coefficient at which the tip slips, and force ratio before it does: within 5 %."""
    shortenings = np.array(list(TABLE))
    ratios = dict(zip(TABLE, tip_force_ratio(shortenings), strict=True))
    dense = np.linspace(0.01, 0.36, 36)
    exact = tip_force_ratio(dense)
    checks: list[Check] = []
    strip = make_strip(LENGTH, width * LENGTH, rows)
    slips = []
    for shortening in SLIPPING:
        friction = ratios[shortening]
        watch = press_strip(strip, friction, 1.25 * shortening)
        slips.append((watch.slipped, friction))
        expected = float(np.interp(watch.slipped, dense, exact))
        checks.append(relative_check(f"slips at ε = {watch.slipped:.4f}: μ", expected, friction, TOLERANCE))
    stuck = [(e, ratio) for e, ratio, way in watch.path if way < 0.1 * RUNAWAY and e > 0.005]
    for e in TABLE:
        if e < SLIPPING[-1]:  # the last run sticks that far
            near = np.interp(e, *np.array(stuck).T)
            checks.append(relative_check(f"T/N while sticking at ε = {e:g}", ratios[e], near, TOLERANCE))
    checks.append(
        table_check({f"{e:g}": v for e, v in TABLE.items()}, {f"{e:g}": v for e, v in ratios.items()}, TABLE_DIGITS)
    )
    curves = (
        curve("elastica", list(zip(dense, exact, strict=True))),
        curve("T/N while sticking", stuck),
        curve("slip", slips, markers=True),
    )
    figure = Figure("lowered by ε = Δ/L", "T/N, μ", curves)
    return CaseResult("stick-slip", tuple(checks), figure=figure)


def press_strip(strip: Strip, friction: float, shortening: float) -> TipWatch:
    """Lower the clamp by `shortening` × the length on a plane with the `friction` coefficient; what the tip did."""
    material = Material.from_stiffness("strip", stretch=STRETCH, bend=BEND, thickness=1e-4, density=DENSITY)
    corners, faces = plane(4.0 * LENGTH)
    contact = ContactOptions(
        activation=ACTIVATION, sheet_thickness=(0.0,), friction=np.full((2, 2), friction), slip_speed=SLIP_SPEED
    )
    down = [Key(0.0), Key(1.0, translate=(0.0, 0.0, -TOUCHDOWN), velocity_translate=(0.0, 0.0, -TOUCHDOWN))]
    down.append(Key(2.0, translate=(0.0, 0.0, -shortening * LENGTH)))
    model = static_model(
        material,
        [clamp("clamp", motion=make_motion("down", keys=down))],
        step=STEP,
        contact=contact,
        obstacles=(make_obstacle("plane", faces, corners),),
        gravity=(NUDGE * BEND / (DENSITY * LENGTH**3), 0.0, 0.0),
    )
    x = np.stack([np.zeros(len(strip.x)), strip.x[:, 1], 0.99 * ACTIVATION + LENGTH - strip.x[:, 0]], axis=1)
    state = initial_state(
        strip.mesh,
        x,
        obstacle_x=model.obstacle_positions(0.0),
        obstacle_count=1,
        pins=hold(strip, x, (0, 1)),
        step_size=STEP,
    )
    watch = TipWatch(strip)
    sim = Simulation(model=replace(model, frame_time=0.1), state=state)  # short frames: the one that slips is finished
    sim.run(20, observers=[watch])
    return watch
