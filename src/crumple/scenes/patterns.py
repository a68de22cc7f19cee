"""Crease patterns of scenes: the pattern of a shape, its mesh, and the angles by which its creases are folded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from crumple.patterns import (
    CreasePattern,
    FoldedFacets,
    PatternMesh,
    box,
    check_pattern,
    fold_angles,
    fold_facets,
    kresling,
    mesh_pattern,
    miura,
    pleats,
    read_pattern,
    waterbomb,
)
from crumple.patterns.meshing import facet_polygons
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

Point = tuple[float, float]

PATTERN_KINDS = ("pattern", "miura", "waterbomb", "kresling", "pleats", "box")
"""Kinds of shapes that are crease patterns."""
MOST_NOTES = 20
"""Findings about a pattern that are reported one by one."""
MOST_LOOSE = 1000
"""Creases, and parts of cuts, that end inside a facet which are put into the mesh."""
REPORTED_CHANGE = np.radians(1.0)
"""Changes of angles by the fit that are reported [rad]."""
LARGEST_GAP = 1e-4
"""Folded facets fit when they miss each other by less than this fraction of the longer side, which drawings with two
decimals do; with the default of at most 60 faces along that side it strains faces by less than 1 %."""


@dataclass(frozen=True)
class Folds:
    """How a pattern is folded: the `angle` of each of its edges (edge_count,) [rad], the folded positions `y`
    (node_count, 3) [m] of the mesh, None where facets must bend, and `notes` for the user."""

    angle: Floats
    y: Floats | None
    notes: tuple[str, ...]


def shape_pattern(shape: Any) -> CreasePattern:
    """The crease pattern of a sheet's shape."""
    stamp = Path(shape.file).stat().st_mtime_ns if shape.kind == "pattern" else 0
    return _pattern(shape, stamp)


def pattern_sheet(shape: Any) -> PatternMesh:
    """Its mesh."""
    return _mesh(shape_pattern(shape), shape.size)


def pattern_extent(shape: Any) -> tuple[float, float]:
    """The area of the facets of a pattern [m²] and the length of all its lines [m]; 0 when it cannot be read."""
    try:
        pattern = shape_pattern(shape)
    except (InputError, OSError):
        return 0.0, 0.0
    ends = pattern.vertices[pattern.edges]
    area = sum(_ring_area(pattern.vertices[ring]) for rings in pattern.facets.rings for ring in rings)
    return area, float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum())


def _ring_area(points: Floats) -> float:
    """Area of a polygon (n, 2) [m²]; holes, which run in the other direction, count as negative."""
    x, y = points.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def pattern_folds(shape: Any) -> Folds:
    """The fold angles of a pattern, `fold` times its targets, changed so that facets stay flat if that can be."""
    pattern = shape_pattern(shape)
    notes, wanted = list(pattern.notes), pattern.targets(shape.fold)
    fitted = fold_angles(pattern, shape.fold) if shape.fit else None
    findings = check_pattern(pattern, wanted if fitted is None else fitted)
    notes += [finding.text for finding in findings[:MOST_NOTES]]
    if len(findings) > MOST_NOTES:
        notes.append(f"{len(findings) - MOST_NOTES} more findings of this kind")
    if fitted is None:
        if shape.fit:
            notes.append("no angles near the wanted ones let all facets stay flat; they will bend")
        return Folds(wanted, None, tuple(notes))
    change = float(np.abs(fitted - wanted).max(initial=0.0))
    if change > REPORTED_CHANGE:
        notes.append(
            f"fold angles were changed by up to {np.degrees(change):.3g}° so that all facets stay flat (key fit)"
        )
    facets = fold_facets(pattern, fitted)
    flat = facets_meet(pattern, facets)
    return Folds(fitted, pattern_sheet(shape).folded(facets) if flat else None, tuple(notes))


def is_rigid(pattern: CreasePattern, fold: float) -> bool:
    """Whether all facets of a pattern that is folded by `fold` (0…1) can be flat."""
    angle = fold_angles(pattern, fold)
    return angle is not None and facets_meet(pattern, fold_facets(pattern, angle))


def facets_meet(pattern: CreasePattern, facets: FoldedFacets) -> bool:
    """Whether folded facets meet along all creases."""
    return facets.gap <= LARGEST_GAP * float(pattern.extent.max())


def loose_lines(shape: Any) -> list[tuple[Point, Point, float]]:
    """Ends [m] and fold angle [rad] of the mountains and valleys of a pattern that have one facet on both sides."""
    pattern = shape_pattern(shape)
    loose = _loose_edges(pattern, "MV")
    ends, angle = pattern.vertices[pattern.edges[loose]].tolist(), pattern.angle[loose] * shape.fold
    return [((p[0], p[1]), (q[0], q[1]), float(a)) for (p, q), a in zip(ends, angle, strict=True)]


def loose_slits(shape: Any) -> list[Floats]:
    """Polylines (n, 2) [m] of the cuts of a pattern that have one facet on both sides."""
    import shapely

    pattern = shape_pattern(shape)
    loose = _loose_edges(pattern, "CB")
    lines = shapely.linestrings(pattern.vertices[pattern.edges[loose]])
    merged = shapely.get_parts(shapely.line_merge(shapely.multilinestrings(lines))) if len(loose) else []
    return [shapely.get_coordinates(line) for line in merged]


def _loose_edges(pattern: CreasePattern, letters: str) -> np.ndarray:
    """The numbers of the edges with some `letters` that lie inside one facet."""
    import shapely

    loose = np.flatnonzero(pattern.facets.dangling & np.isin(pattern.assignment, [*letters]))
    loose = loose[:MOST_LOOSE]
    if not len(loose):
        return loose
    paper = shapely.union_all(facet_polygons(pattern))
    middle = shapely.points(pattern.vertices[pattern.edges[loose]].mean(axis=1))
    return loose[shapely.contains(paper, middle)]


def start_positions(shape: Any) -> Floats:
    """Positions (node_count, 3) [m] in which a pattern starts, its facets flat: folded by `start` times `fold`."""
    sheet, pattern, fraction = pattern_sheet(shape), shape_pattern(shape), shape.start * shape.fold
    if fraction == 0.0:
        return sheet.mesh.node_rest.copy()
    angle = fold_angles(pattern, fraction)
    facets = None if angle is None else fold_facets(pattern, angle)
    if facets is None or not facets_meet(pattern, facets):
        remedy = "the creases do not fit, so that no folded shape is known; must be 0 (flat)"
        raise InputError("start", remedy, shape.start)
    return _laid_flat(sheet.folded(facets), pattern_sheet(shape).mesh.node_rest)


def _laid_flat(x: Floats, flat: Floats) -> Floats:
    """A folded shape turned so that it is as near as can be to the flat sheet (Kabsch)."""
    middle, aim = x.mean(axis=0), flat.mean(axis=0)
    left, _, right = np.linalg.svd((x - middle).T @ (flat - aim))
    sign = np.array([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return np.ascontiguousarray((x - middle) @ (left * sign) @ right + aim)


@lru_cache(maxsize=4)
def read_stamped(path: str, unit: float | None, width: float | None, stamp: int) -> CreasePattern:
    """The pattern of a file that was written at `stamp`: a scene asks for it several times, and 5000 edges take
    seconds to read."""
    return read_pattern(path, unit=unit, width=width)


@lru_cache(maxsize=16)
def _pattern(shape: Any, stamp: int) -> CreasePattern:
    """The pattern of a shape whose file was written at `stamp`."""
    if shape.kind == "pattern":
        return read_stamped(str(shape.file), shape.unit, shape.width, stamp)
    angle = np.radians(getattr(shape, "angle", 0.0))
    if shape.kind == "miura":
        return miura(shape.columns, shape.rows, shape.a, shape.b, np.radians(shape.alpha), angle)
    if shape.kind == "waterbomb":
        return waterbomb(shape.columns, shape.rows, shape.cell, angle)
    if shape.kind == "kresling":
        return kresling(shape.sides, shape.radius, shape.height, np.radians(shape.twist), shape.rows)
    if shape.kind == "pleats":
        return pleats(shape.width, shape.height, shape.count, angle, share=shape.share)
    flap_angle = None if shape.flap_angle is None else np.radians(shape.flap_angle)
    return box(
        shape.width, shape.depth, shape.height,
        flap=shape.flap, glue=shape.glue, slot=shape.slot, angle=angle, flap_angle=flap_angle,
    )  # fmt: skip


_MESHES: dict[tuple[int, float], tuple[CreasePattern, PatternMesh]] = {}


def _mesh(pattern: CreasePattern, size: float) -> PatternMesh:
    """The mesh of a pattern; the last one is kept, because a scene asks for it twice."""
    key = (id(pattern), size)
    if key not in _MESHES:
        _MESHES.clear()
        _MESHES[key] = (pattern, mesh_pattern(pattern, size))
    return _MESHES[key][1]
