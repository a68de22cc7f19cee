"""Cholesky of matrices with 3-vectors at nodes and scalars in fronts of our own, for sheets of thousands of faces."""

from __future__ import annotations

import numpy as np
from numba import get_num_threads

from crumple.linalg.block_matrix import BlockPattern
from crumple.linalg.cholesky import CholeskySolver
from crumple.linalg.fronts import Indices
from crumple.linalg.mixed_matrix import Coupling, MixedBlocks
from crumple.linalg.multifrontal import NOT_DONE, factorise_fronts, factorise_subtrees, solve_fronts
from crumple.linalg.sparse_fronts import SparseFronts, fill_fronts, make_sparse_fronts, place_blocks, place_singles
from crumple.linalg.subtrees import Division, divide
from crumple.linalg.tuning import TUNING
from crumple.runtime.compiled import kernel, run_chunks
from crumple.runtime.typing import Floats

SECONDS = TUNING.front_seconds.value
WORTH_THREADS = TUNING.subtree_operations.value


class SparseFrontSolver:
    """Solves A x = b for flat vectors (size,), with the methods of `MixedSolver`."""

    name = "fronts"

    def __init__(self, solver: CholeskySolver, coupling: Coupling, base: BlockPattern) -> None:
        """`solver`: orders the nodes of a pattern;  `base`: the node blocks that every pattern has."""
        self._order, self._coupling = solver.order, coupling
        self._extra = _missing_pairs(base.row_start, base.column, coupling.node_start, coupling.node, coupling.anchor)
        self._fronts: SparseFronts
        self._values = self._stack = self._rest = np.empty(0)
        self._start: Indices
        self._divided: tuple[int, Division | None] | None = None

    @property
    def solutions(self) -> float:
        """About how many solutions take as long as a factorisation of the pattern."""
        return SECONDS[0] * self.operations / (SECONDS[1] * max(len(self._values), 1))

    @property
    def operations(self) -> float:
        """Of a factorisation: products and sums."""
        own = np.diff(self._fronts.first).astype(float)
        met = self._fronts.width - own
        return float(np.sum(own**3 / 3.0 + own**2 * met + own * met**2))

    def analyse(self, pattern: BlockPattern) -> None:
        """Order and analyse the matrix with these node blocks; valid until the next call."""
        if not self._place(pattern):  # scalars that meet go with nodes that do not
            coupling = self._coupling
            pairs = _anchor_pairs(coupling.scalar_start, coupling.scalar, coupling.anchor)
            self._extra = np.concatenate([self._extra, pairs])
            if not self._place(pattern):
                raise AssertionError("a number has no place in the fronts that were made for it")
        f = self._fronts
        self._position = np.concatenate([(f.node[:, None] + np.arange(3)).ravel(), f.single])
        self._values = _room(self._values, int(f.panel[-1]))
        self._stack, self._rest = _room(self._stack, f.stack), _room(self._rest, f.largest)
        self._start, self._divided = np.empty(len(f.width), np.int64), None

    def _place(self, pattern: BlockPattern) -> bool:
        """Make the fronts and find the places of all numbers in them; False when one has none."""
        coupling = self._coupling
        f = self._fronts = make_sparse_fronts(
            pattern.row_start, pattern.column, self._extra, self._order(pattern), coupling.anchor
        )
        search = f.node, f.front, f.first, f.width, f.panel, f.position, f.member, f.member_start, f.column
        *blocks, has_blocks = place_blocks(*search, pattern.row_start, pattern.column)
        *singles, has_singles = place_singles(
            *search, f.single, f.owner, coupling.node_start, coupling.node, coupling.scalar_start, coupling.scalar
        )
        self._blocks, self._singles = tuple(blocks), tuple(singles)
        return bool(has_blocks and has_singles)

    def factorise(self, values: MixedBlocks) -> bool:
        """Factorise; False when the matrix is not positive definite."""
        f, (mixed, step, own) = self._fronts, self._singles
        fill_fronts(*self._blocks, values.blocks, mixed, step, values.mixed, own, values.own, self._values)
        tree = f.first, f.width, f.panel, f.place, f.place_start, f.children
        threads = get_num_threads() if self.operations > WORTH_THREADS else 1
        done = NOT_DONE if threads == 1 else self._factorise_subtrees(tree, threads)
        return done is not None and bool(
            factorise_fronts(done, *tree, self._values, self._stack, self._rest, self._start)
        )

    def _factorise_subtrees(self, tree: tuple[Indices, ...], threads: int) -> Indices | None:
        """Factorise subtrees of the fronts at the same time, and say which; None when one is not positive definite."""
        f = self._fronts
        if self._divided is None or self._divided[0] != threads:
            self._divided = threads, divide(f.first, f.width, f.children, f.stack, threads)
        division = self._divided[1]
        if division is None:
            return NOT_DONE
        self._stack = _room(self._stack, division.stack)
        rest, is_definite = np.empty((threads, f.largest)), np.zeros(len(division.subtrees), bool)
        run_chunks(
            factorise_subtrees, threads, division.shares, division.bottom, division.subtrees, *tree,
            self._values, self._stack, rest, self._start, is_definite,
        )  # fmt: skip
        return division.subtrees if is_definite.all() else None

    def solve(self, b: Floats) -> Floats:
        """The solution for the right-hand side b (size,)."""
        f, x = self._fronts, b.copy()
        solve_fronts(f.first, f.width, f.panel, f.row, f.row_start, self._values, self._position, x)
        return x


def _room(before: Floats, size: int) -> Floats:
    """An array of `size` numbers, in the memory of the one before if that suffices: new memory takes as long as a part
    of the factorisation."""
    kept = before if before.base is None else before.base
    return (kept if isinstance(kept, np.ndarray) and len(kept) >= size else np.empty(size + size // 8))[:size]


@kernel
def _missing_pairs(row_start, column, node_start, met, anchor):
    """Nodes (p, 2) that meet only through a scalar, which goes with one and meets the other: where the ends of an edge
    are prescribed, it goes with another node of its faces. A pair may be there twice."""
    pairs, count = np.empty((met.shape[0] * anchor.shape[1], 2), np.int32), 0
    for e in range(anchor.shape[0]):
        for slot in range(node_start[e], node_start[e + 1]):
            for a in range(anchor.shape[1]):
                low, high = min(anchor[e, a], met[slot]), max(anchor[e, a], met[slot])
                at = row_start[low]
                while at < row_start[low + 1] and column[at] < high:
                    at += 1
                if at == row_start[low + 1] or column[at] != high:
                    pairs[count, 0], pairs[count, 1] = low, high
                    count += 1
    return pairs[:count].copy()


@kernel
def _anchor_pairs(scalar_start, scalar, anchor):
    """The nodes (p, 2) with which scalars that meet may go; a pair may be there many times."""
    width = anchor.shape[1]
    pairs, count = np.empty((scalar.shape[0] * width * width, 2), np.int32), 0
    for e in range(anchor.shape[0]):
        for slot in range(scalar_start[e], scalar_start[e + 1]):
            for a in range(width):
                for b in range(width):
                    one, two = anchor[e, a], anchor[scalar[slot], b]
                    if one != two:
                        pairs[count, 0], pairs[count, 1] = one, two
                        count += 1
    return pairs[:count].copy()
