"""Pairs that may touch while all nodes stay near a pose, and what the few add that leave it.

A search through the trees takes as long as dozens of looks at the pairs it finds. So the pairs are found for a pose and
for all poses within a margin of it; they serve until a node strays farther. Mostly a handful does, at a snapping
fold: only their points, edges and faces are looked for again, in the trees of the pose. Where the sheets move as a
whole, as a crumpled ball that falls, they are followed: of their own pairs nothing changes, and those with obstacles
are quickly found.
"""

from __future__ import annotations

from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from crumple.contact.candidates import (
    Boxes,
    Candidates,
    Group,
    SurfaceTrees,
    Trees,
    find_candidates,
    find_pairs,
    join_pairs,
    make_group,
    name_points,
    obstacle_points,
    pairs_of_trees,
    sheet_points,
    swept_boxes,
)
from crumple.contact.pair import box_distance2, closest, load, rest_scale
from crumple.contact.surface import Surface
from crumple.contact.tuning import TUNING
from crumple.runtime.compiled import kernel, run_chunks
from crumple.runtime.typing import Bools, Floats, Ints

CHUNK = TUNING.pairs_per_chunk.value


class Neighbours:
    """The `candidates` of all poses within `margin` [m] of the pose x (node_count, 3)."""

    def __init__(self, surface: Surface, x: Floats, margin: float, obstacles: SurfaceTrees) -> None:
        self._surface = surface
        self._pose = x.copy()
        self._margin = margin
        self._trees: Trees = obstacles.sheets(surface, x, x)
        self._obstacles = obstacles
        found = pairs_of_trees(surface, x, x, surface.reach + 2.0 * margin, self._trees, obstacles)
        self.candidates = near_enough(surface, found, x, x, 2.0 * margin)

    @cached_property
    def _own(self) -> Candidates:
        """The candidates among the sheets."""
        nodes, faces, edges = self._surface.dynamic_count, self._surface.dynamic_faces, self._surface.dynamic_edges
        point_face, edge_edge = self.candidates
        return Candidates(
            point_face[(point_face[:, 0] < nodes) & (point_face[:, 1] < faces)], edge_edge[edge_edge[:, 1] < edges]
        )

    def strays(self, *poses: Floats) -> Bools:
        """The nodes (node_count,) that are farther than the margin from the pose in any of `poses`."""
        far = np.zeros(len(self._pose), bool)
        for x in poses:
            away = x - self._pose
            far |= np.einsum("ij,ij->i", away, away) > self._margin**2
        return far

    def along(self, far: Bools, x: Floats, target: Floats) -> Candidates:
        """The candidates while x moves to `target` (node_count, 3) and only the sheet nodes `far` (node_count,) stray.

        Pairs of two that stay are known; those of one that strays are found where it goes from x to `target`.
        """
        surface = self._surface
        others = None
        if len(surface.faces) > surface.dynamic_faces:
            others = self._obstacles.groups(surface, self._pose, self._pose)
        known = self.candidates
        return Candidates(
            self._point_face(known.point_face, far, x, target, None if others is None else (others[0], others[2])),
            self._edge_edge(known.edge_edge, far, x, target, None if others is None else others[1]),
        )

    def following(self, x: Floats, target: Floats, few: float) -> Candidates | None:
        """The candidates while x moves to `target` (node_count, 3), or None when more than `few` sheet nodes stray from
        a pose that follows the mean motion of the sheets."""
        count = self._surface.dynamic_count
        start, end = (y - np.mean(y[:count] - self._pose[:count], axis=0) for y in (x, target))
        far = self.strays(start, end)
        far[count:] = False
        if np.count_nonzero(far) > few:
            return None
        own = self._own
        if far.any():
            own = Candidates(
                self._point_face(own.point_face, far, start, end, None),
                self._edge_edge(own.edge_edge, far, start, end, None),
            )
        if len(self._surface.faces) == self._surface.dynamic_faces:
            return own
        other = self._with_obstacles(far, x, target, start, end)
        return Candidates(*(join_pairs([one, two]) for one, two in zip(own, other, strict=True)))

    def _with_obstacles(self, far: Bools, x: Floats, target: Floats, start: Floats, end: Floats) -> Candidates:
        """The pairs of sheets and obstacles on the way from x to `target`, which is that from `start` to `end` beside
        the pose, where only the sheet nodes `far` stray."""
        surface, reach = self._surface, self._surface.reach
        other_faces, other_edges, _ = self._obstacles.groups(surface, x, target)
        points, edges = sheet_points(surface), surface.edges[: surface.dynamic_edges]
        hits = find_pairs(other_faces, points, swept_boxes(points, x, target), reach)
        parts = [name_points(hits, points, surface.dynamic_faces)]
        faces = surface.faces[: surface.dynamic_faces]
        strays = np.any(far[faces], axis=1)
        points = obstacle_points(surface)
        box = swept_boxes(points, start, end)
        to_staying = name_points(find_pairs(self._trees.faces, points, box, self._near), points, 0)
        parts.append(to_staying[~strays[to_staying[:, 1]]])
        moved = make_group(faces[strays], start, end)
        parts.append(_renamed(name_points(find_pairs(moved, points, box, reach), points, 0), 1, np.flatnonzero(strays)))
        pairs = find_pairs(other_edges, edges, swept_boxes(edges, x, target), reach)
        pairs[:, 1] += surface.dynamic_edges
        return near_enough(surface, Candidates(join_pairs(parts), pairs), x, target, 0.0)

    def _point_face(
        self, known: Ints, far: Bools, x: Floats, target: Floats, others: tuple[Group, Boxes] | None
    ) -> Ints:
        """The pairs of nodes and faces, given those of the pose; `others`: the faces of the obstacles and the bounds of
        their points."""
        surface, near = self._surface, self._near
        faces = surface.faces[: surface.dynamic_faces]
        strays = np.any(far[faces], axis=1)
        names = np.flatnonzero(strays)
        moved = make_group(faces[strays], x, target)
        points = sheet_points(surface)
        leaves = far[points[:, 0]]
        leaving, staying = np.ascontiguousarray(points[leaves]), np.ascontiguousarray(points[~leaves])
        box, still = swept_boxes(leaving, x, target), swept_boxes(staying, self._pose, self._pose)
        to_staying = name_points(find_pairs(self._trees.faces, leaving, box, near), leaving, 0)
        parts = [
            known[~(far[known[:, 0]] | _marks(strays, known[:, 1]))],
            to_staying[~strays[to_staying[:, 1]]],
            _renamed(name_points(find_pairs(moved, leaving, box, surface.reach), leaving, 0), 1, names),
            _renamed(name_points(find_pairs(moved, staying, still, near), staying, 0), 1, names),
        ]
        if others is not None:
            other_faces, other_box = others
            other_points = obstacle_points(surface)
            parts.append(name_points(find_pairs(other_faces, leaving, box, near), leaving, surface.dynamic_faces))
            hits = name_points(find_pairs(moved, other_points, other_box, near), other_points, 0)
            parts.append(_renamed(hits, 1, names))
        return join_pairs(parts)

    def _edge_edge(self, known: Ints, far: Bools, x: Floats, target: Floats, others: Group | None) -> Ints:
        """The pairs of edges, given those of the pose; `others`: the edges of the obstacles."""
        surface, near = self._surface, self._near
        edges = surface.edges[: surface.dynamic_edges]
        strays = np.any(far[edges], axis=1)
        names = np.flatnonzero(strays)
        moved = make_group(edges[strays], x, target)
        to_staying = _renamed(find_pairs(self._trees.edges, moved.nodes, moved.box, near), 0, names)
        own = find_pairs(moved, moved.nodes, moved.box, surface.reach, own=True)
        parts = [
            known[~(_marks(strays, known[:, 0]) | _marks(strays, known[:, 1]))],
            to_staying[~strays[to_staying[:, 1]]],
            _renamed(_renamed(own, 0, names), 1, names),
        ]
        if others is not None:
            hits = _renamed(find_pairs(others, moved.nodes, moved.box, near), 0, names)
            hits[:, 1] += surface.dynamic_edges
            parts.append(hits)
        return join_pairs(parts)

    @property
    def _near(self) -> float:
        """Distance [m] within which what strays may meet what stays within the margin."""
        return self._surface.reach + self._margin


def find_along(surface: Surface, x: Floats, target: Floats, obstacles: SurfaceTrees) -> Candidates:
    """The candidates while x moves to `target` (node_count, 3), however far."""
    found = find_candidates(surface, x, target, surface.reach, obstacles)
    return near_enough(surface, found, x, target, 0.0)


def near_enough(surface: Surface, candidates: Candidates, x0: Floats, x1: Floats, wander: float) -> Candidates:
    """The candidates that can come into range while x moves from x0 to x1, and their nodes up to `wander` [m] (both
    primitives together) from there."""
    count = candidates.pair_count
    kept = np.empty(count, np.bool_)
    arrays = surface.arrays
    run_chunks(mark_near, -(-count // CHUNK), arrays, candidates.point_face, candidates.edge_edge, x0, x1, wander, kept)
    faces = len(candidates.point_face)
    return Candidates(candidates.point_face[kept[:faces]], candidates.edge_edge[kept[faces:]])


@kernel
def mark_near(first, step, surface, point_face, edge_edge, x0, x1, wander, kept):
    """Mark the pairs that `near_enough` keeps."""
    faces, edges, rest = surface.faces, surface.edges, surface.node_rest
    part, part_thickness = surface.node_part, surface.part_thickness
    corner, weight = np.empty((4, 3)), np.empty(4)
    n = point_face.shape[0]
    for chunk in range(first * CHUNK, kept.shape[0], step * CHUNK):
        for k in range(chunk, min(kept.shape[0], chunk + CHUNK)):
            kept[k] = False
            is_edges = k >= n
            if is_edges:
                one, two = edge_edge[k - n, 0], edge_edge[k - n, 1]
                i0, i1, i2, i3 = edges[one, 0], edges[one, 1], edges[two, 0], edges[two, 1]
            else:
                two = point_face[k, 1]
                i0, i1, i2, i3 = point_face[k, 0], faces[two, 0], faces[two, 1], faces[two, 2]
            # Displacements are relative to the first node: two corners approach by at most twice the largest
            # (once, if the first primitive is that node).
            farthest = 0.0
            for i in (i1, i2, i3):
                moved = 0.0
                for j in range(3):
                    moved += (x1[i, j] - x0[i, j] - x1[i0, j] + x0[i0, j]) ** 2
                farthest = max(farthest, moved)
            approach = wander + (2.0 if is_edges else 1.0) * sqrt(farthest)
            reach = 0.5 * (part_thickness[part[i0]] + part_thickness[part[i2]]) + surface.dhat
            load(x0, i0, i1, i2, i3, corner)
            if box_distance2(is_edges, corner) > (reach + approach) ** 2:
                continue
            d2, _ = closest(is_edges, corner, weight)
            if d2 > (reach + approach) ** 2:
                continue
            if part[i0] == part[i2]:
                reach *= rest_scale(rest, is_edges, i0, i1, i2, i3, reach, corner, weight)
            kept[k] = d2 <= (reach + approach) ** 2


def _marks(marked: Bools, number: Ints) -> Bools:
    """Whether each primitive is `marked`; those of obstacles, whose numbers are beyond, are not."""
    inside = number < len(marked)
    found: Bools = inside.copy()
    found[inside] = marked[number[inside]]
    return found


def _renamed(pairs: Ints, column: int, names: NDArray[np.intp]) -> Ints:
    """The pairs with the `names` of their first (`column` 0) or second (1) primitives."""
    pairs[:, column] = names[pairs[:, column]]
    return pairs
