"""buckled-strip: a strip between two clamps that have come closer by ε L (post-buckling of the elastica)."""

from __future__ import annotations

import numpy as np

from crumple.boundary import Key, make_motion
from crumple.materials.material import Material
from crumple.runtime.typing import Floats
from crumple.state import initial_state
from crumple.studies.validation.elastica import buckled_strip
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check, table_check
from crumple.studies.validation.strip import Strip, clamp, hold, make_strip, moved_pins, reaction, settle, static_model

TABLE = {
    0.05: (0.1401, 1.026, 2.84), 0.1: (0.1949, 1.053, 4.05), 0.2: (0.2663, 1.113, 5.85),
    0.3: (0.3143, 1.181, 7.33), 0.5: (0.3733, 1.349, 9.94),
}  # fmt: skip
"""ε and rise / L, force over 4π² B/L² per width, κ_max L."""
TABLE_DIGITS = 2e-3
"""Rounding of the table."""
TOLERANCE = 0.02
LENGTH, BEND, STRETCH, DENSITY = 0.2, 4e-4, 4e5, 0.08
STEP = 0.25
"""Share of the way from one ε to the next that the clamp moves at once."""


def validate_buckled_strip(rows: int = 60, width: float = 0.5) -> CaseResult:
    """Rise, force and largest curvature against the closed solution: within 2 %."""
    measured = compress_strip(make_strip(LENGTH, width * LENGTH, rows, clamps=2))
    checks: list[Check] = []
    table: dict[str, float] = {}
    exactly: dict[str, float] = {}
    names = ("mid-rise/L", "force/(4π² B/L²)", "κ_max L")
    for shortening, values in measured.items():
        exact = buckled_strip(shortening)
        for name, value, expected, printed in zip(
            names, values, (exact.rise, exact.force, exact.curvature), TABLE[shortening], strict=True
        ):
            label = f"{name} at ε = {shortening:g}"
            checks.append(relative_check(label, expected, value, TOLERANCE))
            table[label], exactly[label] = printed, expected
    checks.append(table_check(table, exactly, TABLE_DIGITS))
    dense = np.linspace(0.01, 0.55, 50)
    exact_force = [(float(e), buckled_strip(e).force) for e in dense]
    exact_rise = [(float(e), buckled_strip(e).rise) for e in dense]
    curves = (
        curve("mid-rise/L, elastica", exact_rise),
        curve("mid-rise/L, measured", [(e, values[0]) for e, values in measured.items()], markers=True),
        curve("force/(4π² B/L²), elastica", exact_force),
        curve("force/(4π² B/L²), measured", [(e, values[1]) for e, values in measured.items()], markers=True),
    )
    return CaseResult("buckled-strip", tuple(checks), figure=Figure("end shortening ε", "", curves))


def compress_strip(strip: Strip) -> dict[float, tuple[float, float, float]]:
    """Rise / L, force over 4π² B/L² and κ_max L for every ε of the table."""
    material = Material.from_stiffness("strip", stretch=STRETCH, bend=BEND, thickness=1e-4, density=DENSITY)
    shortenings = list(TABLE)
    keys = [Key(k + 1.0, translate=(-e * LENGTH, 0.0, 0.0)) for k, e in enumerate(shortenings)]
    handles = [clamp("left"), clamp("right", motion=make_motion("closing", keys=keys))]
    model = static_model(material, handles, step=STEP)
    start = arch(strip, shortenings[0])
    pins = hold(strip, start, (0, 1), (-2, -1))
    state = initial_state(strip.mesh, start, pins=moved_pins(pins, strip.x[pins.node]), step_size=STEP)
    result = {}
    for shortening in shortenings:
        state = settle(model, state, frames=1)
        rise = float(np.ptp(strip.line(state.x)[:, 2])) / LENGTH
        force = -reaction(model, state, 1)[0] / strip.width / (4.0 * np.pi**2 * BEND / LENGTH**2)
        curvature = float(np.abs(strip.curvatures(state.x)).max()) * LENGTH
        result[shortening] = (rise, float(force), curvature)
    return result


def arch(strip: Strip, shortening: float) -> Floats:
    """The strip as a shallow cosine arch with the ends closer by `shortening` × its length, (node_count, 3) [m]."""
    s = np.clip(strip.x[:, 0] / LENGTH, 0.0, 1.0)
    x = strip.x.copy()
    x[:, 0] -= shortening * LENGTH * (s - np.sin(4.0 * np.pi * s) / (4.0 * np.pi))
    x[:, 2] = np.sqrt(shortening) / np.pi * LENGTH * (1.0 - np.cos(2.0 * np.pi * s))
    return x
