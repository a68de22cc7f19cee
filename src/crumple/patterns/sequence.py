"""Patterns that fold by simple folds, one after the other, as maps and brochures do.

Where two straight lines cross, rigid facets can fold flat along both only one after the other: the first line is a
mountain, or a valley, on both sides of the crossing. The second goes through two layers then, so that it is a mountain
on one side and a valley on the other, and so tells that it is the second.
"""

from __future__ import annotations

import numpy as np

from crumple.patterns.pattern import MOUNTAIN, VALLEY, CreasePattern
from crumple.patterns.rigid import NEARLY_FLAT, SECTOR_ERROR, Fans, vertex_fans
from crumple.runtime.typing import Ints


def simple_folds(pattern: CreasePattern) -> list[Ints]:
    """The numbers of the creases by the stage in which they fold, the first stage first; empty unless the pattern folds
    flat, straight lines cross in all its inner vertices, and they do so in an order."""
    folds = pattern.creases & np.isin(pattern.assignment, (MOUNTAIN, VALLEY))
    fans = vertex_fans(pattern)
    flat = np.abs(pattern.targets()[pattern.creases]) >= NEARLY_FLAT
    if not fans or not flat.all() or not all(_is_crossing(fan) for fan in fans):
        return []
    line = np.arange(pattern.edge_count, dtype=np.int32)
    before: list[tuple[int, int]] = []
    for fan in fans:
        for edges in fan.edges.tolist():
            half = len(edges) // 2
            for a, b in zip(edges[:half], edges[half:], strict=True):
                line[line == line[b]] = line[a]
            if half == 2:
                first, second = (edges[0], edges[2]), (edges[1], edges[3])
                alike = [pattern.assignment[a] == pattern.assignment[b] for a, b in (first, second)]
                if alike[0] == alike[1]:
                    return []
                before.append((first[0], second[0]) if alike[0] else (second[0], first[0]))
    stage = _stages(line, before)
    last = int(stage.max(initial=0))
    return [np.flatnonzero(folds & (stage == k)).astype(np.int32) for k in range(last + 1)] if last else []


def _is_crossing(fan: Fans) -> bool:
    """Whether all vertices of a fan lie on a straight line, or where two of them cross."""
    degree = fan.edges.shape[1]
    if degree not in (2, 4):
        return False
    half = sum(np.roll(fan.sectors, -k, axis=1) for k in range(degree // 2))
    return bool((np.abs(half - np.pi) <= SECTOR_ERROR).all())


def _stages(line: Ints, before: list[tuple[int, int]]) -> Ints:
    """The stage of each edge (edge_count,): one more than that of every line that is folded `before` its `line`; all 0
    where lines go round in circles."""
    stage = np.zeros(len(line), np.int32)
    for _ in range(len(before) + 1):
        late = [(a, b) for a, b in before if stage[b] <= stage[a]]
        if not late:
            return stage
        for a, b in late:
            stage[line == line[b]] = max(int(stage[b]), int(stage[a]) + 1)
    return np.zeros(len(line), np.int32)
