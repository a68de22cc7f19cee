"""Surfaces of obstacles: each returns points (n, 3) [m] and faces (m, 3) int32 seen counter-clockwise from outside.

Reversing the faces (`faces[:, ::-1]`) turns a surface inside out.
"""

from __future__ import annotations

import numpy as np

from crumple.mesh.limits import limit_faces, require_positive
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints


def sphere(radius: float, subdivisions: int = 3) -> tuple[Floats, Ints]:
    """A sphere around the origin: an icosahedron whose faces are cut in four `subdivisions` times."""
    require_positive("sphere", radius=radius)
    _require_count("sphere.subdivisions", subdivisions, 0)
    limit_faces("sphere.subdivisions", 20.0 * 4.0 ** min(subdivisions, 50), subdivisions)
    points, faces = _icosahedron()
    for _ in range(int(subdivisions)):
        points, faces = _cut_in_four(points, faces)
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return radius * points, faces


def box(size: tuple[float, float, float], divisions: int = 1) -> tuple[Floats, Ints]:
    """A box around the origin with edges `size` [m]; every side has divisions² squares."""
    if len(size) != 3:
        raise InputError("box.size", "must be three lengths, in m", size)
    require_positive("box", x=size[0], y=size[1], z=size[2])
    _require_count("box.divisions", divisions, 1)
    limit_faces("box.divisions", 12.0 * divisions**2, divisions)
    flat, squares = _square(divisions)
    points: list[Floats] = []
    faces: list[Ints] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            side = np.full((len(flat), 3), 0.5 * sign)
            side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = flat.T
            faces.append((squares if sign > 0 else squares[:, ::-1]) + len(flat) * len(points))
            points.append(side)
    merged, merged_faces = _merge_equal(np.concatenate(points), np.concatenate(faces))
    return merged * np.asarray(size, np.float64), merged_faces


def plane(size: float | tuple[float, float], divisions: int = 1) -> tuple[Floats, Ints]:
    """A rectangle around the origin in the plane z = 0, facing +z [m]."""
    width, height = (size, size) if np.isscalar(size) else tuple(size)  # type: ignore[arg-type]
    require_positive("plane", width=width, height=height)  # type: ignore[arg-type]
    _require_count("plane.divisions", divisions, 1)
    limit_faces("plane.divisions", 2.0 * divisions**2, divisions)
    flat, faces = _square(divisions)
    points = np.zeros((len(flat), 3))
    points[:, :2] = flat * np.array([width, height])
    return points, faces


def cylinder_surface(
    radius: float, height: float, segments: int = 32, *, rows: int | None = None
) -> tuple[Floats, Ints]:
    """A closed cylinder around the z axis from z = -height/2 to height/2, with flat ends [m].

    The mantle is cut into `rows`, by default so many that cells are about square; each end is a fan around its centre.
    """
    require_positive("cylinder", radius=radius, height=height)
    _require_count("cylinder.segments", segments, 3)
    chord = 2.0 * radius * np.sin(np.pi / segments)
    if rows is None:
        limit_faces("cylinder.segments", 2.0 * segments * (height / chord + 2.0), segments)
        rows = max(1, round(height / chord))
    _require_count("cylinder.rows", rows, 1)
    limit_faces("cylinder.rows", 2.0 * segments * (rows + 1.0), rows)
    column, row = np.tile(np.arange(segments), rows + 1), np.repeat(np.arange(rows + 1), segments)
    angle = 2.0 * np.pi * column / segments
    mantle = np.stack([radius * np.cos(angle), radius * np.sin(angle), height * (row / rows - 0.5)], axis=1)
    a = np.arange(rows * segments)
    b = a - column[: len(a)] + (column[: len(a)] + 1) % segments
    c, d = b + segments, a + segments
    low, high = len(mantle), len(mantle) + 1
    around = np.arange(segments)
    after, top = (around + 1) % segments, rows * segments
    faces = [
        np.stack([a, b, c], axis=1),
        np.stack([a, c, d], axis=1),
        np.stack([after, around, np.full(segments, low)], axis=1),
        np.stack([top + around, top + after, np.full(segments, high)], axis=1),
    ]
    centres = np.array([[0.0, 0.0, -0.5 * height], [0.0, 0.0, 0.5 * height]])
    return np.concatenate([mantle, centres]), np.concatenate(faces).astype(np.int32)


def _require_count(place: str, value: int, least: int) -> None:
    if not (isinstance(value, int | np.integer) and value >= least):
        raise InputError(place, f"must be a whole number >= {least}", value)


def _icosahedron() -> tuple[Floats, Ints]:
    """The regular icosahedron on the unit sphere."""
    g = 0.5 * (1.0 + np.sqrt(5.0))
    ring = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0)]
    points = np.array([np.roll(p, k) for k in range(3) for p in ring], np.float64)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    gap = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = np.abs(gap - gap[gap > 1e-9].min()) < 1e-9
    n = len(points)
    triples = [
        (i, j, k)
        for i in range(n)
        for j in range(i + 1, n)
        for k in range(j + 1, n)
        if near[i, j] and near[j, k] and near[i, k]
    ]
    faces = np.array(triples, np.int32)
    volume = np.einsum("ij,ij->i", points[faces[:, 0]], np.cross(points[faces[:, 1]], points[faces[:, 2]]))
    faces[volume < 0.0] = faces[volume < 0.0][:, ::-1]
    return points, faces


def _cut_in_four(points: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """Every triangle cut in four at the middles of its edges."""
    ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    edges, index = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    middle = len(points) + index.reshape(-1, 3)
    a, b, c = faces.T
    ab, bc, ca = middle.T
    cut = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3)
    return np.concatenate([points, 0.5 * points[edges].sum(axis=1)]), cut.astype(np.int32)


def _square(divisions: int) -> tuple[Floats, Ints]:
    """The square [-½, ½]² in divisions² cells of two triangles."""
    line = np.linspace(-0.5, 0.5, divisions + 1)
    y, x = np.meshgrid(line, line, indexing="ij")
    index = np.arange((divisions + 1) ** 2).reshape(divisions + 1, -1)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]))
    faces = np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3).astype(np.int32)
    return np.stack([x.ravel(), y.ravel()], axis=1), faces


def _merge_equal(points: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """Points that coincide become one."""
    unique, index = np.unique(points, axis=0, return_inverse=True)
    return unique, index.ravel()[faces].astype(np.int32)
