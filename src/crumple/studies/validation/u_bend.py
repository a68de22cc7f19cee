"""u-bend: a strip folded between two plates that close on it, held by contact alone.

It lifts off the plates where its curvature is zero; between plates at the distance D (between the mid-surfaces of the
strip where it touches them) κ_max = 2.396/D and the force per width is 2.871 B/D². Below the yield curvature nothing
is damaged.
"""

from __future__ import annotations

import numpy as np

from crumple.boundary import Key, Obstacle, make_motion, make_obstacle
from crumple.materials.material import Material
from crumple.options.contact import ContactOptions
from crumple.runtime.typing import Floats
from crumple.shapes import plane
from crumple.state import initial_state
from crumple.stepping.contact_forces import contact_forces
from crumple.studies.validation.elastica import U_BEND_CURVATURE, U_BEND_FORCE
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check
from crumple.studies.validation.strip import Strip, make_strip, settle, static_model

LENGTH, BEND, STRETCH, DENSITY = 0.2, 4e-4, 4e5, 0.08
START = 0.06
"""Distance of the legs at the start [m]."""
GAPS = (0.05, 0.04, 0.03)
"""Distances of the plates that are measured [m]."""
ACTIVATION = 2e-4
YIELD = 200.0
"""[1/m]: about twice the largest curvature."""
STEP = 0.1
LOOSE = 1e-3
"""Where the legs are is settled by energy alone: nothing holds their ends [m]."""
TOLERANCE = 0.02


def validate_u_bend(rows: int = 60, width: float = 0.2) -> CaseResult:
    """Largest curvature and plate force against the elastica: within 2 %; no damage."""
    measured, damage = close_plates(make_strip(LENGTH, width * LENGTH, rows, clamps=0))
    checks: list[Check] = []
    for gap, (distance, curvature, force) in measured.items():
        label = f"at D = {1e3 * gap:g} mm"
        checks.append(relative_check(f"κ_max D {label}", U_BEND_CURVATURE, curvature * distance, TOLERANCE))
        scale = BEND / distance**2
        checks.append(relative_check(f"force/(B/D²) {label}", U_BEND_FORCE, force / scale, TOLERANCE))
    checks.append(Check("largest damage", 0.0, damage, 0.0))
    dense = np.linspace(0.9 * GAPS[-1], START, 50)
    curves = (
        curve("elastica", [(d, U_BEND_FORCE * BEND / d**2) for d in dense]),
        curve("measured", [(distance, force) for distance, _, force in measured.values()], markers=True),
    )
    return CaseResult("u-bend", tuple(checks), figure=Figure("distance D [m]", "force per width [N/m]", curves))


def close_plates(strip: Strip) -> tuple[dict[float, tuple[float, float, float]], float]:
    """Distance D of the legs [m], largest curvature [1/m] and force per width [N/m] by plate gap; largest damage."""
    material = Material.from_stiffness(
        "strip", stretch=STRETCH, bend=BEND, thickness=1e-4, density=DENSITY, yield_curvature=YIELD
    )
    contact = ContactOptions(activation=ACTIVATION, sheet_thickness=(0.0,), friction=np.zeros((3, 3)))
    model = static_model(material, [], step=STEP, distance=LOOSE, contact=contact, obstacles=_plates())
    state = initial_state(
        strip.mesh, _fold(strip), obstacle_x=model.obstacle_positions(0.0), obstacle_count=2, step_size=STEP
    )
    result = {}
    for gap in GAPS:
        state = settle(model, state, frames=2)
        curvature = float(np.abs(strip.curvatures(state.x)).max())
        force = 0.5 * float(np.abs(contact_forces(model, state)[: len(state.x), 2]).sum())
        result[gap] = (float(np.ptp(strip.line(state.x)[:, 2])), curvature, force / strip.width)
    return result, float(state.damage.max())


def _plates() -> tuple[Obstacle, Obstacle]:
    """A lower plate at rest and an upper one that comes down in a second and waits for one, gap by gap."""
    corners, faces = plane((4.0 * LENGTH, 4.0 * LENGTH))
    margin = START + 2.0 * ACTIVATION
    keys, time = [Key(0.0, translate=(0.0, 0.0, margin))], 0.0
    for gap in GAPS:
        keys.append(Key(time + 1.0, translate=(0.0, 0.0, gap)))
        keys.append(Key(time + 2.0, translate=(0.0, 0.0, gap), velocity_translate=(0.0, 0.0, 0.0)))
        time += 2.0
    lower = make_obstacle("lower", faces, corners)
    upper = make_obstacle("upper", faces, corners, inside=True, motion=make_motion("closing", keys=keys))
    return lower, upper


def _fold(strip: Strip) -> Floats:
    """The strip with a half circle in its middle and straight legs at the distance START, just above z = 0."""
    s = strip.x[:, 0] + 0.5 * strip.spacing
    radius = 0.5 * START
    half = 0.5 * np.pi * radius
    t = s - 0.5 * LENGTH
    angle = np.clip(t, -half, half) / radius
    x = np.empty_like(strip.x)
    x[:, 0] = radius * np.cos(angle) - np.maximum(np.abs(t) - half, 0.0)
    x[:, 1] = strip.x[:, 1]
    x[:, 2] = ACTIVATION + radius * (1.0 + np.sin(angle))
    return np.ascontiguousarray(x)
