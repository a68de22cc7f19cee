"""The outline of a sheet: a polygon in the pattern, along which places are told by the length of the border."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from crumple.runtime.compiled import kernel
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

Place = TypeVar("Place", float, Floats)
"""One or many."""


@dataclass(frozen=True)
class Outline:
    """A simple polygon; `corners` (corner_count, 2) [m], counter-clockwise. A place on it is a length from the first
    corner [m], modulo the whole length. Slits and tears are narrow notches of it; `tips`: the corners they end in."""

    corners: Floats
    tips: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not (self.area > 0.0 and len(self.corners) >= 3):
            raise InputError("outline", "must have at least three corners, counter-clockwise, in m", self.corners)

    @cached_property
    def starts(self) -> Floats:
        """The places of the corners, and the whole length, (corner_count + 1,) [m]."""
        sides = np.linalg.norm(np.roll(self.corners, -1, axis=0) - self.corners, axis=1)
        return np.concatenate([[0.0], np.cumsum(sides)])

    @cached_property
    def length(self) -> float:
        """Of the border [m]."""
        return float(self.starts[-1])

    @property
    def area(self) -> float:
        """[m²], positive when the corners are counter-clockwise."""
        p, q = self.corners, np.roll(self.corners, -1, axis=0)
        return 0.5 * float(np.sum(p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]))

    @cached_property
    def tip_places(self) -> Floats:
        """The places of the tips, (tip_count,) [m]."""
        return np.asarray(self.starts[list(self.tips)])

    @cached_property
    def is_convex(self) -> bool:
        """Whether no straight line between two places leaves the sheet."""
        side = np.roll(self.corners, -1, axis=0) - self.corners
        after = np.roll(side, -1, axis=0)
        return bool(np.all(side[:, 0] * after[:, 1] - side[:, 1] * after[:, 0] >= 0.0))

    def point(self, place: float) -> Floats:
        """Where a place is in the pattern, (2,) [m]."""
        place %= self.length
        side = min(int(np.searchsorted(self.starts, place, side="right")) - 1, len(self.corners) - 1)
        p, q = self.corners[side], self.corners[(side + 1) % len(self.corners)]
        return np.asarray(p + (place - self.starts[side]) / (self.starts[side + 1] - self.starts[side]) * (q - p))

    def place(self, u: Floats) -> tuple[float, float]:
        """The place nearest to a point (2,) [m] of the pattern, and how far it is away [m]."""
        p, q = self.corners, np.roll(self.corners, -1, axis=0)
        side = q - p
        along = np.clip(np.sum((u - p) * side, axis=1) / np.sum(side * side, axis=1), 0.0, 1.0)
        far = np.linalg.norm(u - p - along[:, None] * side, axis=1)
        k = int(far.argmin())
        return float(self.starts[k] + along[k] * (self.starts[k + 1] - self.starts[k])) % self.length, float(far[k])

    def way(self, start: Place, end: Place) -> Place:
        """How far it is from one place to another on the shorter way, positive counter-clockwise [m]."""
        half = 0.5 * self.length
        return (end - start + half) % self.length - half

    def on_one_side(self, one: float, other: float) -> bool:
        """Whether the straight line between two places lies on the border."""
        slack = 1e-9 * self.length
        first, second = sorted((one % self.length, other % self.length))
        for start, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            if start - slack <= first and second <= end + slack:
                return True
        is_last = self.starts[-2] - slack <= second
        return bool(is_last and (first <= slack))

    def contains(self, u: Floats) -> bool:
        """Whether a point (2,) [m] of the pattern is inside."""
        return is_inside(self.corners, u)


def is_inside(polygon: Floats, u: Floats) -> bool:
    """Whether a point (2,) is inside a polygon (n, 2), by the crossings of a ray."""
    return bool(are_inside(polygon, np.asarray(u, np.float64).reshape(1, 2))[0])


@kernel
def are_inside(polygon, points):
    """Whether points (m, 2) are inside a polygon (n, 2), (m,)."""
    count = len(polygon)
    inside = np.zeros(len(points), np.bool_)
    for i in range(len(points)):
        x, y = points[i, 0], points[i, 1]
        for k in range(count):
            m = (k + 1) % count
            if (polygon[k, 1] > y) != (polygon[m, 1] > y):
                way = (y - polygon[k, 1]) / (polygon[m, 1] - polygon[k, 1])
                if x < polygon[k, 0] + way * (polygon[m, 0] - polygon[k, 0]):
                    inside[i] = not inside[i]
    return inside
