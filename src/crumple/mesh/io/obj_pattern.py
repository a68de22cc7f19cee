"""Whether texture coordinates of an OBJ file can be a sheet's pattern: compare and fit their lengths to the mesh's."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from crumple.mesh.io.obj import ObjData
from crumple.runtime.typing import Floats, Ints

SAME = 0.03
"""Root mean square of the logarithm of length ratios up to which lengths are the same."""

MOST_CHARTS = 1000
"""More are an atlas of scraps, not the panels of a sheet."""


def unify_texture(data: ObjData) -> Ints:
    """`data.face_texture` (face_count, 3) with equal coordinates numbered as the first of them.

    Many programs write a coordinate per face corner; by number each edge would be a seam.
    """
    _, first, inverse = np.unique(data.texture, axis=0, return_index=True, return_inverse=True)
    return np.asarray(first[inverse.reshape(-1)][data.face_texture], np.int32)


def same_lengths(data: ObjData, corners: Floats) -> bool:
    """Whether edges are as long on the pattern `corners` (face_count, 3, 2) as in the world and no face is inverted."""
    world, flat = _edges(data.points[data.faces]), _edges(corners)
    return bool((signed_area(corners) > 0.0).all()) and _spread(_norms(flat), _norms(world)) <= SAME


def fit_charts(data: ObjData, face_texture: Ints) -> Floats | None:
    """Texture coordinates (m, 2) stretched chart by chart to the lengths of the mesh [m]; None where that fails.

    Each chart (faces joined through their texture coordinates) is mapped linearly, u' = A u. The metric M = AᵀA is the
    least-squares solution of Δuᵀ M Δu = |Δx|² over its edges; A is the symmetric root of M, so that the axes stay,
    mirrored if the chart lies face down.
    """
    corners, world = data.texture[face_texture], _edges(data.points[data.faces])
    charts = chart_faces(face_texture, len(data.texture))
    if len(charts) > MOST_CHARTS:
        return None
    fitted = data.texture.copy()
    for faces in charts:
        matrix = _fit_metric(_edges(corners[faces]).reshape(-1, 2), _norms(world[faces]).ravel())
        if matrix is None:
            return None
        if signed_area(corners[faces]).sum() < 0.0:
            matrix = matrix @ np.diag([-1.0, 1.0])
        used = np.unique(face_texture[faces])
        fitted[used] = data.texture[used] @ matrix.T
    return fitted if same_lengths(data, fitted[face_texture]) else None


def signed_area(corners: Floats) -> Floats:
    """Areas of triangles (n, 3, 2), negative when clockwise, (n,)."""
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return 0.5 * (e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0])


def _fit_metric(edges: Floats, length: Floats) -> Floats | None:
    """The symmetric A (2, 2) for which |A e| is nearest to `length`, relative to it; None if there is none."""
    if not (length > 0.0).all():
        return None
    rows = np.stack([edges[:, 0] ** 2, 2.0 * edges[:, 0] * edges[:, 1], edges[:, 1] ** 2], axis=1)
    (a, b, c), *_ = np.linalg.lstsq(rows / length[:, None] ** 2, np.ones(len(rows)), rcond=None)
    values, vectors = np.linalg.eigh(np.array([[a, b], [b, c]]))
    if not values[0] > 0.0:
        return None
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)


def chart_faces(face_texture: Ints, count: int) -> list[Ints]:
    """The faces of each chart: those that are joined through the `count` vertices of their corners (face_count, 3)."""
    a, b, c = face_texture.T
    row, column = np.concatenate([a, b]), np.concatenate([b, c])
    graph = coo_array((np.ones(len(row), np.int8), (row, column)), shape=(count, count))
    component = connected_components(graph, directed=False)[1][face_texture[:, 0]]
    order = np.argsort(component, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(component[order])) + 1)


def _edges(corners: Floats) -> Floats:
    """The three edge vectors of each triangle."""
    return np.asarray(np.roll(corners, -1, axis=1) - corners)


def _norms(vectors: Floats) -> Floats:
    return np.asarray(np.linalg.norm(vectors, axis=-1))


def _spread(flat: Floats, world: Floats) -> float:
    """Root mean square of ln(flat/world); infinite when some length is zero."""
    if not ((flat > 0.0) & (world > 0.0)).all():
        return float("inf")
    return float(np.sqrt(np.mean(np.log(flat / world) ** 2)))
