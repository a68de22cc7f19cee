"""Symmetric matrices of 3-vectors at nodes and scalars: the node blocks of `block_matrix`, bordered by scalar rows.

    [ N   C ]      N: 3×3 blocks of nodes, a `BlockPattern` that may grow with contacts
    [ Cᵀ  O ]      C: a 3-vector for each node that a scalar meets;  O: upper triangle of the scalars

Vectors of such a system are flat: three numbers per node, then the scalars, (3 node_count + scalar_count,). C and O
belong to elements with fixed stencils, so their pattern is constant while the mesh is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numba import njit, prange

from crumple.linalg.block_matrix import BlockPattern, count_owners, join_keys, multiply
from crumple.runtime.compiled import spread
from crumple.runtime.typing import Floats, Ints


@dataclass(frozen=True)
class Coupling:
    """Which scalars meet which nodes and each other; rows are scalars, columns ascend.

    `node_start` (scalar_count + 1,), `node` (·,): nodes of each scalar, the pattern of C;
    `scalar_start` (scalar_count + 1,), `scalar` (·,): scalars ≥ the row, itself first, the pattern of O;
    `anchor` (scalar_count, 2) the nodes beside which a scalar is eliminated: the ends of its edge.
    """

    node_count: int
    node_start: Ints
    node: Ints
    scalar_start: Ints
    scalar: Ints
    anchor: Ints

    @property
    def scalar_count(self) -> int:
        return len(self.anchor)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return 3 * self.node_count + self.scalar_count


class MixedBlocks(NamedTuple):
    """Values: `blocks` (block_count, 3, 3) of N, `mixed` (·, 3) of C, `own` (·,) of O."""

    blocks: Floats
    mixed: Floats
    own: Floats


@dataclass(frozen=True)
class ScalarPattern:
    """The same matrix as upper triangular CSR of single numbers, unknowns in order of elimination.

    `position` (size,): where each unknown of a flat vector has gone;  `source` (entry_count,): index of each entry in
    the values of N, C and O one after the other. The other names are as in `BlockPattern`, with blocks of width 1.
    """

    width: ClassVar[int] = 1
    node_count: int
    row_start: Ints
    column: Ints
    position: Ints
    source: Ints

    @property
    def block_count(self) -> int:
        return len(self.column)


def make_coupling(node_count: int, anchor: Ints, stencils: Sequence[tuple[Ints, Ints]]) -> Coupling:
    """The pattern of C and O for elements with nodes (n, k) and scalars (n, m); `anchor` (scalar_count, 2).

    Nodes ≥ node_count and scalars ≥ scalar_count are prescribed: nothing is stored for them.
    """
    count = len(anchor)
    met = [np.zeros(0, np.int64)]
    own = [np.arange(count, dtype=np.int64) * (count + 1)]
    for nodes, scalars in stencils:
        for e in range(scalars.shape[1]):
            first = scalars[:, e].astype(np.int64)
            for a in range(nodes.shape[1]):
                free = (first < count) & (nodes[:, a] < node_count)
                met.append((first * node_count + nodes[:, a])[free])
            for f in range(e + 1, scalars.shape[1]):
                low, high = np.minimum(first, scalars[:, f]), np.maximum(first, scalars[:, f])
                own.append((low * count + high)[high < count])
    node_start, node = _rows(join_keys(*met), count, node_count)
    scalar_start, scalar = _rows(join_keys(*own), count, count)
    return Coupling(node_count, node_start, node, scalar_start, scalar, np.ascontiguousarray(anchor, np.int32))


def find_mixed_slots(coupling: Coupling, nodes: Ints, scalars: Ints) -> tuple[Ints, Ints]:
    """Where the element parts of C (n, k m), row of node a and scalar e at a m + e, and of O (n, m(m+1)/2) go.

    −1 for what is prescribed.
    """
    m = scalars.shape[1]
    mixed: Ints = np.empty((len(nodes), nodes.shape[1] * m), np.int32)
    own: Ints = np.empty((len(nodes), m * (m + 1) // 2), np.int32)
    if len(nodes):
        _find_mixed(coupling.node_start, coupling.node, coupling.node_count, nodes, scalars, mixed)
        _find_own(coupling.scalar_start, coupling.scalar, scalars, own)
    return mixed, own


def add_rows(slots: Ints, rows: Floats, scale: float, out: Floats) -> None:
    """Add `scale` times the element rows (n, q, w) to `out` (·, w) at their slots (n, q); in a fixed order."""
    if len(slots):
        _add_rows(count_owners(slots), slots, rows, scale, out)


def add_scalars(scalars: Ints, values: Floats, scale: float, out: Floats) -> None:
    """Add `scale` times the element values (n, m) to `out` (scalar_count,); scalars beyond `out` are left out."""
    slots = np.where(scalars < len(out), scalars, -1)
    add_rows(slots, values[..., None], scale, out[:, None])


def multiply_mixed(pattern: BlockPattern, coupling: Coupling, values: MixedBlocks, x: Floats) -> Floats:
    """The product of the symmetric matrix with the flat vector x (size,)."""
    nodes = 3 * coupling.node_count
    at_nodes, scalars = np.ascontiguousarray(x[:nodes]).reshape(-1, 3), np.ascontiguousarray(x[nodes:])
    product = multiply(pattern, values.blocks, at_nodes)
    own = np.zeros(len(scalars))
    _multiply_border(
        coupling.node_start, coupling.node, coupling.scalar_start, coupling.scalar,
        values.mixed, values.own, at_nodes, scalars, product, own,
    )  # fmt: skip
    return np.concatenate([product.ravel(), own])


def elimination_positions(coupling: Coupling, node_order: Ints) -> Ints:
    """Where the unknowns of a flat vector go, (size,): nodes in `node_order`, a scalar after its first anchor.

    With nodes ordered for the graph of faces and contacts alone, this has less fill-in than orders of all unknowns
    that nested dissection finds, and takes a tenth of the time.
    """
    count = coupling.node_count
    rank = np.empty(count, np.int64)
    rank[node_order] = np.arange(count)
    first = rank[coupling.anchor].min(axis=1) if count else np.zeros(0, np.int64)
    key = np.concatenate([np.repeat(2 * rank, 3), 2 * first + 1])
    position: Ints = np.empty(len(key), np.int32)
    position[np.argsort(key, kind="stable")] = np.arange(len(key), dtype=np.int32)
    return position


def make_scalar_pattern(pattern: BlockPattern, coupling: Coupling, position: Ints) -> ScalarPattern:
    """The matrix as scalars with the unknowns at `position` (size,)."""
    count = 9 * (pattern.block_count - pattern.node_count) + 6 * pattern.node_count
    count += 3 * len(coupling.node) + len(coupling.scalar)
    row, column, source = (np.empty(count, np.int32) for _ in range(3))
    _list_entries(
        pattern.row_start, pattern.column, coupling.node_start, coupling.node, coupling.scalar_start, coupling.scalar,
        position, row, column, source,
    )  # fmt: skip
    _, by_column = _bucket(column, coupling.size)
    start, by_row = _bucket(row[by_column], coupling.size)
    order = by_column[by_row]
    return ScalarPattern(coupling.size, start, column[order], position, source[order])


def _rows(keys: np.ndarray, rows: int, columns: int) -> tuple[Ints, Ints]:
    """CSR form of sorted keys row · columns + column."""
    row = keys // max(columns, 1)
    start = np.zeros(rows + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=rows), out=start[1:])
    return start, (keys - row * columns).astype(np.int32)


@njit(cache=True)
def _search(column, low, high, wanted):
    """Index of `wanted` in the ascending column[low:high]; it must be there."""
    while low < high:
        middle = (low + high) // 2
        if column[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@spread(3)
def _find_mixed(start, column, node_count, nodes, scalars, out):
    m = scalars.shape[1]
    for n in prange(nodes.shape[0]):
        for a in range(nodes.shape[1]):
            for e in range(m):
                node, scalar = nodes[n, a], scalars[n, e]
                slot = -1
                if node < node_count and scalar < start.shape[0] - 1:
                    slot = _search(column, start[scalar], start[scalar + 1], node)
                out[n, a * m + e] = slot


@spread(2)
def _find_own(start, column, scalars, out):
    for n in prange(scalars.shape[0]):
        q = 0
        for e in range(scalars.shape[1]):
            for f in range(e, scalars.shape[1]):
                low, high = min(scalars[n, e], scalars[n, f]), max(scalars[n, e], scalars[n, f])
                slot = -1
                if high < start.shape[0] - 1:
                    slot = _search(column, start[low], start[low + 1], high)
                out[n, q] = slot
                q += 1


@spread(1)
def _add_rows(owners, slots, rows, scale, out):
    count = out.shape[0]
    for owner in prange(owners):
        first = owner * count // owners
        last = (owner + 1) * count // owners
        for n in range(slots.shape[0]):
            for q in range(slots.shape[1]):
                slot = slots[n, q]
                if slot >= first and slot < last:
                    for w in range(out.shape[1]):
                        out[slot, w] += scale * rows[n, q, w]


@njit(cache=True)
def _multiply_border(node_start, node, scalar_start, scalar, mixed, own, x, s, out, out_own):
    for e in range(len(s)):
        total = 0.0
        for slot in range(node_start[e], node_start[e + 1]):
            n = node[slot]
            for c in range(3):
                total += mixed[slot, c] * x[n, c]
                out[n, c] += mixed[slot, c] * s[e]
        for slot in range(scalar_start[e], scalar_start[e + 1]):
            f = scalar[slot]
            total += own[slot] * s[f]
            if f != e:
                out_own[f] += own[slot] * s[e]
        out_own[e] += total


@njit(cache=True)
def _list_entries(row_start, block_column, node_start, node, scalar_start, scalar, position, row, column, source):
    """Every stored number of N, C, O: its place in the upper triangle and its index."""
    nodes = row_start.shape[0] - 1
    q = 0
    for i in range(nodes):
        for slot in range(row_start[i], row_start[i + 1]):
            j = block_column[slot]
            for a in range(3):
                for b in range(a if i == j else 0, 3):
                    p, r = position[3 * i + a], position[3 * j + b]
                    row[q], column[q], source[q] = min(p, r), max(p, r), 9 * slot + 3 * a + b
                    q += 1
    offset = 9 * block_column.shape[0]
    for e in range(node_start.shape[0] - 1):
        p = position[3 * nodes + e]
        for slot in range(node_start[e], node_start[e + 1]):
            for c in range(3):
                r = position[3 * node[slot] + c]
                row[q], column[q], source[q] = min(p, r), max(p, r), offset + 3 * slot + c
                q += 1
    offset += 3 * node.shape[0]
    for e in range(scalar_start.shape[0] - 1):
        p = position[3 * nodes + e]
        for slot in range(scalar_start[e], scalar_start[e + 1]):
            r = position[3 * nodes + scalar[slot]]
            row[q], column[q], source[q] = min(p, r), max(p, r), offset + slot
            q += 1


@njit(cache=True)
def _bucket(key, count):
    """Start of each key's bucket, and the indices sorted by key, equal keys in their order."""
    start = np.zeros(count + 1, np.int32)
    for k in key:
        start[k + 1] += 1
    for k in range(count):
        start[k + 1] += start[k]
    place = start.copy()
    order = np.empty(len(key), np.int32)
    for q in range(len(key)):
        order[place[key[q]]] = q
        place[key[q]] += 1
    return start, order
