"""Straight lines in the pattern: crossings, and the cells that they cut a sheet into."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from crumple.runtime.compiled import device, kernel


@device
def _turn(ax, ay, bx, by, cx, cy):
    """Twice the area of the triangle abc, positive when it is counter-clockwise."""
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@device
def _lies_on(p, q, r, s):
    """Whether of two segments with a common end, q = r or s, one lies on the other."""
    for _ in range(2):
        if p[0] == r[0] and p[1] == r[1]:
            ax, ay, bx, by = q[0] - p[0], q[1] - p[1], s[0] - p[0], s[1] - p[1]
            size = np.sqrt((ax * ax + ay * ay) * (bx * bx + by * by))
            if abs(ax * by - ay * bx) <= 1e-9 * size and ax * bx + ay * by > 0.0:
                return True
        if p[0] == s[0] and p[1] == s[1]:
            ax, ay, bx, by = q[0] - p[0], q[1] - p[1], r[0] - p[0], r[1] - p[1]
            size = np.sqrt((ax * ax + ay * ay) * (bx * bx + by * by))
            if abs(ax * by - ay * bx) <= 1e-9 * size and ax * bx + ay * by > 0.0:
                return True
        p, q = q, p
    return False


@kernel
def crosses(ends, points, count):
    """Whether one of the first `count` segments crosses any other, or lies on it. `ends` (n, 2) keys of their ends,
    `points` (n, 2, 2) [m]; segments that share an end do not cross."""
    for i in range(len(ends)):
        p, q = points[i, 0], points[i, 1]
        for j in range(min(i, count)):
            r, s = points[j, 0], points[j, 1]
            shared = (
                ends[i, 0] == ends[j, 0]
                or ends[i, 0] == ends[j, 1]
                or ends[i, 1] == ends[j, 0]
                or ends[i, 1] == ends[j, 1]
            )
            if shared:
                if _lies_on(p, q, r, s):
                    return True
                continue
            one = _turn(p[0], p[1], q[0], q[1], r[0], r[1]) * _turn(p[0], p[1], q[0], q[1], s[0], s[1])
            two = _turn(r[0], r[1], s[0], s[1], p[0], p[1]) * _turn(r[0], r[1], s[0], s[1], q[0], q[1])
            if one <= 0.0 and two <= 0.0:
                return True
    return False


def trace_cells(
    positions: Mapping[int, Sequence[float]], edges: Iterable[tuple[int, int]]
) -> tuple[list[tuple[int, ...]], float]:
    """The inner cells of a plane drawing of straight edges, each counter-clockwise, in a fixed order, and their area
    [m²]."""
    ends = np.array(sorted({(a, b) if a < b else (b, a) for a, b in edges}), np.int64).reshape(-1, 2)
    keys, number = np.unique(ends, return_inverse=True)
    names: list[int] = keys.tolist()
    points = np.array([positions[key] for key in names])
    loop, start, area = _trace(points, np.ascontiguousarray(number.reshape(-1, 2)))
    corners, begin = [names[k] for k in loop.tolist()], start.tolist()
    return [tuple(corners[a:b]) for a, b in itertools.pairwise(begin)], float(area)


@kernel
def _trace(points, ends):
    """The cells of a drawing of the segments `ends` (n, 2) between `points` (m, 2), in ascending order: their corners
    one after the other, where each begins, and their area in all."""
    count = len(ends)
    tail, head = np.empty(2 * count, np.int64), np.empty(2 * count, np.int64)
    first = np.zeros(len(points) + 1, np.int64)
    for e in range(count):
        first[ends[e, 0] + 1] += 1
        first[ends[e, 1] + 1] += 1
    first = np.cumsum(first)
    filled = first[:-1].copy()
    for e in range(count):  # half-edges by their tails, and by their heads: `ends` ascend
        for k in range(2):
            a = ends[e, k]
            tail[filled[a]], head[filled[a]] = a, ends[e, 1 - k]
            filled[a] += 1
    for a in range(len(points)):
        own = head[first[a] : first[a + 1]]
        own.sort()
    around, rank = np.empty(2 * count, np.int64), np.empty(2 * count, np.int64)
    for a in range(len(points)):
        angle = np.empty(first[a + 1] - first[a])
        for k in range(len(angle)):
            b = head[first[a] + k]
            angle[k] = np.arctan2(points[b, 1] - points[a, 1], points[b, 0] - points[a, 0])
        order = np.argsort(angle)
        for k in range(len(angle)):
            around[first[a] + k] = head[first[a] + order[k]]
            rank[first[a] + order[k]] = k
    is_done = np.zeros(2 * count, np.bool_)
    loop, start = np.empty(2 * count, np.int64), np.zeros(2 * count + 1, np.int64)
    cells, size, total = 0, 0, 0.0
    for h in range(2 * count):
        if is_done[h]:
            continue
        begin, g = size, h
        while not is_done[g]:
            is_done[g] = True
            loop[size] = tail[g]
            size += 1
            a, b = tail[g], head[g]
            back = first[b] + np.searchsorted(head[first[b] : first[b + 1]], a)
            degree = first[b + 1] - first[b]
            after = around[first[b] + (rank[back] - 1) % degree]  # the next one clockwise
            g = first[b] + np.searchsorted(head[first[b] : first[b + 1]], after)
        area = 0.0
        for k in range(begin, size):
            p, q = loop[k - 1] if k > begin else loop[size - 1], loop[k]
            area += points[p, 0] * points[q, 1] - points[p, 1] * points[q, 0]
        if area > 0.0:
            total += 0.5 * area
            cells += 1
            start[cells] = size
        else:
            size = begin
    return loop[:size], start[: cells + 1], total
