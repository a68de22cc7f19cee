"""end-moment: a cantilever rolled up into a full circle by a couple at its end [Sze 2004].

The couple is a pair of opposite forces on the last two rows, normal to the strip between them (its middle is the
end of the strip, as that of the held rows is the clamp). Forces follow the strip: their direction is set anew after
every solution until it no longer changes. The exact solution is a circle, κ = M/(B b).
"""

from __future__ import annotations

import numpy as np

from crumple.materials.material import Material
from crumple.simulation.state import initial_state
from crumple.validation.end_shear import THICKNESS, YOUNG, edge_shares, push
from crumple.validation.result import CaseResult, Check, Figure, curve
from crumple.validation.strip import Strip, hold, make_strip, settle

LENGTH, WIDTH = 12.0, 1.0
LARGEST_MOMENT = 50.0 * np.pi / 3.0
"""On the whole end [N m]: a full turn."""
TABLE = {0.25: (4.361, 7.639), 0.5: (12.0, 7.639), 0.75: (14.546, 2.546), 1.0: (12.0, 0.0)}
"""Share of the moment, and how far the end moves back and sideways [m]."""
TOLERANCE = 0.02
"""Of the expected value, and where that is small of the tenth part of the length."""
STEPS = 16
"""Raises of the moment from nothing to the largest."""
FOLLOWED = 1e-5
"""Change of the direction of the forces below which they count as following [rad]."""


def validate_end_moment(rows: int = 60) -> CaseResult:
    """Displacement of the end at four moments: within 2 %."""
    path = roll_strip(make_strip(LENGTH, WIDTH, rows, clamps=2))
    checks: list[Check] = []
    for share, expected in TABLE.items():
        for name, value, wanted in zip("UW", path[share], expected, strict=True):
            tolerance = TOLERANCE * max(abs(wanted), 0.1 * LENGTH)
            checks.append(Check(f"{name} at M/Mmax = {share:g} [m]", wanted, value, tolerance))
    angle = 2.0 * np.pi * np.linspace(1e-3, 1.0, 100)
    exact = (LENGTH * (1.0 - np.sin(angle) / angle), LENGTH * (1.0 - np.cos(angle)) / angle)
    curves = []
    for k, name in enumerate("UW"):
        turns = angle / (2.0 * np.pi)
        curves.append(curve(f"{name}, circle", list(zip(turns, exact[k], strict=True))))
        curves.append(curve(f"{name}, measured", [(m, values[k]) for m, values in path.items()], markers=True))
    return CaseResult("end-moment", tuple(checks), figure=Figure("M / Mmax", "displacement [m]", tuple(curves)))


def roll_strip(strip: Strip) -> dict[float, tuple[float, float]]:
    """Displacements (back, sideways) [m] of the end on the way to the largest moment."""
    material = Material.isotropic("strip", young=YOUNG, poisson=0.0, thickness=THICKNESS, density=1.0)
    last, second = strip.nodes(-1), strip.nodes(-2)
    nodes = np.concatenate([last, second]).astype(np.int32)
    shares = np.concatenate([edge_shares(strip, last), -edge_shares(strip, second)])
    clamped = hold(strip, strip.x, (0, 1))
    state = initial_state(strip.mesh, strip.x, pins=clamped, step_size=1.0)
    result = {}
    for step in range(1, STEPS + 1):
        moment = step / STEPS * LARGEST_MOMENT
        before = np.full(3, np.inf)
        for _ in range(20):
            arm = np.subtract(*strip.line(state.x)[[-1, -2]])
            normal = np.array([-arm[2], 0.0, arm[0]]) / np.linalg.norm(arm)
            if np.linalg.norm(normal - before) < FOLLOWED:
                break
            before = normal
            force = moment / float(np.linalg.norm(arm)) * shares[:, None] * normal
            model, pins = push(material, clamped, nodes, state.x, force)
            state = settle(model, state.replaced(pins=pins), frames=1)
        end = strip.line(state.x)[-2:].mean(axis=0)
        result[step / STEPS] = (LENGTH - float(end[0]), float(end[2]))
    return result
