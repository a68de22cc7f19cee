"""Crease patterns: a flat drawing of vertices and edges, each edge with what it is and by how much it folds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from crumple.patterns.facets import Facets, find_facets
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints

MOUNTAIN, VALLEY, BOUNDARY, FLAT, CUT, UNASSIGNED, JOIN = "M", "V", "B", "F", "C", "U", "J"
ASSIGNMENTS = {
    MOUNTAIN: "mountain",
    VALLEY: "valley",
    BOUNDARY: "boundary",
    FLAT: "flat",
    CUT: "cut",
    UNASSIGNED: "unassigned",
    JOIN: "join",
}
"""The letters of FOLD and what they mean. A join is an edge inside a facet, which is flat and no crease."""
MOST_EDGES = 100_000
"""Edges of a pattern; more are surely no crease pattern."""


@dataclass(frozen=True)
class CreasePattern:
    """A crease pattern seen from its front, with facets counter-clockwise.

    `vertices` (vertex_count, 2) [m];  `edges` (edge_count, 2) vertex numbers;  `assignment` (edge_count,) letters of
    `ASSIGNMENTS`;  `angle` (edge_count,) target fold angle [rad], positive = mountain, NaN = free to take any;
    `group` (edge_count,) number of the group of each edge in `group_names`, -1 = none: creases that fold together.
    `extra`: what else a FOLD file said, written again by `write_fold`.  `notes`: what reading decided, one line each.
    """

    vertices: Floats
    edges: Ints
    assignment: np.ndarray
    angle: Floats
    group: Ints
    group_names: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def edge_count(self) -> int:
        return len(self.edges)

    @property
    def extent(self) -> Floats:
        """Width and height [m]."""
        return np.ptp(self.vertices, axis=0)

    @cached_property
    def facets(self) -> Facets:
        """The pieces of paper between the creases."""
        return find_facets(self.vertices, self.edges, self.assignment != JOIN, self.assignment == BOUNDARY)

    @property
    def faces(self) -> list[Ints]:
        """The outer loop of vertices of each facet, counter-clockwise."""
        return [rings[0] for rings in self.facets.rings]

    @cached_property
    def creases(self) -> Bools:
        """Edges between two facets that may fold, (edge_count,)."""
        folds = np.isin(self.assignment, (MOUNTAIN, VALLEY, FLAT, UNASSIGNED))
        return folds & (self.facets.edge_faces >= 0).all(axis=1)

    @cached_property
    def inner_vertices(self) -> Bools:
        """Vertices with creases that are surrounded by paper without a cut, (vertex_count,)."""
        inner = np.zeros(len(self.vertices), bool)
        inner[self.edges[self.creases].ravel()] = True
        open_edge = (self.facets.edge_faces >= 0).sum(axis=1) == 1
        open_edge |= np.isin(self.assignment, (CUT, BOUNDARY))
        inner[self.edges[open_edge].ravel()] = False
        return inner

    def targets(self, fold: float = 1.0) -> Floats:
        """`fold` times the fold angle of each edge, 0 where it has none, (edge_count,) [rad]."""
        return np.where(self.creases, np.nan_to_num(self.angle) * fold, 0.0)

    def scaled(self, factor: float) -> CreasePattern:
        """The pattern `factor` times as large."""
        return replace(self, vertices=self.vertices * factor)

    def noted(self, *notes: str) -> CreasePattern:
        """The pattern with more notes."""
        return replace(self, notes=(*self.notes, *notes))


def make_pattern(
    vertices: Floats,
    edges: Ints,
    assignment: np.ndarray | list[str],
    angle: Floats | None = None,
    *,
    group: Ints | None = None,
    group_names: tuple[str, ...] = (),
    extra: dict[str, Any] | None = None,
    notes: tuple[str, ...] = (),
) -> CreasePattern:
    """A checked pattern; without `angle`, mountains and valleys fold flat (±π) and the unassigned are free."""
    vertices = np.ascontiguousarray(vertices, np.float64).reshape(-1, 2)
    edges = np.ascontiguousarray(edges, np.int32).reshape(-1, 2)
    letters = np.asarray(assignment, "<U1")
    if not np.isfinite(vertices).all():
        raise InputError("pattern.vertices", "must be finite, in m")
    if len(edges) > MOST_EDGES:
        raise InputError("pattern.edges", f"at most {MOST_EDGES} edges are possible", len(edges))
    if len(edges) and not 0 <= edges.min() <= edges.max() < len(vertices):
        raise InputError("pattern.edges", f"must be vertex numbers below {len(vertices)}")
    if letters.shape != (len(edges),) or not np.isin(letters, list(ASSIGNMENTS)).all():
        raise InputError("pattern.assignment", f"must be one of {', '.join(ASSIGNMENTS)} for each edge")
    angle = usual_angle(letters) if angle is None else np.ascontiguousarray(angle, np.float64)
    if angle.shape != letters.shape or np.any(np.abs(angle) > np.pi * (1 + 1e-9)):
        raise InputError("pattern.angle", "must lie between -π and π, in rad, for each edge")
    group = np.full(len(edges), -1, np.int32) if group is None else np.ascontiguousarray(group, np.int32)
    return CreasePattern(
        vertices, edges, letters, np.clip(angle, -np.pi, np.pi), group, group_names, dict(extra or {}), notes
    )


def usual_angle(assignment: np.ndarray) -> Floats:
    """±π of mountains and valleys, NaN of the unassigned, 0 of the others, (edge_count,) [rad]."""
    angle = np.zeros(len(assignment))
    angle[assignment == MOUNTAIN], angle[assignment == VALLEY] = np.pi, -np.pi
    angle[assignment == UNASSIGNED] = np.nan
    return angle
