"""Folded forms laid flat: the faces of a folded model side by side in the plane, and the angles of its folds."""

from __future__ import annotations

from collections import deque

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints

LARGEST_MISFIT = 0.01
"""Distance between the places that two faces give to a vertex, over the size of the model, up to which it is taken to
be made of flat faces; other programs let them stretch a little."""


def unfold_faces(points: Floats, faces: list[list[int]], place: str) -> Floats:
    """Positions (n, 2) of vertices `points` (n, 3) with all faces laid into the plane, front up, neighbours beside each
    other; a vertex is put into the middle of the places that its faces give to it."""
    beside: dict[tuple[int, int], int] = {}
    for number, face in enumerate(faces):
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            if beside.setdefault((a, b), number) != number:
                remedy = f"runs from vertex {a} to {b} as another face does"
                raise InputError(f"{place}: faces_vertices[{number}]", remedy, face)
    flat: dict[int, dict[int, Floats]] = {0: _laid(points, faces[0])}
    waiting = deque([0])
    while waiting:
        number = waiting.popleft()
        for a, b in zip(faces[number], faces[number][1:] + faces[number][:1], strict=True):
            other = beside.get((b, a))
            if other is not None and other not in flat:
                flat[other] = _joined(_laid(points, faces[other]), flat[number], a, b)
                waiting.append(other)
    if len(flat) < len(faces):
        raise InputError(f"{place}: faces_vertices", "is a folded form of several pieces, which cannot be laid flat")
    return _middles(flat, len(points), float(np.ptp(points, axis=0).max()), place)


def _laid(points: Floats, face: list[int]) -> dict[int, Floats]:
    """The corners of a face in its own plane, counter-clockwise, by vertex."""
    corners = points[face] - points[face[0]]
    normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)  # twice the area, also of polygons
    length = float(np.linalg.norm(normal))
    axis = np.eye(3)[int(np.argmin(np.abs(normal)))]
    right = np.cross(axis, normal / length) if length > 0.0 else axis
    right /= max(float(np.linalg.norm(right)), 1e-300)
    up = np.cross(normal / length, right) if length > 0.0 else np.roll(axis, 1)
    return dict(zip(face, np.stack([corners @ right, corners @ up], axis=1), strict=True))


def _joined(face: dict[int, Floats], other: dict[int, Floats], a: int, b: int) -> dict[int, Floats]:
    """The face moved and turned so that its side from a to b lies on that of the other."""
    own, goal = face[b] - face[a], other[b] - other[a]
    turn = np.arctan2(goal[1], goal[0]) - np.arctan2(own[1], own[0])
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    middle, aim = 0.5 * (face[a] + face[b]), 0.5 * (other[a] + other[b])
    return {vertex: matrix @ (at - middle) + aim for vertex, at in face.items()}


def _middles(flat: dict[int, dict[int, Floats]], count: int, size: float, place: str) -> Floats:
    """The mean place of each vertex (count, 2); vertices without faces at the origin."""
    total, weight = np.zeros((count, 2)), np.zeros(count)
    for corners in flat.values():
        for vertex, at in corners.items():
            total[vertex] += at
            weight[vertex] += 1.0
    middle = total / np.maximum(weight, 1.0)[:, None]
    for corners in flat.values():
        for vertex, at in corners.items():
            if not np.linalg.norm(at - middle[vertex]) <= LARGEST_MISFIT * size:
                remedy = f"is no sheet that can be laid flat: the faces around vertex {vertex} leave a gap or overlap"
                raise InputError(f"{place}: vertices_coords", remedy)
    return middle


def folded_angles(points: Floats, faces: list[list[int]], edges: Ints) -> Floats:
    """The angle of each edge (edge_count,) [rad] of a folded model, mountains positive; NaN where there are not two
    faces, and where they lie on each other, so that nobody knows which is in front."""
    normal: dict[tuple[int, int], Floats] = {}
    for face in faces:
        corners = points[face] - points[face[0]]
        own = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
        own = own / max(float(np.linalg.norm(own)), 1e-300)
        normal |= dict.fromkeys(zip(face, face[1:] + face[:1], strict=True), own)
    angles = np.full(len(edges), np.nan)
    for k, (a, b) in enumerate(edges.tolist()):
        left, right = normal.get((a, b)), normal.get((b, a))
        if left is None or right is None:
            continue
        along = points[b] - points[a]
        along = along / max(float(np.linalg.norm(along)), 1e-300)
        angle = float(np.arctan2(np.cross(left, right) @ along, left @ right))
        angles[k] = angle if abs(angle) < np.pi - 1e-6 else np.nan
    return angles
