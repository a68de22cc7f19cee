"""The smallest ball around a set of points."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import pi

import numpy as np

from crumple.runtime.typing import Floats

INSIDE = 1e-10
"""Share of the radius by which a point may lie outside and still count as inside (rounding)."""
MOST_ROUNDS = 1000
"""Rounds of the search; the radius grows in each, a dozen are usual."""


@dataclass(frozen=True)
class Ball:
    """`center` (3,) and `radius` [m]."""

    center: Floats
    radius: float

    @property
    def volume(self) -> float:
        """[m³]"""
        return 4.0 / 3.0 * pi * self.radius**3


def enclosing_ball(points: Floats) -> Ball:
    """The smallest ball that holds `points` (n, 3) [m].

    It is fixed by two to four of them. While a point lies outside, the one farthest out joins those that fix the
    ball, and the smallest ball of these five is found among those through two, three or four of them.
    """
    support = points[[0]]
    ball = Ball(points[0], 0.0)
    for _ in range(MOST_ROUNDS):
        distance = np.linalg.norm(points - ball.center, axis=1)
        farthest = int(np.argmax(distance))
        if distance[farthest] <= ball.radius * (1.0 + INSIDE):
            break
        larger, chosen = _smallest(np.vstack([support, points[farthest]]))
        if not ball.radius < larger.radius < np.inf:
            break  # rounding: as good as it gets
        ball, support = larger, chosen
    return Ball(ball.center, float(np.linalg.norm(points - ball.center, axis=1).max()))


def _smallest(points: Floats) -> tuple[Ball, Floats]:
    """The smallest ball of at most five points, and those that fix it."""
    best, chosen = Ball(points[0], np.inf), points
    for count in range(1, min(len(points), 4) + 1):
        for subset in combinations(range(len(points)), count):
            picked = points[list(subset)]
            ball = _through(picked)
            reach = np.linalg.norm(points - ball.center, axis=1).max()
            if ball.radius < best.radius and reach <= ball.radius * (1.0 + INSIDE):
                best, chosen = ball, picked
    return best, chosen


def _through(points: Floats) -> Ball:
    """The smallest ball with one to four points on its surface: its centre is in their span."""
    edges = points[1:] - points[0]
    gram = edges @ edges.T
    weights = np.linalg.lstsq(2.0 * gram, np.diag(gram), rcond=None)[0]
    offset = weights @ edges
    return Ball(points[0] + offset, float(np.linalg.norm(offset)))
