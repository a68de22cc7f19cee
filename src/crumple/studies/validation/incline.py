"""incline: a sheet on a plane that is tilted to θ, with the default settings.

Coulomb: it rests while tan θ ≤ μ, and slides with a = g (sin θ − μ cos θ) beyond. It is laid down on the level plane
first, so that it does not bounce. (Weight is turned instead of the plane.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary import make_obstacle
from crumple.materials import preset
from crumple.materials.material import Material
from crumple.model.model import STANDARD_GRAVITY, Model
from crumple.options.contact import ContactOptions
from crumple.session.simulation import Simulation
from crumple.shapes import plane, rectangle
from crumple.state import State, initial_state
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check

FRICTION = 0.5
RESTING, SLIDING = (0.5, 0.9), (1.1, 1.2, 1.3)
"""tan θ over μ."""
CREEP = 1e-4
"""Speed at which a resting sheet may creep [m/s]."""
SETTLED, FRAMES = 8, 10
"""Frames on the level plane and on the incline."""


def validate_incline() -> CaseResult:
    """Creep at rest ≤ 0.1 mm/s, acceleration when sliding within 2 %."""
    checks: list[Check] = []
    path = []
    for ratio in RESTING:
        speed, _ = slide(ratio)
        checks.append(Check(f"creep at tan θ = {ratio:g} μ [m/s]", 0.0, speed, CREEP))
    for ratio in SLIDING:
        _, acceleration = slide(ratio)
        expected = coulomb(ratio)
        path.append((ratio, acceleration))
        checks.append(relative_check(f"acceleration at tan θ = {ratio:g} μ [m/s²]", expected, acceleration, 0.02))
    dense = np.linspace(1.0, 1.35, 20)
    curves = (curve("Coulomb", [(r, coulomb(r)) for r in dense]), curve("measured", path, markers=True))
    return CaseResult("incline", tuple(checks), figure=Figure("tan θ / μ", "acceleration [m/s²]", curves))


def coulomb(ratio: float) -> float:
    """Acceleration on an incline of tan θ = ratio · μ [m/s²]."""
    angle = np.arctan(ratio * FRICTION)
    return float(max(0.0, STANDARD_GRAVITY * (np.sin(angle) - FRICTION * np.cos(angle))))


def slide(
    ratio: float, *, material: Material | None = None, side: float = 0.1, size: float = 0.025
) -> tuple[float, float]:
    """Mean speed [m/s] and acceleration [m/s²] down the incline, over the second half of the time."""
    model, state = lay_down(material or preset("paper80"), side, size)
    angle = np.arctan(ratio * FRICTION)
    tilted = (STANDARD_GRAVITY * np.sin(angle), 0.0, -STANDARD_GRAVITY * np.cos(angle))
    model = replace(model, gravity=tilted)
    sim = Simulation(model=model, state=state)
    middle, last = sim.run(SETTLED + FRAMES // 2), sim.run(SETTLED + FRAMES)
    time = last.time - middle.time
    speed = float(np.mean(last.x[:, 0] - middle.x[:, 0])) / time
    return speed, float(np.mean(last.v[:, 0] - middle.v[:, 0])) / time


def lay_down(material: Material, side: float, size: float) -> tuple[Model, State]:
    """A square at rest on a level plane."""
    mesh, flat = rectangle(side, side, size, kind="delaunay")
    x = flat - flat.mean(axis=0)
    x[:, 2] = material.thickness + 9e-4
    corners, faces = plane(20.0 * side)
    floor = make_obstacle("plane", faces, corners)
    contact = ContactOptions(sheet_thickness=(material.thickness,), friction=np.full((2, 2), FRICTION))
    model = Model((material,), obstacles=(floor,), contact=contact)
    state = initial_state(mesh, x, obstacle_x=model.obstacle_positions(0.0), obstacle_count=1)
    return model, Simulation(model=model, state=state).run(SETTLED)
