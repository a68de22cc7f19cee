"""Segments drawn across each other made into a planar graph: near ends are joined, crossings become vertices."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from crumple.patterns.pattern import MOST_EDGES, CreasePattern, make_pattern
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints

MOST_PAIRS = 1_000_000
"""Segments that touch each other, and points on segments, beyond which a drawing is refused."""
BATCH = 512
"""Segments that are compared with all others at a time."""
RANKS = {"B": 0, "C": 1, "M": 2, "V": 2, "U": 3, "F": 4, "J": 5}
"""Of edges that lie on each other, that with the lowest rank stays; of two with the same rank the first."""


def pattern_from_segments(
    segments: Floats,
    assignment: np.ndarray | list[str],
    angle: Floats,
    *,
    snap: float,
    group: Ints | None = None,
    group_names: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> CreasePattern:
    """The pattern of segments (n, 2, 2) [m]: ends nearer than `snap` [m] are joined, crossings become vertices, and
    what lies on each other is merged."""
    segments = np.asarray(segments, np.float64).reshape(-1, 2, 2)
    letters = np.asarray(assignment, "<U1")
    if len(segments) == 0:
        raise InputError("pattern", "has no lines")
    if len(segments) > MOST_EDGES:
        raise InputError("pattern", f"has {len(segments)} lines; at most {MOST_EDGES} are possible")
    points, ends = snap_points(segments.reshape(-1, 2), snap)
    ends = ends.reshape(-1, 2)
    real = ends[:, 0] != ends[:, 1]
    ends, source = ends[real], np.flatnonzero(real)
    if len(ends) == 0:
        raise InputError("pattern", f"has no line longer than {snap:.3g} m")
    points, number = snap_points(np.concatenate([points, _crossings(points, ends, snap)]), snap)
    ends = number[ends]
    alive = ends[:, 0] != ends[:, 1]
    ends, source = ends[alive], source[alive]
    edges, parent = _divided(points, ends, snap)
    source = source[parent]
    rank = np.array([RANKS[letter] for letter in letters[source]])
    key = np.sort(edges, axis=1).astype(np.int64) @ np.array([len(points), 1])
    order = np.lexsort((source, rank, key))
    kept = np.sort(order[np.append(True, key[order][1:] != key[order][:-1])])
    edges, source = edges[kept], source[kept]
    used, renumbered = np.unique(edges, return_inverse=True)
    return make_pattern(
        points[used],
        renumbered.reshape(-1, 2).astype(np.int32),
        letters[source],
        np.asarray(angle, np.float64)[source],
        group=None if group is None else np.asarray(group)[source],
        group_names=group_names,
        notes=notes,
    )


def snap_points(points: Floats, snap: float) -> tuple[Floats, Ints]:
    """Points (k, 2) of which no two are nearer than `snap` [m] unless chained, and that of each given point."""
    cell = np.unique(np.floor(points / (0.25 * snap)), axis=0, return_inverse=True)[1].ravel()
    count = int(cell.max()) + 1
    weight = np.bincount(cell, minlength=count)
    middle = np.stack([np.bincount(cell, points[:, k], count) / weight for k in range(2)], axis=1)
    from scipy.spatial import cKDTree  # slow to import, seldom needed

    pairs = cKDTree(middle).query_pairs(snap, output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    cluster = connected_components(graph, directed=False)[1][cell]
    first = np.unique(cluster, return_index=True)[1]
    order = np.argsort(first, kind="stable")  # in the order of the drawing
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return np.ascontiguousarray(points[first[order]]), place[cluster]


def crossing_edges(points: Floats, ends: Ints) -> tuple[Ints, Ints]:
    """Pairs of segments that touch elsewhere than at a common end (each pair once)."""
    import shapely

    lines = shapely.linestrings(points[ends])
    tree = shapely.STRtree(lines)
    found, total = [], 0
    for start in range(0, len(lines), BATCH):
        a, b = tree.query(lines[start : start + BATCH], predicate="intersects")
        a = a + start
        apart = (a < b) & ~(ends[a][:, :, None] == ends[b][:, None, :]).any(axis=(1, 2))
        found.append(np.stack([a[apart], b[apart]]))
        total += int(apart.sum())
        if total > MOST_PAIRS:
            raise InputError("pattern", f"its lines cross more than {MOST_PAIRS} times")
    pairs = np.concatenate(found, axis=1)
    return pairs[0], pairs[1]


def _crossings(points: Floats, ends: Ints, snap: float) -> Floats:
    """The points where segments cross that have no end in common, (n, 2)."""
    a, b = crossing_edges(points, ends)
    p, q = points[ends[a, 0]], points[ends[b, 0]]
    d, e = points[ends[a, 1]] - p, points[ends[b, 1]] - q
    area = _cross(d, e)
    lengths = np.linalg.norm(d, axis=1) * np.linalg.norm(e, axis=1)
    proper = np.abs(area) > 1e-9 * lengths
    t = _cross(q - p, e)[proper] / area[proper]
    return p[proper] + np.clip(t, 0.0, 1.0)[:, None] * d[proper]


def _divided(points: Floats, ends: Ints, snap: float) -> tuple[Ints, Ints]:
    """The segments divided at every point on them: edges (n, 2) and the segment that each is part of."""
    import shapely

    lines = shapely.linestrings(points[ends])
    tree = shapely.STRtree(shapely.points(points))
    segment, point, total = [], [], 0
    for start in range(0, len(lines), BATCH):
        s, v = tree.query(lines[start : start + BATCH], predicate="dwithin", distance=snap)
        segment.append(s + start)
        point.append(v)
        total += len(s)
        if total > MOST_PAIRS:
            raise InputError("pattern", f"more than {MOST_PAIRS} points lie on its lines")
    s, v = np.concatenate(segment), np.concatenate(point)
    p, d = points[ends[s, 0]], points[ends[s, 1]] - points[ends[s, 0]]
    along = np.einsum("ni,ni->n", points[v] - p, d) / np.einsum("ni,ni->n", d, d)
    along = np.where(v == ends[s, 0], 0.0, np.where(v == ends[s, 1], 1.0, along))
    inside = (along >= 0.0) & (along <= 1.0)
    s, v, along = s[inside], v[inside], along[inside]
    order = np.lexsort((along, s))
    s, v = s[order], v[order]
    same = (s[1:] == s[:-1]) & (v[1:] != v[:-1])
    return np.stack([v[:-1][same], v[1:][same]], axis=1), s[:-1][same]


def _cross(a: Floats, b: Floats) -> Floats:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
