"""Fronts as a `CholeskySolver`: of 3×3 node blocks, or of nodes and single unknowns together."""

from __future__ import annotations

import numpy as np

from crumple.linalg.block_matrix import BlockPattern
from crumple.linalg.front_matrix import BlockPlaces, FrontMatrix
from crumple.linalg.fronts import Indices
from crumple.linalg.mixed_matrix import Coupling, ScalarPattern
from crumple.runtime.remembered import Equal, Remembered
from crumple.runtime.typing import Floats, Ints

_ANALYSES: Remembered[tuple[FrontMatrix, BlockPlaces]] = Remembered()
"""Of the last patterns: the same one is analysed again and again while a mesh stays."""


class FrontSolver:
    """Solves with matrices of blocks of width 3, or of single numbers (`ScalarPattern`)."""

    name = "fronts"
    solutions = 1.0
    """A factorisation is always worth it."""

    def analyse(self, pattern: BlockPattern | ScalarPattern) -> None:
        """Order and analyse the pattern; valid until the next call."""
        self._scalars = pattern if isinstance(pattern, ScalarPattern) else None
        if isinstance(pattern, ScalarPattern):
            self._matrix = _make_mixed(pattern.nodes, pattern.coupling)
            self._numbers = _number_places(self._matrix, pattern.nodes, pattern.coupling)[pattern.source]
            return
        known = Equal((pattern.node_count, pattern.keys.tobytes()))
        found, self._places = _ANALYSES.find((known,), lambda: _analyse(pattern))
        self._matrix = found.blank()

    def factorise(self, blocks: Floats) -> bool:
        """Factorise the values (block_count, width, width); False when the matrix is not positive definite."""
        if self._scalars is not None:
            self._matrix.set_numbers(self._numbers, blocks.ravel())
        else:
            self._matrix.clear()
            self._matrix.add_placed(self._places, blocks[:, None])
        return self._matrix.factorise()

    def solve(self, b: Floats) -> Floats:
        """The solution for the right-hand side b (node_count, width)."""
        if self._scalars is None:
            return self._matrix.solve(b.ravel().copy()).reshape(-1, 3)
        position = self._scalars.position  # fronts have an order of their own: back to that of nodes, then scalars
        found = np.empty_like(b)
        found[position, 0] = self._matrix.solve(b[position, 0])
        return found

    def order(self, pattern: BlockPattern) -> Ints:
        """The nodes as they are, (node_count,): fronts are ordered when they are analysed."""
        return np.arange(pattern.node_count, dtype=np.int32)


def _pairs(pattern: BlockPattern) -> Ints:
    """The nodes of each block, (block_count, 2)."""
    row = (pattern.keys // pattern.node_count).astype(np.int32)
    return np.stack([row, pattern.column], axis=1)


def _analyse(pattern: BlockPattern) -> tuple[FrontMatrix, BlockPlaces]:
    """The fronts of a pattern, and the place of each of its blocks."""
    pairs = _pairs(pattern)
    matrix = FrontMatrix(pattern.node_count, pairs, np.zeros((0, 2), np.int32))
    return matrix, _block_places(matrix, pairs)


def _block_places(matrix: FrontMatrix, pairs: Ints) -> BlockPlaces:
    """Where the blocks of these pairs of nodes go, (n, 1)."""
    places = matrix.find_blocks(pairs)
    middle = np.where(pairs[:, 0] == pairs[:, 1], 0, 1)[:, None]  # of the blocks (0, 0), (0, 1), (1, 1) of a pair
    take = np.arange(len(pairs))[:, None]
    return BlockPlaces(places.at[take, middle], places.step[take, middle])


def _rows(start: Ints) -> Ints:
    """The row of each entry of a matrix whose rows start there."""
    return np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))


def _make_mixed(pattern: BlockPattern, coupling: Coupling) -> FrontMatrix:
    """The fronts of nodes and single unknowns.

    A single unknown goes with one of two nodes, so these must meet all that it meets. In a mesh they do.
    """
    ends = coupling.anchor[:, :2]
    first, second = _rows(coupling.node_start), _rows(coupling.scalar_start)
    parts = [_pairs(pattern), ends]
    for end in ends.T:
        parts.append(np.stack([coupling.node, end[first]], axis=1))
        parts += [np.stack([end[second], other[coupling.scalar]], axis=1) for other in ends.T]
    return FrontMatrix(pattern.node_count, np.concatenate(parts), ends)


def _number_places(matrix: FrontMatrix, pattern: BlockPattern, coupling: Coupling) -> Indices:
    """Where every number of N, C and O (`mixed_matrix`) goes, one after the other."""
    blocks = _block_places(matrix, _pairs(pattern))
    to, step, is_flipped = blocks.at[:, :, None] >> 1, blocks.step[:, :, None], blocks.at[:, :, None] & 1
    row, column = np.indices((3, 3))
    node_places = to + np.where(is_flipped, column * step + row, row * step + column)
    single = _rows(coupling.node_start)
    met = matrix.find_singles(coupling.node[:, None], single[:, None])
    mixed_places = met.mixed[:, 0] + np.arange(3) * met.mixed_step[:, 0]
    two = np.stack([_rows(coupling.scalar_start), coupling.scalar], axis=1)
    own_places = matrix.find_singles(np.zeros((len(two), 0), np.int32), two).own[:, 1]
    return np.concatenate([node_places.ravel(), mixed_places.ravel(), own_places])
