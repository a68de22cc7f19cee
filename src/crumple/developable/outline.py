"""The outline of a sheet: a polygon in the pattern, along which places are told by the length of the border."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats


@dataclass(frozen=True)
class Outline:
    """A simple polygon; `corners` (corner_count, 2) [m], counter-clockwise. A place on it is a length from the first
    corner [m], modulo the whole length."""

    corners: Floats

    def __post_init__(self) -> None:
        if not (self.area > 0.0 and len(self.corners) >= 3):
            raise InputError("outline", "must have at least three corners, counter-clockwise, in m", self.corners)

    @cached_property
    def starts(self) -> Floats:
        """The places of the corners, and the whole length, (corner_count + 1,) [m]."""
        sides = np.linalg.norm(np.roll(self.corners, -1, axis=0) - self.corners, axis=1)
        return np.concatenate([[0.0], np.cumsum(sides)])

    @property
    def length(self) -> float:
        """Of the border [m]."""
        return float(self.starts[-1])

    @property
    def area(self) -> float:
        """[m²], positive when the corners are counter-clockwise."""
        p, q = self.corners, np.roll(self.corners, -1, axis=0)
        return 0.5 * float(np.sum(p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]))

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

    def way(self, start: float, end: float) -> float:
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
    p, q = polygon, np.roll(polygon, -1, axis=0)
    spans = (p[:, 1] > u[1]) != (q[:, 1] > u[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        at = p[:, 0] + (u[1] - p[:, 1]) / (q[:, 1] - p[:, 1]) * (q[:, 0] - p[:, 0])
    return bool(np.count_nonzero(spans & (u[0] < at)) % 2)
