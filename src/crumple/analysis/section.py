"""The cut of a sheet with a plane, exactly: a segment for every face that the plane crosses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.analysis.shape import SheetShape
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints


@dataclass(frozen=True)
class CrossSection:
    """`segments` (n, 2, 2) in the plane, seen against its normal, from the `center` of the cut [m];
    `faces` (n,) that they belong to; `normal` (3,) of the plane; `length` of all segments [m]."""

    segments: Floats
    faces: Ints
    normal: Floats
    length: float


def cross_section(shape: SheetShape, normal: tuple[float, float, float] = (0.0, 1.0, 0.0)) -> CrossSection:
    """The cut with the plane through the centre of mass that has this `normal`.

    A node exactly in the plane counts as above it, so that every face gives one segment or none and the cut of a
    closed surface is closed.
    """
    direction = np.asarray(normal, np.float64)
    size = float(np.linalg.norm(direction))
    if direction.shape != (3,) or not (np.isfinite(size) and size > 0.0):
        raise InputError("analysis: plane", "needs a normal of three finite numbers, not all 0", normal)
    direction = direction / size
    height = (shape.x - shape.center) @ direction
    above = height >= 0.0
    nodes = shape.mesh.face_nodes
    count = above[nodes].sum(axis=1)
    faces = np.flatnonzero((count == 1) | (count == 2)).astype(np.int32)
    alone = np.argmax(above[nodes[faces]] == (count[faces] == 1)[:, None], axis=1)
    corner = nodes[faces, alone]
    ends = [_between(shape.x, height, corner, nodes[faces, (alone + k) % 3]) for k in (1, 2)]
    segments = (np.stack(ends, axis=1) - shape.center) @ _plane_axes(direction).T
    return CrossSection(
        segments, faces, direction, float(np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).sum())
    )


def _between(x: Floats, height: Floats, a: Ints, b: Ints) -> Floats:
    """Where the height is 0 between the nodes a (n,) and b (n,), which lie on different sides, (n, 3) [m]."""
    share = height[a] / (height[a] - height[b])
    return x[a] + share[:, None] * (x[b] - x[a])


def _plane_axes(normal: Floats) -> Floats:
    """Two unit vectors across `normal`, right-handed with it, (2, 3); the second points up where it can."""
    up = np.array([0.0, 0.0, 1.0]) if abs(normal[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    across = np.cross(up, normal)
    across /= np.linalg.norm(across)
    return np.stack([across, np.cross(normal, across)])
