"""cantilever: a strip clamped horizontally that hangs under its own weight (heavy elastica).

Γ = ρ g L³/B; the observable is the drop of the tip over its reach. Gravity is raised from one Γ to the next.
"""

from __future__ import annotations

import numpy as np

from crumple.materials.material import Material
from crumple.state import initial_state
from crumple.studies.validation.elastica import heavy_cantilever
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check, table_check
from crumple.studies.validation.strip import Strip, clamp, hold, make_strip, settle, static_model

TABLE = {
    1.0: 0.1246, 2.0: 0.2467, 5.0: 0.5857, 10.0: 1.0668, 20.0: 1.8639, 50.0: 3.7056, 100.0: 5.888,
    200.0: 8.907, 500.0: 14.77, 1e3: 21.34, 1e4: 69.71,
}  # fmt: skip
"""Γ and drop over reach."""
TABLE_DIGITS = 5e-4
"""Rounding of the table."""
LENGTH, BEND, STRETCH, DENSITY = 0.2, 4e-4, 4e5, 0.08
"""[m], B [N m], Y [N/m], [kg/m²]: office paper."""
STRIPS: tuple[tuple[int, float, tuple[float, ...]], ...] = (
    (40, 0.5, (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)),
    (80, 0.15, (20.0, 100.0, 200.0, 500.0, 1e3)),
    (200, 0.04, (100.0, 1e3, 1e4)),
)
"""Rows, width over length, Γ on the way: a heavy strip bends within L Γ^(−1/3) of its clamp, so it needs more rows."""


def validate_cantilever(strips: tuple[tuple[int, float, tuple[float, ...]], ...] = STRIPS) -> CaseResult:
    """Drop over reach against the equation of the heavy elastica: within 2 % for Γ ≤ 100, 5 % above."""
    measured: dict[float, float] = {}
    for rows, width, weights in strips:
        strip = make_strip(LENGTH, width * LENGTH, rows)
        wanted = [weight for weight in weights if weight in TABLE and weight not in measured]
        found = hang_strip(strip, weights)
        measured |= {weight: found[weight] for weight in wanted}
    ascending = np.array(sorted(measured))
    reference = dict(zip(ascending, heavy_cantilever(ascending), strict=True))
    checks: list[Check] = []
    for weight in ascending:
        label = f"drop/reach at Γ = {weight:g}"
        checks.append(relative_check(label, reference[weight], measured[weight], 0.02 if weight <= 100 else 0.05))
    table = {f"{weight:g}": value for weight, value in TABLE.items() if weight in reference}
    checks.append(table_check(table, {f"{w:g}": value for w, value in reference.items()}, TABLE_DIGITS))
    dense = np.geomspace(ascending[0], ascending[-1], 60)
    curves = (
        curve("heavy elastica", list(zip(dense, heavy_cantilever(dense), strict=True))),
        curve("measured", list(measured.items()), markers=True),
    )
    return CaseResult("cantilever", tuple(checks), figure=Figure("Γ = ρ g L³/B", "drop / reach", curves, True))


def hang_strip(strip: Strip, weights: tuple[float, ...]) -> dict[float, float]:
    """Drop over reach of the tip for each Γ, approached in this order."""
    material = Material.from_stiffness("strip", stretch=STRETCH, bend=BEND, thickness=1e-4, density=DENSITY)
    state = initial_state(strip.mesh, strip.x, pins=hold(strip, strip.x, (0, 1)), step_size=1.0)
    result = {}
    for weight in weights:
        gravity = weight * BEND / (DENSITY * LENGTH**3)
        model = static_model(material, [clamp("clamp")], gravity=(0.0, 0.0, -gravity))
        state = settle(model, state)
        tip = strip.line(state.x)[-1]
        result[weight] = float(-tip[2] / tip[0])
    return result
