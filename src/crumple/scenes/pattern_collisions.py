"""Folded patterns that obstruct themselves: facets that collide while they fold, and starts that leave no room."""

from __future__ import annotations

from typing import Any

import numpy as np

from crumple.contact import find_candidates, find_intersections, make_surface, min_gap
from crumple.patterns import CreasePattern, PatternMesh, fold_angles, fold_facets
from crumple.patterns.rigid import is_large
from crumple.runtime.typing import Floats
from crumple.scenes.patterns import facets_meet, pattern_sheet, shape_pattern

FRACTIONS = (0.25, 0.5, 0.75, 0.995)
"""Shares of the fold at which collisions are looked for; the last lets facets that just meet be apart."""
FLAT = np.radians(175.0)
"""Patterns that fold further are not looked at when folded: their facets lie on each other [rad]."""
MOST_REPORTED = 5
"""Pairs of facets that are reported."""
STARTS = (1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.93, 0.9, 0.85, 0.8)
"""Shares of the wanted start that are tried, in this order."""


def colliding_facets(shape: Any) -> list[str]:
    """Which facets of a pattern pass through each other while all its creases fold alike, a line each."""
    pattern, sheet = shape_pattern(shape), pattern_sheet(shape)
    seen: set[tuple[int, int]] = set()
    reported: list[str] = []
    for fraction in FRACTIONS:
        x = _folded(pattern, sheet, fraction * shape.fold)
        if x is None and is_large(pattern):
            break  # where one fraction does not fold, the others would take as long to find out
        if x is None:
            continue
        for first, second in _crossings(sheet, x):
            if (first, second) not in seen and len(reported) < MOST_REPORTED:
                reported.append(
                    f"facets {first} and {second} collide when all creases are folded by {100 * fraction:.0f} % at once"
                    "; keys for groups of creases fold them one after the other"
                )
            seen.add((first, second))
    return reported


def free_start(shape: Any, thickness: float) -> float:
    """The fraction `start` of a pattern at which its layers are farther apart than their `thickness` [m]: the wanted
    one, or the nearest of some smaller ones; the wanted one if none is free."""
    pattern, sheet = shape_pattern(shape), pattern_sheet(shape)
    for fraction in STARTS:
        x = _folded(pattern, sheet, fraction * shape.start * shape.fold)
        if x is None and is_large(pattern):
            break
        if x is not None and _is_free(sheet, x, thickness):
            return float(fraction * shape.start)
    return float(shape.start)


def _folded(pattern: CreasePattern, sheet: PatternMesh, fold: float) -> Floats | None:
    """Positions (node_count, 3) [m] of the mesh folded rigidly, None where that is not possible or all is flat."""
    angle = fold_angles(pattern, fold)
    if angle is None or np.abs(angle).max(initial=0.0) > FLAT:
        return None
    facets = fold_facets(pattern, angle)
    return sheet.folded(facets) if facets_meet(pattern, facets) else None


def _crossings(sheet: PatternMesh, x: Floats) -> list[tuple[int, int]]:
    """Pairs of facets that intersect, ascending."""
    mesh = sheet.mesh
    surface = make_surface(mesh.face_nodes, mesh.node_rest, dhat=1e-9)
    sides = np.sort(np.stack([mesh.face_nodes, np.roll(mesh.face_nodes, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    facet_of = dict(zip(map(tuple, sides.tolist()), np.repeat(sheet.facet, 3).tolist(), strict=True))
    pairs = set()
    for edge, face in find_intersections(surface, x).tolist():
        first, second = facet_of[tuple(sorted(surface.edges[edge].tolist()))], int(sheet.facet[face])
        if first != second:
            pairs.add((min(first, second), max(first, second)))
    return sorted(pairs)


def _is_free(sheet: PatternMesh, x: Floats, thickness: float) -> bool:
    """Whether layers in the shape x do not meet and are farther apart than `thickness` [m]."""
    reach = max(thickness, 1e-9)
    surface = make_surface(sheet.mesh.face_nodes, sheet.mesh.node_rest, part_thickness=thickness, dhat=0.1 * reach)
    if len(find_intersections(surface, x, 1)):
        return False
    gap, _ = min_gap(surface, find_candidates(surface, x, x, surface.reach - surface.dhat), x)
    return gap > 0.0
