"""two-point: a slit sheet is pulled apart at two points A and B of its border; the crack halves the angle to them.

In a sheet that does not stretch, tension runs along the straight lines on the pattern from A and B to the tip. A crack
that runs by da along e lets the points part by (û_A + û_B)·e da, so it runs along û_A + û_B, the bisector: a branch of
the hyperbola with the foci A and B; and F |û_A + û_B| = G_c t.
"""

from __future__ import annotations

import numpy as np

from crumple.materials.material import Material
from crumple.runtime.typing import Floats
from crumple.shapes import rectangle
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check, relative_check
from crumple.studies.validation.torn_sheet import (
    TEAR,
    Pulled,
    grip,
    pull,
    sides,
    slit_sheet,
    tearing_material,
    tearing_model,
)

SIDE, SLIT, SIZE = 0.06, 0.02, 3e-3
"""Of the square sheet, depth of the slit in its middle, edge length [m]."""
POINTS: tuple[tuple[float, float], ...] = ((0.015, 0.045), (0.024, 0.057))
"""Where on the lower border it is pulled, left and right [m]."""
FIRST, STEP, LENGTH = 0.008, 2.5e-4, 6e-3
"""Way of the points before the crack may run, in each step, and how far it runs [m]."""


def validate_two_point(points: tuple[tuple[float, float], ...] = POINTS, length: float = LENGTH) -> CaseResult:
    """Heading within 10° of the bisector, and F |û_A + û_B| within 20 % of G_c t."""
    checks: list[Check] = []
    curves = []
    for left, right in points:
        rows = tear_between(left, right, length)
        ends = np.array([[left, 0.0], [right, 0.0]])
        label = f"pulled at {1e3 * left:g} and {1e3 * right:g} mm"
        wanted, found = bisector(ends, rows[len(rows) // 2].tip), rows[-1].tip - rows[0].tip
        off = float(
            np.degrees(np.arccos(np.clip(wanted @ found / np.linalg.norm(wanted) / np.linalg.norm(found), -1, 1)))
        )
        strength = float(np.mean([np.linalg.norm(row.force) * np.linalg.norm(bisector(ends, row.tip)) for row in rows]))
        checks += [
            range_check(f"{label}: heading off the bisector [°]", (0.0, 10.0), off),
            relative_check(f"{label}: mean F |û_A + û_B|/(G_c t)", 1.0, strength / TEAR, 0.20),
            Check(f"{label}: crossings of the sheet with itself", 0.0, float(sum(row.crossings for row in rows)), 0.0),
        ]
        curves.append(curve(label, [(1e3 * row.tip[0], 1e3 * row.tip[1]) for row in rows]))
    return CaseResult("two-point", tuple(checks), figure=Figure("u [mm]", "v [mm]", tuple(curves)))


def tear_between(left: float, right: float, length: float, material: Material | None = None) -> list[Pulled]:
    """The steps while the crack ran for `length` [m], pulled at two points of the lower border [m]; `material`: of the
    sheet, without grain if left out."""
    count = round(SIDE / SIZE)
    mesh, _ = rectangle(SIDE, SIDE, kind="alternating", divisions=(count, count))
    slit = np.array([[0.5 * SIDE, 0.0], [0.5 * SIDE, SLIT]])
    state = slit_sheet(mesh, slit)
    side, held = sides(state, slit)[state.mesh.vertex_node], []
    for place, sign in ((left, 1.0), (right, -1.0)):
        away = np.linalg.norm(state.mesh.u - [place, 0.0], axis=1) + np.where(side == sign, 0.0, np.inf)
        held.append(state.mesh.vertex_node[[int(np.argmin(away))]])
    model = tearing_model(material or tearing_material())
    return pull(model, grip(state, *held), first=FIRST, step=STEP, length=length)[1]


def bisector(ends: Floats, tip: Floats) -> Floats:
    """û_A + û_B (2,) from the points (2, 2) to the tip (2,)."""
    way = tip - ends
    total: Floats = (way / np.linalg.norm(way, axis=1, keepdims=True)).sum(axis=0)
    return total
