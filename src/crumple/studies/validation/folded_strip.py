"""folded-strip: what a fold keeps when it is let go depends little on mesh and steps.

A strip of office paper is clamped at one end; a hand takes the other end over by 180° until both lie 2 mm above each
other, and lets go. Paper weakens where it yields, so the bend gathers in a crease, as wide as the mesh makes it; its
moment is a function of its angle. What
stays is the turn of the crease, ∫ S_p dA over the width of the strip. The strip is in equilibrium at all times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crumple.scenes import build, scene_from_tables
from crumple.simulation.frame import advance_frame
from crumple.state import State
from crumple.studies.validation.result import CaseResult, Check, Figure, curve

LENGTH, WIDTH, GAP = 0.06, 0.02, 2e-3
"""Of the strip, and between its ends when it is folded [m]."""
EDGES = (1.5e-3, 2e-3, 3e-3, 4e-3)
"""Of the meshes [m]."""
STEPS = (5e-3, 0.02)
"""[s]."""
FOLDED, FREE, END = 0.3, 0.45, 0.6
"""When the ends lie on each other, when the hand lets go, and when the strip is at rest [s]."""
TOLERANCE = 5.0
"""[degrees]."""


def validate_folded_strip() -> CaseResult:
    """The turn that is left on four meshes with two lengths of steps: each within 5° of the mean."""
    found = {(edge, step): left_turn(edge, step) for edge in EDGES for step in STEPS}
    mean = float(np.mean(list(found.values())))
    checks = [
        Check(f"edges of {1e3 * edge:g} mm, steps of {1e3 * step:g} ms: turn [degrees]", mean, turn, TOLERANCE)
        for (edge, step), turn in found.items()
    ]
    curves = tuple(
        curve(f"{1e3 * step:g} ms", [(1e3 * edge, found[edge, step]) for edge in EDGES], markers=True) for step in STEPS
    )
    return CaseResult("folded-strip", tuple(checks), figure=Figure("edges [mm]", "turn that stays [degrees]", curves))


def left_turn(edge: float, step: float, **plasticity: float) -> float:
    """What a strip with edges of `edge` [m] keeps [degrees], folded in steps of `step` [s] with these options."""
    model, state, _ = build(scene_from_tables(_tables(edge, step, plasticity)))
    while state.time < END - 1e-9:
        state, _ = advance_frame(model, state)
    return crease_turn(state)


def crease_turn(state: State) -> float:
    """The turn of the crease over the width of the strip [degrees]."""
    return float(np.degrees(abs(np.abs(state.mesh.face_area) @ state.plastic_curvature[:, 0]) / WIDTH))


def _tables(edge: float, step: float, plasticity: dict[str, float]) -> dict[str, Any]:
    over = {"time": FOLDED, "rotate": {"angle": -180, "axis": [0, 1, 0]}}
    return {
        "name": "folded-strip",
        "run": {"duration": END, "frame_time": 0.05},
        "solver": {"mode": "static", "max_step": step},
        "environment": {"gravity": [0.0, 0.0, 0.0]},
        "contact": {"activation": 2e-4, "friction": 0.0},
        "plasticity": plasticity,
        "sheets": [
            {
                "material": {"preset": "paper80"},
                "shape": {"kind": "rectangle", "width": LENGTH, "height": WIDTH, "size": edge},
            }
        ],
        "handles": [
            {"name": "clamp", "select": {"kind": "side", "side": "left"}},
            {"name": "hand", "select": {"kind": "side", "side": "right"}, "motion": "over", "end": FREE},
        ],
        "motions": {"over": {"center": [0.0, 0.0, 0.5 * GAP], "keys": [{"time": 0.0}, over]}},
    }
