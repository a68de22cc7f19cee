"""Simple folds: which lines of a map fold first, and patterns that are none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from crumple.patterns import miura, pleats
from crumple.patterns.pattern import CreasePattern
from crumple.patterns.planar import pattern_from_segments
from crumple.patterns.sequence import simple_folds


def drawn_map(columns: dict[float, str], rows: dict[float, str]) -> CreasePattern:
    """A unit square with vertical lines at x and horizontal ones at y, with the letters of their parts."""
    segments = [((0, 0), (1, 0)), ((1, 0), (1, 1)), ((1, 1), (0, 1)), ((0, 1), (0, 0))]
    letters = [*"BBBB"]
    for lines, others, flip in ((columns, rows, False), (rows, columns, True)):
        for at, own in lines.items():
            for (a, b), letter in zip(pairwise([0.0, *sorted(others), 1.0]), own, strict=True):
                ends = ((at, a), (at, b))
                segments.append(tuple((q, p) for p, q in ends) if flip else ends)
                letters.append(letter)
    angle = np.array([{"M": np.pi, "V": -np.pi}.get(letter, 0.0) for letter in letters])
    return pattern_from_segments(np.array(segments, float), letters, angle, snap=1e-6)


def places(pattern: CreasePattern, edges) -> set[tuple[float, float]]:
    """The middles of edges."""
    return {tuple(point) for point in np.round(pattern.vertices[pattern.edges[edges]].mean(axis=1), 6).tolist()}


def test_the_line_that_does_not_change_folds_first():
    pattern = drawn_map({0.5: "MV"}, {0.5: "MM"})
    first, second = simple_folds(pattern)
    assert places(pattern, first) == {(0.25, 0.5), (0.75, 0.5)}
    assert places(pattern, second) == {(0.5, 0.25), (0.5, 0.75)}
    first, second = simple_folds(drawn_map({0.5: "VV"}, {0.5: "VM"}))
    assert places(pattern, first) == {(0.5, 0.25), (0.5, 0.75)}


def test_a_map_folds_in_three_stages():
    """Down the middle; across the middle, which is through two layers; then the quarter through four."""
    pattern = drawn_map({0.5: "MMM"}, {0.5: "MV", 0.75: "MV"})
    assert [len(stage) for stage in simple_folds(pattern)] == [3, 4]
    pattern = drawn_map({0.5: "MM", 0.75: "VM"}, {0.5: "MVV"})
    stages = simple_folds(pattern)
    assert [len(stage) for stage in stages] == [2, 3, 2]
    assert places(pattern, stages[2]) == {(0.75, 0.25), (0.75, 0.75)}


def test_patterns_that_are_no_simple_folds():
    assert simple_folds(pleats(0.1, 0.05, 3, np.pi)) == []  # nothing crosses
    assert simple_folds(miura(3, 3, 0.02, 0.02, np.radians(60))) == []
    assert simple_folds(drawn_map({0.5: "MM"}, {0.5: "MM"})) == []  # which contradicts itself
    half = drawn_map({0.5: "MV"}, {0.5: "MM"})
    half.angle[:] *= 0.5
    assert simple_folds(half) == []
    around = drawn_map({0.3: "MMV", 0.6: "MVV"}, {0.3: "MVV", 0.6: "MMV"})
    assert simple_folds(around) == []  # each line is to fold before another, in a circle
