"""The fronts of small matrices as a `CholeskySolver` of 3×3 node blocks."""

from __future__ import annotations

import numpy as np

from crumple.linalg.block_matrix import BlockPattern
from crumple.linalg.front_matrix import BlockPlaces, FrontMatrix
from crumple.linalg.mixed_matrix import ScalarPattern
from crumple.runtime.remembered import Equal, Remembered
from crumple.runtime.typing import Floats, Ints

_ANALYSES: Remembered[tuple[FrontMatrix, BlockPlaces]] = Remembered()
"""Of the last patterns: the same one is analysed again and again while a mesh stays."""


class FrontSolver:
    """Solves with matrices of blocks of width 3, for few nodes."""

    name = "fronts"
    leaves_to_fronts = False
    solutions = 1.0
    """A factorisation is always worth it."""

    def analyse(self, pattern: BlockPattern | ScalarPattern) -> None:
        """Order and analyse the pattern; valid until the next call."""
        assert isinstance(pattern, BlockPattern)  # single unknowns have places of their own, see `FrontMatrix`
        known = Equal((pattern.node_count, pattern.keys.tobytes()))
        found, self._places = _ANALYSES.find((known,), lambda: _analyse(pattern))
        self._matrix = found.blank()

    def factorise(self, blocks: Floats) -> bool:
        """Factorise the values (block_count, 3, 3); False when the matrix is not positive definite."""
        self._matrix.clear()
        self._matrix.add_placed(self._places, blocks[:, None])
        return self._matrix.factorise()

    def solve(self, b: Floats) -> Floats:
        """The solution for the right-hand side b (node_count, 3)."""
        return self._matrix.solve(b.ravel().copy()).reshape(-1, 3)

    def order(self, pattern: BlockPattern) -> Ints:
        """The nodes in a good order of elimination, (node_count,)."""
        self.analyse(pattern)
        return np.argsort(self._matrix.fronts.node).astype(np.int32)


def _analyse(pattern: BlockPattern) -> tuple[FrontMatrix, BlockPlaces]:
    """The fronts of a pattern, and the place of each of its blocks."""
    row = (pattern.keys // pattern.node_count).astype(np.int32)
    pairs = np.stack([row, pattern.column], axis=1)
    matrix = FrontMatrix(pattern.node_count, pairs, np.zeros((0, 2), np.int32))
    places = matrix.find_blocks(pairs)
    middle = np.where(row == pattern.column, 0, 1)[:, None]  # of the blocks (0, 0), (0, 1), (1, 1) of a pair
    take = np.arange(len(pairs))[:, None]
    return matrix, BlockPlaces(places.at[take, middle], places.step[take, middle])
