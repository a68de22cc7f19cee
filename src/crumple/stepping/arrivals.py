"""Obstacles that appear during a run: refused where a sheet is in their place."""

from __future__ import annotations

import numpy as np

from crumple.contact import candidate_parts, describe_intersection, find_candidates, find_intersections, min_gap
from crumple.model.derived import Derived
from crumple.runtime.errors import SimulationError
from crumple.state import State


def check_arrivals(state: State, derived: Derived, step: float) -> None:
    """Raise SimulationError when an obstacle that starts within the next `step` [s] cuts a sheet or is too close to it.

    Nothing could push them apart: an intersection would stay, and below the thickness the barrier is infinite.
    """
    model = derived.model
    sheets = len(model.sheet_names)
    coming = [
        sheets + k for k, obstacle in enumerate(model.obstacles) if state.time < obstacle.start <= state.time + step
    ]
    surface = derived.surface(state.time + step) if coming else None
    if surface is None:
        return
    x, names = np.concatenate([state.x, state.obstacle_x]), model.part_names
    for pair in find_intersections(surface, x):
        found = describe_intersection(surface, x, pair)
        if found.parts[0] in coming or found.parts[1] in coming:
            sheet, obstacle = sorted(found.parts)
            a, b, c = found.place
            words = f"starts where {names[sheet]!r} is, near ({a:.4g}, {b:.4g}, {c:.4g}) m"
            raise SimulationError(f"obstacle {names[obstacle]!r} {words}; start it elsewhere, earlier or later")
    candidates = find_candidates(surface, x, x, surface.reach - surface.dhat)
    gap, pair = min_gap(surface, candidates, x)
    if gap <= 0.0:
        sheet, obstacle = sorted(candidate_parts(surface, candidates, pair))
        words = f"starts closer to {names[sheet]!r} than their thickness, by {-gap:.3g} m"
        raise SimulationError(f"obstacle {names[obstacle]!r} {words}; start it elsewhere, earlier or later")
