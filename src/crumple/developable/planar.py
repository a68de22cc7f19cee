"""Straight lines in the pattern: crossings, and the cells that they cut a sheet into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import atan2

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


def loop_area(loop: Sequence[Sequence[float]]) -> float:
    """The area of a polygon of n points [m²], positive when it is counter-clockwise."""
    return 0.5 * sum(loop[k - 1][0] * loop[k][1] - loop[k - 1][1] * loop[k][0] for k in range(len(loop)))


def trace_cells(positions: Mapping[int, Sequence[float]], edges: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The inner cells of a plane drawing of straight edges, each counter-clockwise, in a fixed order."""
    around: dict[int, list[int]] = {}
    for a, b in sorted({(min(edge), max(edge)) for edge in edges}):
        around.setdefault(a, []).append(b)
        around.setdefault(b, []).append(a)
    follow: dict[tuple[int, int], tuple[int, int]] = {}
    for key, others in around.items():
        x, y = positions[key]
        others.sort(key=lambda other: atan2(positions[other][1] - y, positions[other][0] - x))
        for number, other in enumerate(others):
            follow[other, key] = (key, others[number - 1])  # the next one clockwise
    cells = []
    for start in sorted(follow):
        if start not in follow:
            continue
        cell, edge = [], start
        while edge in follow:
            cell.append(edge[0])
            edge = follow.pop(edge)
        if loop_area([positions[key] for key in cell]) > 0.0:
            cells.append(tuple(cell))
    return cells
