"""A small sparse matrix in fronts: element blocks go to their places, the matrix is factorised, systems are solved.

Elements whose nodes stay have their places looked up once per analysis; those of contacts, which come and go, find
them through the table of columns as they are added.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from crumple.linalg.fronts import Fronts, Indices, make_fronts
from crumple.linalg.multifrontal import NOT_DONE, factorise_fronts, solve_fronts
from crumple.runtime.compiled import device, kernel
from crumple.runtime.typing import Floats, Ints

NOWHERE = -1
"""The place of a block of a prescribed node."""


class BlockPlaces(NamedTuple):
    """Where the blocks of n elements go: `at` (n, b) is twice the place of their first number, plus 1 where they are
    transposed;  `step` (n, b): from one row to the next."""

    at: Indices
    step: Indices


class SinglePlaces(NamedTuple):
    """Where what belongs to m single unknowns of n elements with k nodes goes: `mixed` (n, k, m) and `mixed_step` for
    the three numbers of a node and a single unknown, `own` (n, m(m+1)/2) for two single ones."""

    mixed: Indices
    mixed_step: Indices
    own: Indices


class FrontMatrix:
    """A symmetric matrix with 3-vectors at nodes and single unknowns; vectors are flat, (3 node_count + singles,)."""

    def __init__(self, node_count: int, pairs: Ints, ends: Ints) -> None:
        """`pairs` (p, 2): nodes whose blocks are not zero;  `ends` (m, 2): the nodes of each single unknown, which are
        among the pairs."""
        self.node_count = node_count
        self.fronts: Fronts = make_fronts(node_count, _own_copy(pairs), _own_copy(ends))
        three = self.fronts.node[:, None] + np.arange(3)
        self._position = np.concatenate([three.ravel(), self.fronts.single])
        self._values = np.zeros(int(self.fronts.panel[-1]))
        self._stack, self._rest = np.empty(self.fronts.stack), np.empty(self.fronts.largest)
        self._start = np.empty(len(self.fronts.width), np.int64)
        f = self.fronts
        self._search = (f.node, f.front, f.first, f.width, f.panel, f.column)
        self._diagonal = _find_diagonal(*self._search, f.single, f.owner)

    def blank(self) -> FrontMatrix:
        """Another matrix with the same analysis, whose numbers are to be cleared."""
        other = copy.copy(self)
        other._values = np.empty_like(self._values)
        other._stack, other._rest = np.empty_like(self._stack), np.empty_like(self._rest)
        other._start = np.empty_like(self._start)
        return other

    def clear(self) -> None:
        """Set all numbers to zero."""
        self._values.fill(0.0)

    def find_blocks(self, stencil: Ints) -> BlockPlaces:
        """Where the upper blocks of elements with these nodes (n, k) go; all must have a place."""
        k = stencil.shape[1]
        at, step = (np.empty((len(stencil), k * (k + 1) // 2), np.int64) for _ in range(2))
        _find_blocks(*self._search, _own_copy(stencil), at, step)
        return BlockPlaces(at, step)

    def find_singles(self, nodes: Ints, singles: Ints) -> SinglePlaces:
        """Where the parts of elements with these `nodes` (n, k) and `singles` (n, m) go; all must have a place."""
        (n, k), m = nodes.shape, singles.shape[1]
        mixed, step = (np.empty((n, k, m), np.int64) for _ in range(2))
        own = np.empty((n, m * (m + 1) // 2), np.int64)
        f = self.fronts
        _find_singles(*self._search, f.single, f.owner, _own_copy(nodes), _own_copy(singles), mixed, step, own)
        return SinglePlaces(mixed, step, own)

    def add_placed(self, places: BlockPlaces, blocks: Floats) -> None:
        """Add element blocks (n, b, 3, 3) whose places are known."""
        _add_placed(places.at, places.step, blocks, self._values)

    def add_singles(self, places: SinglePlaces, mixed: Floats, own: Floats) -> None:
        """Add what belongs to single unknowns: `mixed` (n, k, m, 3), `own` (n, m(m+1)/2)."""
        _add_singles(places.mixed, places.mixed_step, places.own, mixed, own, self._values)

    def add_loose(self, stencil: Ints, blocks: Floats) -> bool:
        """Add the blocks (n, k(k+1)/2, 3, 3) of elements that come and go; False when one that is not zero has no
        place: the matrix is then not to be used."""
        return bool(_add_loose(*self._search, stencil, blocks, self._values))

    def stiffen_singles(self, fraction: float) -> None:
        """Add a fraction of their mean to the diagonal of the single unknowns."""
        _stiffen(self._diagonal, fraction, self._values)

    def factorise(self) -> bool:
        """Factorise in place; False when the matrix is not positive definite."""
        f = self.fronts
        return bool(
            factorise_fronts(
                NOT_DONE, f.first, f.width, f.panel, f.place, f.place_start, f.children,
                self._values, self._stack, self._rest, self._start,
            )
        )  # fmt: skip

    def solve(self, b: Floats) -> Floats:
        """The solution for b (size,) with the last factorisation, which takes its place."""
        f = self.fronts
        solve_fronts(f.first, f.width, f.panel, f.row, f.row_start, self._values, self._position, b)
        return b


def clique_pairs(elements: Ints, node_count: int) -> Ints:
    """The pairs (p, 2) of nodes below `node_count` that elements with these nodes (n, k) join; −1 is no node."""
    k = elements.shape[1]
    first, second = np.triu_indices(k, 1)
    one, two = elements[:, first].ravel(), elements[:, second].ravel()
    pairs = np.stack([one, two], axis=1).astype(np.int32)
    return pairs[(np.minimum(one, two) >= 0) & (np.maximum(one, two) < node_count)]


@kernel
def loose_pairs(stencil, blocks, node_count):
    """The pairs (p, 2) of nodes of elements whose blocks (n, k(k+1)/2, 3, 3) are not zero."""
    k = stencil.shape[1]
    pairs, count = np.empty((stencil.shape[0] * (k * (k - 1) // 2), 2), np.int32), 0
    for e in range(stencil.shape[0]):
        q = -1
        for a in range(k):
            for b in range(a, k):
                q += 1
                i, j = stencil[e, a], stencil[e, b]
                if a != b and i < node_count and j < node_count and not _is_zero(blocks, e, q):
                    pairs[count, 0], pairs[count, 1] = i, j
                    count += 1
    return pairs[:count].copy()


def _own_copy(array: Ints) -> Ints:
    """The array as one of the type for which kernels are compiled, writable as they see it."""
    return np.array(array, np.int32, order="C")


@device
def _is_zero(blocks, e, q):
    """Whether block q of element e, (3, 3), is zero."""
    for a in range(3):
        for b in range(3):
            if blocks[e, q, a, b] != 0.0:
                return False
    return True


@device
def _address(node, front, first, width, panel, column, i, j):
    """The place of the block of nodes i and j, of which i is eliminated first, and the step of its rows; −1 where it
    has none."""
    f = front[i]
    c = column[f, j]
    if c < 0:
        return np.int64(-1), np.int64(0)
    return panel[f] + (node[i] - first[f]) * width[f] + c, width[f]


@kernel
def _find_diagonal(node, front, first, width, panel, column, single, owner):
    """Where the diagonal numbers of the single unknowns are."""
    out = np.empty(single.shape[0], np.int64)
    for e in range(single.shape[0]):
        v = owner[e]
        f, shift = front[v], single[e] - node[v]
        out[e] = panel[f] + (single[e] - first[f]) * width[f] + column[f, v] + shift
    return out


@kernel
def _stiffen(diagonal, fraction, values):
    """Add a fraction of their mean to the values at the places `diagonal` (m,)."""
    total = 0.0
    for e in range(diagonal.shape[0]):
        total += values[diagonal[e]]
    for e in range(diagonal.shape[0]):
        values[diagonal[e]] += fraction * total / diagonal.shape[0]


@kernel
def _find_blocks(node, front, first, width, panel, column, stencil, at, step):
    n, k = node.shape[0], stencil.shape[1]
    for e in range(stencil.shape[0]):
        q = 0
        for a in range(k):
            for b in range(a, k):
                i, j = stencil[e, a], stencil[e, b]
                at[e, q], step[e, q] = NOWHERE, 0
                if i < n and j < n:
                    flag = 1 if node[i] > node[j] else 0
                    if flag:
                        i, j = j, i
                    place, step[e, q] = _address(node, front, first, width, panel, column, i, j)
                    at[e, q] = 2 * place + flag
                q += 1


@kernel
def _find_singles(node, front, first, width, panel, column, single, owner, nodes, singles, mixed, mixed_step, own):
    n, k, m = node.shape[0], nodes.shape[1], singles.shape[1]
    for e in range(nodes.shape[0]):
        for a in range(k):
            for c in range(m):
                i, t = nodes[e, a], singles[e, c]
                mixed[e, a, c], mixed_step[e, a, c] = NOWHERE, 0
                if i < n and t < single.shape[0]:
                    j = owner[t]
                    if node[i] < single[t]:
                        place, wide = _address(node, front, first, width, panel, column, i, j)
                        mixed[e, a, c], mixed_step[e, a, c] = place + single[t] - node[j], wide
                    else:
                        f = front[j]
                        mixed[e, a, c] = panel[f] + (single[t] - first[f]) * width[f] + column[f, i]
                        mixed_step[e, a, c] = 1
        q = 0
        for c in range(m):
            for d in range(c, m):
                t, s = singles[e, c], singles[e, d]
                own[e, q] = NOWHERE
                if t < single.shape[0] and s < single.shape[0]:
                    if single[t] > single[s]:
                        t, s = s, t
                    f, j = front[owner[t]], owner[s]
                    row = panel[f] + (single[t] - first[f]) * width[f]
                    own[e, q] = row + column[f, j] + single[s] - node[j]
                q += 1


@device
def _add_block(at, step, blocks, e, q, values):
    """Add block q of element e, (3, 3), at a place that may say that it is to be transposed."""
    to = at >> 1
    if at & 1:
        for a in range(3):
            for b in range(3):
                values[to + a * step + b] += blocks[e, q, b, a]
    else:
        for a in range(3):
            for b in range(3):
                values[to + a * step + b] += blocks[e, q, a, b]


@kernel
def _add_placed(at, step, blocks, values):
    for e in range(at.shape[0]):
        for q in range(at.shape[1]):
            if at[e, q] >= 0:
                _add_block(at[e, q], step[e, q], blocks, e, q, values)


@kernel
def _add_singles(mixed_at, mixed_step, own_at, mixed, own, values):
    n, k, m = mixed_at.shape
    for e in range(n):
        for a in range(k):
            for c in range(m):
                at, step = mixed_at[e, a, c], mixed_step[e, a, c]
                if at >= 0:
                    for i in range(3):
                        values[at + i * step] += mixed[e, a, c, i]
        for q in range(own_at.shape[1]):
            if own_at[e, q] >= 0:
                values[own_at[e, q]] += own[e, q]


@kernel
def _add_loose(node, front, first, width, panel, column, stencil, blocks, values):
    n, k = node.shape[0], stencil.shape[1]
    for e in range(stencil.shape[0]):
        q = -1
        for a in range(k):
            for b in range(a, k):
                q += 1
                i, j = stencil[e, a], stencil[e, b]
                if i >= n or j >= n:
                    continue
                flip = 1 if node[i] > node[j] else 0
                if flip:
                    i, j = j, i
                at, step = _address(node, front, first, width, panel, column, i, j)
                if at >= 0:
                    _add_block(2 * at + flip, step, blocks, e, q, values)
                elif not _is_zero(blocks, e, q):
                    return False
    return True
