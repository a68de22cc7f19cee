"""Straight lines in the pattern: crossings, and the cells that they cut a sheet into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import atan2

import numpy as np

from crumple.runtime.compiled import device, kernel
from crumple.runtime.typing import Floats


@device
def _turn(ax, ay, bx, by, cx, cy):
    """Twice the area of the triangle abc, positive when it is counter-clockwise."""
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@kernel
def crosses(ends, points):
    """Whether two of the segments cross. `ends` (n, 2) keys of their ends, `points` (n, 2, 2) [m]; segments that share
    an end do not, unless one lies on the other."""
    for i in range(len(ends)):
        p, q = points[i, 0], points[i, 1]
        for j in range(i):
            r, s = points[j, 0], points[j, 1]
            shared = (
                ends[i, 0] == ends[j, 0]
                or ends[i, 0] == ends[j, 1]
                or ends[i, 1] == ends[j, 0]
                or ends[i, 1] == ends[j, 1]
            )
            if shared:
                continue
            one = _turn(p[0], p[1], q[0], q[1], r[0], r[1]) * _turn(p[0], p[1], q[0], q[1], s[0], s[1])
            two = _turn(r[0], r[1], s[0], s[1], p[0], p[1]) * _turn(r[0], r[1], s[0], s[1], q[0], q[1])
            if one <= 0.0 and two <= 0.0:
                return True
    return False


def loop_area(loop: Floats) -> float:
    """The area of a polygon (n, 2) [m²], positive when it is counter-clockwise."""
    after = np.roll(loop, -1, axis=0)
    return 0.5 * float(np.sum(loop[:, 0] * after[:, 1] - loop[:, 1] * after[:, 0]))


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
        if loop_area(np.array([positions[key] for key in cell])) > 0.0:
            cells.append(tuple(cell))
    return cells
