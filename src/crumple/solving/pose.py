"""The unknowns of a minimisation: positions of nodes, and turns of edges where bending has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.typing import Floats


@dataclass
class Pose:
    """Positions `x` (node_count, 3) [m], obstacles included, and `turn` (turn_count,) [rad]; also a direction."""

    x: Floats
    turn: Floats

    def copy(self) -> Pose:
        return Pose(self.x.copy(), self.turn.copy())

    def move(self, direction: Pose, length: float) -> None:
        """Go `length` times the direction."""
        self.x += length * direction.x
        self.turn += length * direction.turn

    def moved(self, direction: Pose, length: float) -> Pose:
        """Where `length` times the direction leads."""
        return Pose(self.x + length * direction.x, self.turn + length * direction.turn)

    def take(self, other: Pose) -> None:
        """Become a copy of another pose."""
        self.x[:] = other.x
        self.turn[:] = other.turn

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.x).all() and np.isfinite(self.turn).all())


def make_pose(x: Floats, turn: Floats | None = None) -> Pose:
    """A pose without turns, or with those given; the arrays are copied."""
    return Pose(x.copy(), np.zeros(0) if turn is None else turn.copy())
