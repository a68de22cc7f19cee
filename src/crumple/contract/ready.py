"""Energies made ready for many evaluations in one thread: each is asked by one call, and writes into arrays of its own.

Every energy can be made ready (`Energy.ready`): as it stands by its `evaluate`, and those that small sheets spend their
time in by compiled functions that sum up at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from crumple.linalg import add_vectors
from crumple.runtime.typing import Floats, Ints

if TYPE_CHECKING:
    from crumple.contract.energy import Energy


NO_TURNS: Ints = np.empty((0, 0), np.int32)
"""The turns of elements that have none."""


class ReadyEnergy(ABC):
    """The elements of one energy over the unknowns of one solve.

    `stencil` (n, k) and `turns` (n, m): as in `Energy`;  `blocks`, `mixed`, `own`: as in `Derivatives`, of the last
    `expand`, overwritten by the next.
    """

    stencil: Ints
    turns: Ints
    blocks: Floats
    mixed: Floats
    own: Floats

    def joined(self, other: ReadyEnergy) -> ReadyEnergy | None:
        """This energy and the `other` as one, if they are of a kind; None as a rule."""
        return None

    @abstractmethod
    def value(self, x: Floats, half_turn: Floats) -> float:
        """The energy of all elements [J]."""

    @abstractmethod
    def expand(self, x: Floats, half_turn: Floats, project: bool, gradient: Floats, moments: Floats) -> None:
        """Add the derivative by nodes to `gradient` (free_count, 3) [N] and by turns to `moments` (turn_count,) [N m],
        and fill the second derivatives; nodes and turns beyond those are prescribed."""

    def predict(self, x: Floats, before: Floats, project: bool) -> None:
        """Change the blocks of the last `expand` as in `Energy.predict`: not at all as a rule."""
        return


class AnyReady(ReadyEnergy):
    """An energy by its own `evaluate`."""

    def __init__(self, energy: Energy) -> None:
        self._energy = energy
        self.stencil, self.turns = energy.stencil, energy.turns

    def value(self, x: Floats, half_turn: Floats) -> float:
        return float(np.sum(self._energy.value(x, half_turn)))

    def expand(self, x: Floats, half_turn: Floats, project: bool, gradient: Floats, moments: Floats) -> None:
        found = self._energy.derivatives(x, half_turn, project)
        add_vectors(self.stencil, found.vectors, 1.0, gradient)
        if found.moments.size:
            turns = self.turns.ravel()
            free = turns < len(moments)
            moments += np.bincount(turns[free], found.moments.ravel()[free], len(moments))
        self.blocks, self.mixed, self.own = found.blocks, found.mixed, found.own

    def predict(self, x: Floats, before: Floats, project: bool) -> None:
        self._energy.predict(x, before, project, self.blocks)
