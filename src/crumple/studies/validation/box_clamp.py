"""box-clamp: a sheet that hangs from a box, as a user would write it.

The scene of a cantilever: a rectangle of any style, held by a handle that takes what is in a box whose border
follows no row of its mesh, without and with `remeshing = {}`. Drop over reach against the heavy elastica, Γ = ρ g L³/B.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crumple.scenes import build, scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studies.validation.elastica import heavy_cantilever
from crumple.studies.validation.result import CaseResult, relative_check

LENGTH, WIDTH, DEPTH = 0.2, 0.1, 0.0233
"""Of the free part and of what the box holds [m]."""
BEND, STRETCH, DENSITY = 4e-4, 4e4, 0.08
"""B [N m], Y [N/m], [kg/m²]."""
STYLES, SIZE = ("equilateral", "delaunay", "alternating", "right"), 7e-3
"""Of the meshes; edges in m."""
ADAPTIVE: tuple[tuple[float, float], ...] = ((9.0, 0.01), (9.0, 0.02), (3.0, 0.01), (30.0, 0.01))
"""Γ and edges at the start [m] of adaptive sheets."""
TOLERANCE = 0.02


def validate_box_clamp() -> CaseResult:
    """Drop over reach within 2 %, along both sides of the rectangle."""
    checks = []
    for axis in (0, 1):
        cases = [(9.0, SIZE, style, False) for style in STYLES]
        cases += [(weight, size, "equilateral", True) for weight, size in ADAPTIVE]
        for weight, size, style, adapts in cases:
            label = (
                f"Γ = {weight:g}, {'remeshing = {} from' if adapts else style} {1e3 * size:g} mm, along {'uv'[axis]}"
            )
            expected = float(heavy_cantilever(np.array([weight]))[0])
            checks.append(relative_check(label, expected, hang_sheet(weight, size, style, axis, adapts), TOLERANCE))
    return CaseResult("box-clamp", tuple(checks))


def hang_sheet(weight: float, size: float, style: str, axis: int, adapts: bool) -> float:
    """Drop over reach of a sheet with Γ = `weight` and edges of `size` [m] that hangs along `axis` of its pattern."""
    built = build(scene_from_tables(_tables(weight, size, style, axis, adapts)))
    state = Simulation(model=built.model, state=built.state).run(6 if adapts else 2)
    along = state.mesh.u[:, axis]
    tip = state.x[state.mesh.vertex_node[along > along.max() - 1e-9]].mean(axis=0)
    return float(-tip[2] / (tip[axis] + 0.5 * (LENGTH - DEPTH)))


def _tables(weight: float, size: float, style: str, axis: int, adapts: bool) -> dict[str, Any]:
    side = [WIDTH, WIDTH]
    side[axis] = LENGTH + DEPTH
    high = [1.0, 1.0, 1.0]
    high[axis] = 0.5 * (DEPTH - LENGTH)
    material = {"stretch": STRETCH, "bend": BEND, "thickness": 1e-4, "density": DENSITY, "poisson": 0.0}
    shape = {"kind": "rectangle", "width": side[0], "height": side[1], "size": size, "style": style}
    return {
        "name": "box-clamp",
        "run": {"duration": 6.0, "frame_time": 1.0},
        "solver": {"mode": "static"},
        "environment": {"gravity": [0.0, 0.0, -weight * BEND / (DENSITY * LENGTH**3)]},
        "contact": {"enabled": False},
        "sheets": [{"material": material, "shape": shape}],
        "handles": [{"select": {"kind": "box", "low": [-1.0, -1.0, -1.0], "high": high}, "stiffness": 1e6}],
        **({"remeshing": {}} if adapts else {}),
    }
