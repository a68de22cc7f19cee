"""Normals at the corners of faces: smooth across gentle bends, apart where the surface is creased."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from crumple.mesh.sheet_mesh import Hinges
from crumple.runtime.typing import Floats, Ints

SMOOTHING_ANGLE = np.radians(40.0)
"""Faces that meet at a larger angle keep normals of their own [rad]."""


def face_normals(points: Floats, faces: Ints) -> Floats:
    """Normals of faces times twice their area [m²], (face_count, 3)."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def smooth_groups(points: Floats, faces: Ints, hinges: Hinges, creased: np.ndarray) -> Ints:
    """Number of the group that each corner shares its normal with, (face_count, 3).

    Two corners at one point are in one group when a chain of faces links them across hinges that bend by less than
    SMOOTHING_ANGLE and are not `creased` (hinge_count,).
    """
    normal = _unit(face_normals(points, faces))
    cosine = np.einsum("ij,ij->i", normal[hinges.faces[:, 0]], normal[hinges.faces[:, 1]])
    a, b = hinges.corners[(cosine > np.cos(SMOOTHING_ANGLE)) & ~creased].T.astype(np.int64)
    # half-edge a runs from corner a to the next; its twin runs the other way
    links = np.concatenate([np.stack([a, _next(b)]), np.stack([_next(a), b])], axis=1)
    size = (faces.size, faces.size)
    graph = coo_matrix((np.ones(links.shape[1], np.int8), (links[0], links[1])), shape=size)
    return connected_components(graph, directed=False)[1].reshape(-1, 3)


def group_normals(points: Floats, faces: Ints, groups: Ints) -> Floats:
    """Unit normal of each group, (group_count, 3): faces weigh by their angle at the corner."""
    corners = points[faces]
    ahead = _unit(np.roll(corners, -1, axis=1) - corners)
    back = _unit(np.roll(corners, 1, axis=1) - corners)
    angle = np.arccos(np.clip(np.einsum("fkd,fkd->fk", ahead, back), -1.0, 1.0))
    weighted = angle[:, :, None] * _unit(face_normals(points, faces))[:, None, :]
    total = np.zeros((int(groups.max(initial=-1)) + 1, 3))
    np.add.at(total, groups.ravel(), weighted.reshape(-1, 3))
    return _unit(total)


def _unit(vectors: Floats) -> Floats:
    """Vectors of length 1; (0, 0, 1) where the length is 0, for a reader may reject a normal of no length."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 0.0, vectors / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])


def _next(corner: Ints) -> Ints:
    """The corner after `corner` in its face."""
    return corner - corner % 3 + (corner + 1) % 3
