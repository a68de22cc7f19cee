"""Creases: fold lines that are in the sheet from the start, as in a newspaper ([Schreck2015], fig. 22).

A crease crosses the sheet from border to border on a straight line, and has an angle at which it is at rest. It is an
edge of the structure for good: no ruling crosses it. What would bend across it gets a singular point on it instead,
which cuts it in two. Where two creases cross, there is one from the start.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from crumple.developable.enrich import Layout
from crumple.developable.structure import SINGULAR, Draft, Edge, Refused, Structure, sorted_edge
from crumple.geometry.triangle import face_normals
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

ON_BORDER = 1e-6
"""Over the length of the border: how far the ends of a crease may be from it."""


class Crease(NamedTuple):
    """A fold line between two points of the border, `start` and `end` (2,) [m] of the pattern; `rest_angle` [rad] that
    it goes back to, positive for a mountain seen from above, 0 for a fold line that was flattened."""

    start: tuple[float, float]
    end: tuple[float, float]
    rest_angle: float = 0.0


def with_creases(structure: Structure, creases: Sequence[Crease]) -> Structure:
    """A structure with creases; `InputError` for those that do not cross the sheet."""
    draft = Draft(structure)
    meetings = _meetings(creases)
    crossings = sorted({point for points in meetings for _, point in points})
    inner = {point: draft.inner(SINGULAR, np.array(point)) for point in crossings}
    for number, (crease, points) in enumerate(zip(creases, meetings, strict=True)):
        if not abs(crease.rest_angle) < np.pi:
            raise InputError(f"creases[{number}].rest_angle", "must be between -π and π, in rad", crease.rest_angle)
        ends = [_border_vertex(draft, number, u) for u in (crease.start, crease.end)]
        way = [ends[0], *(inner[point] for _, point in sorted(points)), ends[1]]
        for edge in itertools.pairwise(way):
            draft.creases[sorted_edge(edge)] = crease.rest_angle
    try:
        built = draft.build()
    except Refused as refused:
        raise InputError("creases", f"must cross the sheet without lying on each other ({refused})", creases) from None
    free = {key: vertex._replace(is_held=False) for key, vertex in built.vertices.items()}
    return replace(built, vertices=free)


def fold(layout: Layout, x: Floats) -> Floats:
    """The positions (node_count, 3) [m] of a flat sheet after its cells have turned about creases by their rest angles,
    facing up on average and standing on z = 0; `InputError` when it would have to bend for that."""
    structure = layout.structure
    if not any(structure.creases.values()):
        return x
    if structure.singular:
        raise InputError("creases", "those that cross each other must have the rest angle 0, in rad")
    turn, shift = [np.eye(3)] * len(structure.cells), [np.zeros(3)] * len(structure.cells)
    queue, done = [0], {0}
    while queue:
        cell = queue.pop()
        for edge, other in _across_creases(structure, cell):
            if other in done:
                continue
            p, q = (np.append(structure.u(key), 0.0) for key in edge)
            about = Rotation.from_rotvec(structure.creases[sorted_edge(edge)] * (q - p) / np.linalg.norm(q - p))
            turn[other] = turn[cell] @ about.as_matrix()
            shift[other] = shift[cell] + turn[cell] @ (p - about.apply(p))
            queue.append(other)
            done.add(other)
    folded = x.copy()
    for face, cell in zip(layout.mesh.face_nodes, layout.face_cell, strict=True):
        folded[face] = x[face] @ turn[cell].T + shift[cell]
    return _standing(layout, folded)


def _across_creases(structure: Structure, cell: int) -> list[tuple[Edge, int]]:
    """The creases of a cell, counter-clockwise, and the cells behind them."""
    keys = structure.cells[cell]
    edges = zip(keys, (*keys[1:], keys[0]), strict=True)
    return [((a, b), structure.sides[b, a]) for a, b in edges if sorted_edge((a, b)) in structure.creases]


def _standing(layout: Layout, x: Floats) -> Floats:
    """The positions (node_count, 3) [m], turned so that the mean normal is up, and lifted to z = 0."""
    up = face_normals(x, layout.mesh.face_nodes).T @ layout.mesh.face_area
    turned = Rotation.align_vectors([[0.0, 0.0, 1.0]], [up])[0].apply(x)
    return np.asarray(turned - [0.0, 0.0, turned[:, 2].min()])


def split_crease(draft: Draft, edge: Edge, vertex: int) -> None:
    """Let a crease go over a vertex on it."""
    angle = draft.creases.pop(sorted_edge(edge))
    for end in edge:
        draft.creases[sorted_edge((end, vertex))] = angle


def _border_vertex(draft: Draft, number: int, u: tuple[float, float]) -> int:
    """The vertex at an end of a crease."""
    place, far = draft.outline.place(np.asarray(u, float))
    if not far < ON_BORDER * draft.outline.length:
        raise InputError(f"creases[{number}]", "its ends must be on the border of the sheet, in m", u)
    return draft.border(place, is_held=True)


def _meetings(creases: Sequence[Crease]) -> list[list[tuple[float, tuple[float, float]]]]:
    """Of each crease, the points (2,) [m] at which others cross it, and how far along it they are, from 0 to 1."""
    found: list[list[tuple[float, tuple[float, float]]]] = [[] for _ in creases]
    for j, other in enumerate(creases):
        for i, one in enumerate(creases[:j]):
            p, q, r, s = (np.asarray(u, float) for u in (one.start, one.end, other.start, other.end))
            turn = _cross(q - p, s - r)
            if turn == 0.0:
                continue
            along, across = _cross(r - p, s - r) / turn, _cross(r - p, q - p) / turn
            if 1e-9 < along < 1.0 - 1e-9 and 1e-9 < across < 1.0 - 1e-9:
                u = p + along * (q - p)
                point = float(u[0]), float(u[1])
                found[i].append((along, point))
                found[j].append((across, point))
    return found


def _cross(a: Floats, b: Floats) -> float:
    return float(a[0] * b[1] - a[1] * b[0])
