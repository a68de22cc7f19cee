"""end-moment: a cantilever rolled up into a full circle by a couple at its end [Sze2004].

A clamp holds the last two rows of the strip (the middle between them is its end) and is moved and turned until what it
exerts on the strip is a couple of the wanted size and no force: three unknowns, three equations. A pair of forces would
have to follow the strip and lets a wide strip escape sideways. The exact solution is a circle, κ = M/(B b).

The benchmark is for ν = 0, where the width makes no difference; this strip is wide, see `strip`.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import root

from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.runtime.errors import SimulationError
from crumple.runtime.typing import Floats
from crumple.state import State, initial_state
from crumple.studies.validation.end_shear import DENSITY, THICKNESS, YOUNG
from crumple.studies.validation.result import CaseResult, Check, Figure, curve
from crumple.studies.validation.strip import Strip, clamp, hold, make_strip, moved_pins, settle, static_model

LENGTH, WIDTH = 12.0, 24.0
BEND = YOUNG * THICKNESS**3 / 12.0
LARGEST_MOMENT = 50.0 * np.pi / 3.0
"""Per metre of width [N]: a full turn."""
TABLE = {0.25: (4.361, 7.639), 0.5: (12.0, 7.639), 0.75: (14.546, 2.546), 1.0: (12.0, 0.0)}
"""Share of the moment, and how far the end moves back and sideways [m]."""
TOLERANCE = 0.02
"""Of the expected value, and where that is small of the tenth part of the length."""
FOUND = 1e-3
"""Largest error of the couple, and of the force times the length, over the largest moment."""
TURN = np.pi / 12.0
"""Most that the end is turned at once [rad]."""


def validate_end_moment(rows: int = 30) -> CaseResult:
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
    """Displacements (back, sideways) [m] of the end for every moment of the table."""
    material = Material.isotropic("strip", young=YOUNG, poisson=0.0, thickness=THICKNESS, density=DENSITY)
    model = static_model(material, [clamp("clamp"), clamp("end")])
    state = initial_state(strip.mesh, strip.x, pins=hold(strip, strip.x, (0, 1), (-2, -1)), step_size=1.0)
    result, turn = {}, 0.0
    for share in TABLE:
        wanted = share * LARGEST_MOMENT * LENGTH / BEND
        for angle in np.linspace(turn, wanted, int(np.ceil((wanted - turn) / TURN)) + 1)[1:]:
            state = _pose_end(strip, model, state, _circle(float(angle)))
        pose, state = _find_couple(strip, model, state, share * LARGEST_MOMENT, _circle(wanted))
        result[share] = (LENGTH - float(pose[0]), float(pose[1]))
        turn = wanted
    return result


def _find_couple(strip: Strip, model: Model, state: State, moment: float, guess: Floats) -> tuple[Floats, State]:
    """The pose of the end at which its clamp exerts the `moment` per width [N] and no force."""
    scale = np.array([LENGTH, LENGTH, 1.0])

    def pose(unknown: Floats) -> Floats:
        return guess + (unknown - 1.0) * scale  # around 1: the solver's difference steps are shares of the unknowns

    def residual(unknown: Floats) -> Floats:
        force, couple = _load(strip, model, _pose_end(strip, model, state, pose(unknown)))
        return np.array([force[0] * LENGTH, force[2] * LENGTH, couple - moment]) / LARGEST_MOMENT

    found = root(residual, np.ones(3), method="hybr", options={"xtol": 1e-5, "eps": 1e-8})
    if np.abs(found.fun).max() > FOUND:
        raise SimulationError(f"no pose of the end gives the couple {moment:g} N: {found.message}")
    return pose(found.x), _pose_end(strip, model, state, pose(found.x))


def _circle(angle: float) -> Floats:
    """Where the end of a strip rolled up by `angle` [rad] is, and that angle: (x, z, angle)."""
    return np.array([LENGTH * np.sin(angle) / angle, LENGTH * (1.0 - np.cos(angle)) / angle, angle])


def _pose_end(strip: Strip, model: Model, state: State, pose: Floats) -> State:
    """Equilibrium with the end at the pose (x, z, angle) [m, m, rad]."""
    pins = state.pins
    end = pins.handle == 1
    anchor = strip.x[pins.node]
    along, up = anchor[end, 0] - LENGTH, anchor[end, 2]
    c, s = np.cos(pose[2]), np.sin(pose[2])
    anchor[end, 0] = pose[0] + c * along - s * up
    anchor[end, 2] = pose[1] + s * along + c * up
    return settle(model, state.replaced(pins=moved_pins(pins, anchor)), frames=1)


def _load(strip: Strip, model: Model, state: State) -> tuple[Floats, float]:
    """Force (3,) [N/m] and couple [N] per width of the clamp at the end; positive couples roll the strip up."""
    end = state.pins.handle == 1
    x, anchor = state.x[state.pins.node[end]], state.pins.anchor[end]
    force = model.handles[1].stiffness * (anchor - x)
    arm = x - x.mean(axis=0)
    return force.sum(axis=0) / strip.width, float(np.cross(force, arm).sum(axis=0)[1]) / strip.width
