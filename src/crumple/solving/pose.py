"""What a minimisation moves: positions of nodes, and directors of edges where bending has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.runtime.typing import Floats


@dataclass
class Pose:
    """Positions `x` (node_count, 3) [m], obstacles included, and half turns of edges (edge_count,) [rad], none where
    bending has none; a direction is such a pair, too."""

    x: Floats
    half_turn: Floats

    def copy(self) -> Pose:
        return Pose(self.x.copy(), self.half_turn.copy())

    def move(self, direction: Pose, length: float) -> None:
        """Go `length` times the direction."""
        self.x += length * direction.x
        self.half_turn += length * direction.half_turn

    def moved(self, direction: Pose, length: float) -> Pose:
        """Where `length` times the direction leads."""
        return Pose(self.x + length * direction.x, self.half_turn + length * direction.half_turn)

    def take(self, other: Pose) -> None:
        """Become a copy of another pose."""
        self.x[:] = other.x
        self.half_turn[:] = other.half_turn

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.x).all() and np.isfinite(self.half_turn).all())


def make_pose(x: Floats, half_turn: Floats | None = None) -> Pose:
    """A pose without half turns, or with those given; the arrays are copied."""
    return Pose(x.copy(), np.zeros(0) if half_turn is None else half_turn.copy())
