"""Cholesky of matrices with 3-vectors at nodes and scalars, by the solvers of block matrices."""

from __future__ import annotations

import numpy as np

from crumple.linalg.block_matrix import BlockPattern
from crumple.linalg.cholesky import CholeskySolver
from crumple.linalg.mixed_matrix import Coupling, MixedBlocks, ScalarPattern, elimination_positions, make_scalar_pattern
from crumple.runtime.typing import Floats


class MixedSolver:
    """Solves A x = b for flat vectors (size,); `CholeskySolver` in all but its types of values and vectors.

    The nodes are ordered by the wrapped solver on the graph of the node blocks, the scalars put beside them. Without
    scalars the node blocks are factorised as they are.
    """

    def __init__(self, solver: CholeskySolver, coupling: Coupling) -> None:
        self.name = solver.name
        self._solver = solver
        self._coupling = coupling
        self._pattern: ScalarPattern | None = None

    @property
    def solutions(self) -> float:
        """About how many solutions take as long as a factorisation of the pattern."""
        return self._solver.solutions

    def analyse(self, pattern: BlockPattern) -> None:
        """Order and analyse the matrix with these node blocks; valid until the next call."""
        if not self._coupling.scalar_count:
            self._solver.analyse(pattern)
            return
        position = elimination_positions(self._coupling, self._solver.order(pattern))
        self._pattern = make_scalar_pattern(pattern, self._coupling, position)
        self._solver.analyse(self._pattern)

    def factorise(self, values: MixedBlocks) -> bool:
        """Factorise; False when the matrix is not positive definite."""
        if self._pattern is None:
            return self._solver.factorise(values.blocks)
        flat = np.concatenate([values.blocks.ravel(), values.mixed.ravel(), values.own])
        return self._solver.factorise(flat[self._pattern.source].reshape(-1, 1, 1))

    def solve(self, b: Floats) -> Floats:
        """The solution for the right-hand side b (size,)."""
        if self._pattern is None:
            return self._solver.solve(b.reshape(-1, 3)).ravel()
        ordered = np.empty_like(b)
        ordered[self._pattern.position] = b
        return self._solver.solve(ordered.reshape(-1, 1)).ravel()[self._pattern.position]
