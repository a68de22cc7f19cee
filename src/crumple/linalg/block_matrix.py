"""Sparse symmetric matrices of 3×3 node blocks, assembled from element blocks in a fixed order.

Only the upper block triangle is stored (row node ≤ column node), rows ascending, columns ascending inside a
row, so the diagonal block comes first. Element blocks are added by owners of disjoint ranges of blocks, one per thread,
each of which reads all elements in order: the sums do not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import get_num_threads, njit, prange

from crumple.runtime.compiled import device, is_few, spread
from crumple.runtime.typing import Floats, Ints

UPPER_PAIRS = {k: [(a, b) for a in range(k) for b in range(a, k)] for k in range(1, 5)}
"""Local node pairs of the upper blocks of an element with k nodes, in the order of the energy contract."""


NOTHING, MISSING = -1, -2
"""Codes of element blocks without a slot: of a prescribed node or zero, so nothing is to be stored, or not in the
pattern."""


@dataclass(frozen=True)
class BlockPattern:
    """Which blocks are stored: `keys` (block_count,) = row · node_count + column, ascending (int64).

    `row_start` (node_count + 1,) and `column` (block_count,) are the block CSR form of the same (int32).
    """

    width: ClassVar[int] = 3
    node_count: int
    keys: np.ndarray
    row_start: Ints
    column: Ints

    @property
    def block_count(self) -> int:
        return len(self.keys)


def make_pattern(node_count: int, keys: np.ndarray) -> BlockPattern:
    """The pattern of the given sorted unique block keys, which must include every diagonal block."""
    row = keys // node_count
    counts = np.bincount(row, minlength=node_count)
    row_start = np.zeros(node_count + 1, np.int32)
    np.cumsum(counts, out=row_start[1:])
    return BlockPattern(node_count, keys, row_start, (keys - row * node_count).astype(np.int32))


def block_keys(node_count: int, stencils: Sequence[Ints]) -> np.ndarray:
    """Sorted unique keys of all blocks that elements with these stencils touch, with the whole diagonal.

    Nodes ≥ node_count (obstacles) are prescribed: their blocks are not stored.
    """
    parts = [np.arange(node_count, dtype=np.int64) * (node_count + 1)]
    for stencil in stencils:
        for a, b in UPPER_PAIRS[stencil.shape[1]]:
            if a == b:
                continue
            low = np.minimum(stencil[:, a], stencil[:, b]).astype(np.int64)
            high = np.maximum(stencil[:, a], stencil[:, b])
            free = high < node_count
            parts.append((low * node_count + high)[free])
    return join_keys(*parts)


def join_keys(*parts: np.ndarray) -> np.ndarray:
    """All keys, sorted, each once (`np.unique` hashes first, which takes 20 times as long)."""
    keys = np.sort(np.concatenate(parts))
    first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first]


def find_slots(pattern: BlockPattern, stencil: Ints) -> Ints:
    """Where each element block goes, codes (element_count, k(k+1)/2): 2 · block + (1 if to be transposed), or
    `NOTHING` or `MISSING`."""
    k = stencil.shape[1]
    codes: Ints = np.empty((len(stencil), k * (k + 1) // 2), np.int32)
    if len(stencil):
        _find_slots(pattern.row_start, pattern.column, stencil, codes)
    return codes


def waive_zeros(codes: Ints, blocks: Floats) -> int:
    """Let blocks (element_count, k(k+1)/2, 3, 3) that are zero not be missing; how many still are."""
    return int(_waive_zeros(codes, blocks)) if len(codes) else 0


def missing_keys(node_count: int, stencil: Ints, codes: Ints) -> np.ndarray:
    """Keys of the blocks that are missing, in no order."""
    parts = []
    for q, (a, b) in enumerate(UPPER_PAIRS[stencil.shape[1]]):
        lacks = codes[:, q] == MISSING
        one, two = stencil[lacks, a].astype(np.int64), stencil[lacks, b]
        parts.append(np.minimum(one, two) * node_count + np.maximum(one, two))
    return np.concatenate(parts)


def add_blocks(codes: Ints, blocks: Floats, scale: float, out: Floats) -> None:
    """Add `scale` times the element blocks (n, k(k+1)/2, 3, 3) to `out` (block_count, 3, 3) at their slots."""
    if len(codes):
        _add_blocks(count_owners(codes), codes, blocks, scale, out)


def add_vectors(stencil: Ints, vectors: Floats, scale: float, out: Floats) -> None:
    """Add `scale` times the element vectors (n, k, 3) to `out` (nodes, 3); nodes beyond `out` are left out."""
    if len(stencil):
        _add_vectors(count_owners(stencil), stencil, vectors, scale, out)


def count_owners(elements: Ints) -> int:
    """How many threads share the sum over elements, (n, …); few elements are for one."""
    return 1 if is_few(elements) else int(get_num_threads())


def multiply(pattern: BlockPattern, blocks: Floats, x: Floats) -> Floats:
    """The product of the symmetric matrix with x (node_count, 3)."""
    out = np.zeros_like(x)
    _multiply(pattern.row_start, pattern.column, blocks, x, out)
    return out


def multiply_elements(stencil: Ints, blocks: Floats, x: Floats) -> Floats:
    """The product of every element matrix with the values of x (nodes, 3) at its own nodes, (n, k, 3)."""
    out = np.zeros((*stencil.shape, 3))
    if len(stencil):
        _multiply_elements(stencil, blocks, x, out)
    return out


@spread(2)
def _find_slots(row_start, column, stencil, out):
    n = row_start.shape[0] - 1
    k = stencil.shape[1]
    for e in prange(stencil.shape[0]):
        q = 0
        for a in range(k):
            for b in range(a, k):
                i, j = stencil[e, a], stencil[e, b]
                code = NOTHING
                if i < n and j < n:
                    flag = 0
                    if i > j:
                        i, j = j, i
                        flag = 1
                    low, high = row_start[i], row_start[i + 1]
                    while low < high:
                        middle = (low + high) // 2
                        if column[middle] < j:
                            low = middle + 1
                        else:
                            high = middle
                    code = 2 * low + flag if low < row_start[i + 1] and column[low] == j else MISSING
                out[e, q] = code
                q += 1


@njit(cache=True)
def _waive_zeros(codes, blocks):
    missing = 0
    for e in range(codes.shape[0]):
        for q in range(codes.shape[1]):
            if codes[e, q] == MISSING:
                codes[e, q] = NOTHING
                for a in range(9):
                    if blocks[e, q, a // 3, a % 3] != 0.0:
                        codes[e, q] = MISSING
                missing += codes[e, q] == MISSING
    return missing


@spread(1)
def _add_blocks(owners, codes, blocks, scale, out):
    count = out.shape[0]
    for owner in prange(owners):
        first = owner * count // owners
        last = (owner + 1) * count // owners
        for e in range(codes.shape[0]):
            for q in range(codes.shape[1]):
                code = codes[e, q]
                if code < 0:
                    continue
                slot = code >> 1
                if slot < first or slot >= last:
                    continue
                if code & 1:
                    for a in range(3):
                        for b in range(3):
                            out[slot, a, b] += scale * blocks[e, q, b, a]
                else:
                    for a in range(3):
                        for b in range(3):
                            out[slot, a, b] += scale * blocks[e, q, a, b]


@spread(1)
def _add_vectors(owners, stencil, vectors, scale, out):
    count = out.shape[0]
    for owner in prange(owners):
        first = owner * count // owners
        last = (owner + 1) * count // owners
        for e in range(stencil.shape[0]):
            for a in range(stencil.shape[1]):
                node = stencil[e, a]
                if node >= first and node < last:
                    for c in range(3):
                        out[node, c] += scale * vectors[e, a, c]


@device
def sum_vectors(stencil, vectors, out):
    """Add the element vectors (n, k, 3) to `out` (nodes, 3) in one thread; nodes beyond `out` are left out."""
    for e in range(stencil.shape[0]):
        for a in range(stencil.shape[1]):
            node = stencil[e, a]
            if node < out.shape[0]:
                for c in range(3):
                    out[node, c] += vectors[e, a, c]


@njit(cache=True)
def _multiply(row_start, column, blocks, x, out):
    for i in range(row_start.shape[0] - 1):
        for s in range(row_start[i], row_start[i + 1]):
            j = column[s]
            for a in range(3):
                for b in range(3):
                    out[i, a] += blocks[s, a, b] * x[j, b]
                    if j != i:
                        out[j, b] += blocks[s, a, b] * x[i, a]


@spread(0)
def _multiply_elements(stencil, blocks, x, out):
    k = stencil.shape[1]
    for e in prange(stencil.shape[0]):
        q = 0
        for a in range(k):
            for b in range(a, k):
                i, j = stencil[e, a], stencil[e, b]
                for c in range(3):
                    for d in range(3):
                        out[e, a, c] += blocks[e, q, c, d] * x[j, d]
                        if a != b:
                            out[e, b, d] += blocks[e, q, c, d] * x[i, c]
                q += 1
