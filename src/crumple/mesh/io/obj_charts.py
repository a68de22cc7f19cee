"""A surface in space laid out flat in few charts, so that it has a pattern: nearly its lengths, seams in between.

A closed surface has no pattern without distortion. Faces are gathered around seeds as long as the surface turns little
on the way, and each such chart is laid flat as rigidly as possible [Liu2008]: every triangle is turned, and the corners
go where they fit the turned triangles best. A cap that turns by θ is distorted by about θ²/12 then.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu

from crumple.runtime.typing import Bools, Floats, Ints

LARGEST_TURN = 0.9
"""How far the normals may turn between the seed of a chart and its other faces, added up over edges [rad]."""
ROUNDS = 30
"""Of the flattening: turns and places by turns."""
APART = 1.0
"""Gap between charts over the largest extent of the surface: nothing on one is near anything on another."""


def lay_in_charts(points: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """Pattern positions (n, 2) [m] of a surface, and those of the corners of its faces (face_count, 3).

    `points` (m, 3) [m];  `faces` (face_count, 3). Charts are in a row along the first axis.
    """
    places, corners, first, left = [], np.zeros(faces.shape, np.int32), 0, 0.0
    gap = APART * float(np.ptp(points[np.unique(faces)], axis=0).max())
    chart = _charts(points, faces)
    for k in range(int(chart.max()) + 1):
        own = np.flatnonzero(chart == k)
        used, index = np.unique(faces[own], return_inverse=True)
        own_faces = index.reshape(-1, 3).astype(np.int32)
        flat = _flatten(points[used], own_faces)
        flat = flat - flat.min(axis=0) + [left, 0.0]
        left = float(flat[:, 0].max()) + gap
        places.append(flat)
        corners[own] = own_faces + first
        first += len(used)
    return np.concatenate(places), corners


def _charts(points: Floats, faces: Ints) -> Ints:
    """The chart of every face (face_count,): disks in which the surface turns by `LARGEST_TURN` from a seed at most."""
    graph = _turns(points, faces)
    seeds = [0]
    while True:
        distance, _, seed = dijkstra(graph, directed=False, indices=seeds, min_only=True, return_predecessors=True)
        farthest = int(np.argmax(distance))
        if distance[farthest] > LARGEST_TURN:
            seeds.append(farthest)
            continue
        torn = [s for s in seeds if not _is_disk(faces[seed == s])]
        if not torn:
            return np.asarray(np.searchsorted(np.sort(seeds), seed), np.int32)
        own = np.flatnonzero(seed == torn[0])
        middle = points[faces].mean(axis=1)
        seeds.append(int(own[np.argmax(np.linalg.norm(middle[own] - middle[torn[0]], axis=1))]))


def _turns(points: Floats, faces: Ints) -> csr_array:
    """The graph of the faces with the angles between their normals [rad], and a little for the way itself."""
    low, high = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)]), axis=0).reshape(2, -1).astype(np.int64)
    order = np.argsort(low * len(points) + high, kind="stable")
    is_pair = (low[order[1:]] == low[order[:-1]]) & (high[order[1:]] == high[order[:-1]])
    a, b = order[:-1][is_pair] // 3, order[1:][is_pair] // 3
    p = points[faces]
    normal, middle = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p.mean(axis=1)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.finfo(float).tiny)
    turn = np.arccos(np.clip((normal[a] * normal[b]).sum(axis=1), -1.0, 1.0))
    way = np.linalg.norm(middle[a] - middle[b], axis=1) / np.ptp(middle, axis=0).max()
    return csr_array(coo_array((turn + 1e-3 * way + 1e-9, (a, b)), shape=(len(faces), len(faces))))


def _is_disk(faces: Ints) -> bool:
    """Whether connected faces have one border and no handle: vertices − edges + faces = 1."""
    edges = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)]), axis=0).reshape(2, -1)
    return len(np.unique(faces)) - len(np.unique(edges, axis=1).T) + len(faces) == 1


def _flatten(points: Floats, faces: Ints) -> Floats:
    """The points (n, 2) [m] of a disk that turns little, with lengths as in space as far as they can be."""
    flat = _seen_from_above(points, faces)
    if len(faces) == 1:
        return flat
    rest = _alone(points, faces)
    weight = _cotangents(rest)
    i, j = faces, np.roll(faces, -1, axis=1)
    edge = np.roll(rest, -1, axis=1) - rest
    solve = _fixed_laplacian(i.ravel(), j.ravel(), weight.ravel(), len(points))
    for _ in range(ROUNDS):
        covariance = np.einsum("fk,fka,fkb->fab", weight, flat[j] - flat[i], edge)
        s, c = covariance[:, 1, 0] - covariance[:, 0, 1], covariance[:, 0, 0] + covariance[:, 1, 1]
        size = np.maximum(np.hypot(s, c), np.finfo(float).tiny)
        c, s = c / size, s / size
        turned = np.stack([c[:, None] * edge[..., 0] - s[:, None] * edge[..., 1],
                           s[:, None] * edge[..., 0] + c[:, None] * edge[..., 1]], axis=2)  # fmt: skip
        pull = (weight[..., None] * turned).reshape(-1, 2)
        right = np.zeros_like(flat)
        np.add.at(right, j.ravel(), pull)
        np.add.at(right, i.ravel(), -pull)
        placed = solve(right)
        if not _upright(placed, faces).all():
            break
        flat = placed
    return flat


def _seen_from_above(points: Floats, faces: Ints) -> Floats:
    """The points seen along the mean normal, (n, 2): no face is inverted where the surface turns by less than 90°."""
    p = points[faces]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]).sum(axis=0)
    normal /= np.linalg.norm(normal)
    first = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = first - (first @ normal) * normal
    first /= np.linalg.norm(first)
    return np.asarray(points @ np.stack([first, np.cross(normal, first)], axis=1))


def _alone(points: Floats, faces: Ints) -> Floats:
    """Each triangle laid flat by itself, (n, 3, 2) [m]."""
    p = points[faces]
    e, f = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    length = np.linalg.norm(e, axis=1)
    flat = np.zeros((len(faces), 3, 2))
    flat[:, 1, 0] = length
    flat[:, 2, 0] = (e * f).sum(axis=1) / length
    flat[:, 2, 1] = np.linalg.norm(np.cross(e, f), axis=1) / length
    return flat


def _cotangents(rest: Floats) -> Floats:
    """Half the cotangent of the angle opposite to the edge from corner k to the next, (n, 3); at least a little."""
    a, b, c = rest, np.roll(rest, -1, axis=1), np.roll(rest, -2, axis=1)
    e, f = a - c, b - c
    cross = np.abs(e[..., 0] * f[..., 1] - e[..., 1] * f[..., 0])
    return np.maximum(0.5 * (e * f).sum(axis=2) / cross, 1e-3)


def _fixed_laplacian(i: Ints, j: Ints, weight: Floats, count: int):  # type: ignore[no-untyped-def]
    """The solver of Σ w (p_j − p_i) = b with the first point at the origin."""
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([i, j, j, i])
    matrix = coo_array((np.concatenate([weight, weight, -weight, -weight]), (rows, columns)), shape=(count, count))
    factor = splu(matrix.tocsc()[1:, 1:])
    return lambda right: np.concatenate([np.zeros((1, 2)), factor.solve(right[1:])])


def _upright(flat: Floats, faces: Ints) -> Bools:
    """Which faces are counter-clockwise, (face_count,)."""
    e, f = flat[faces[:, 1]] - flat[faces[:, 0]], flat[faces[:, 2]] - flat[faces[:, 0]]
    return np.asarray(e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0] > 0.0)
