"""Fronts: which unknowns of a small sparse matrix are eliminated together, and where everything then is.

The matrix has three unknowns at each node and single ones that go with a node, the turns of edges: each with that of
its two nodes which is eliminated first, so that it meets nobody whom its node does not meet. Nodes that are eliminated
one after the other and meet nearly the same others form a *front* (a relaxed supernode [Ashcraft1989]): a dense matrix
with a row for each unknown that it eliminates and a column for each that it meets.

A table says in which column of a front any node is, so an element's block finds its place without a search, and one
that has none is noticed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crumple.linalg.elimination import (
    NONE,
    ONE,
    ZERO,
    find_parents,
    join,
    lowest_bit,
    order_depth_first,
    order_nodes,
)
from crumple.linalg.tuning import TUNING
from crumple.runtime.compiled import device, kernel
from crumple.runtime.typing import Ints

FEW_ZEROS = TUNING.front_zeros.value
NARROW = TUNING.narrow_front.value
ZERO_FRACTION = TUNING.front_zero_fraction.value

Indices = NDArray[np.int64]


class Fronts(NamedTuple):
    """The symbolic factorisation of a matrix with n nodes and m single unknowns, in f fronts.

    `node` (n,), `single` (m,): the place of each node's first unknown, and of each single one, in the elimination;
    `owner` (m,): the node with which a single unknown goes;  `front` (n,): where a node is eliminated;
    `first` (f + 1,): the first unknown of each front;  `width` (f,): the unknowns that it has and meets;
    `panel` (f + 1,): where its numbers begin;  `row` (…,), `row_start` (f + 1,): its unknowns;
    `place` (…,), `place_start` (f + 1,): where those that it only meets are in its parent;  `children` (f,): how many
    fronts end in it;  `column` (f, n): where a node is in it, −1: not.
    `stack`, `largest`: numbers that are kept at most for fronts to come, and for one front.
    """

    node: Indices
    single: Indices
    owner: Indices
    front: Indices
    first: Indices
    width: Indices
    panel: Indices
    row: Indices
    row_start: Indices
    place: Indices
    place_start: Indices
    children: Indices
    column: Ints
    stack: int
    largest: int


@kernel
def make_fronts(node_count, pairs, ends):
    """The fronts of a matrix in which the nodes `pairs` (p, 2) meet, and the single unknowns `ends` (m, 2) are each
    between two nodes that do."""
    n = node_count
    graph = np.zeros((n, (n + 63) >> 6), np.uint64)
    for k in range(pairs.shape[0]):
        join(graph, np.int64(pairs[k, 0]), np.int64(pairs[k, 1]))
    order, rank = np.empty(n, np.int64), np.empty(n, np.int64)
    order_nodes(graph, order, rank)
    owner, size = np.empty(ends.shape[0], np.int64), np.full(n, 3)
    for e in range(ends.shape[0]):
        i, j = ends[e, 0], ends[e, 1]
        owner[e] = i if rank[i] < rank[j] else j
        size[owner[e]] += 1
    parent, height, sequence = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    find_parents(graph, order, rank, size, parent, height)
    order_depth_first(order, parent, height, sequence)
    front, columns, last = group(sequence, parent, height, size)
    node, single = number(sequence, size, owner)
    first, width, panel, row_start, place_start = measure(columns, last, height)
    row, column, above, children = _fill_rows(graph, sequence, front, columns, last, size, node, row_start)
    place = find_places(row, row_start, columns, above, place_start)
    stack, largest = largest_stack(width, columns, children)
    return Fronts(
        node, single, owner, front, first, width, panel, row, row_start, place, place_start, children, column,
        stack, largest,
    )  # fmt: skip


@device
def group(sequence, parent, height, size):
    """The front of each node, and of each front the number of its unknowns and its last node: a node joins the child
    before it if that brings few zeros."""
    n = sequence.shape[0]
    front, columns, last = np.empty(n, np.int64), np.zeros(n, np.int64), np.empty(n, np.int64)
    count = 0
    for k in range(n):
        v = sequence[k]
        joins = False
        if k > 0 and parent[sequence[k - 1]] == v:
            own = columns[count - 1]
            zeros = size[v] + height[v] - height[sequence[k - 1]]
            joins = (
                zeros <= 0 or (zeros <= FEW_ZEROS and own <= NARROW) or own * zeros <= ZERO_FRACTION * (own + size[v])
            )
        if not joins:
            count += 1
        columns[count - 1] += size[v]
        last[count - 1], front[v] = v, count - 1
    return front, columns[:count].copy(), last[:count].copy()


@device
def number(sequence, size, owner):
    """Places of nodes and single unknowns in the elimination."""
    node, free, single = np.empty(sequence.shape[0], np.int64), np.empty(sequence.shape[0], np.int64), owner.copy()
    at = 0
    for k in range(sequence.shape[0]):
        v = sequence[k]
        node[v], free[v] = at, at + 3
        at += size[v]
    for e in range(owner.shape[0]):
        single[e] = free[owner[e]]
        free[owner[e]] += 1
    return node, single


@device
def measure(columns, last, height):
    """Where fronts begin: first unknowns, widths, panels, rows, and rows for the parent."""
    count = columns.shape[0]
    first, panel = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    row_start, place_start = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    width = np.empty(count, np.int64)
    for f in range(count):
        met = height[last[f]]
        width[f] = columns[f] + met
        first[f + 1] = first[f] + columns[f]
        panel[f + 1] = panel[f] + columns[f] * width[f]
        row_start[f + 1] = row_start[f] + width[f]
        place_start[f + 1] = place_start[f] + met
    return first, width, panel, row_start, place_start


@device
def _fill_rows(graph, sequence, front, columns, last, size, node, row_start):
    """The unknowns of all fronts, the table of their columns, their parents and the numbers of their children."""
    n, words = graph.shape
    count = columns.shape[0]
    row, column = np.empty(row_start[count], np.int64), np.full((count, n), np.int32(NONE), np.int32)
    above, children = np.full(count, NONE), np.zeros(count, np.int64)
    position, met = np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        position[sequence[k]] = k
    k = 0
    for f in range(count):
        at = row_start[f]
        while k < n and front[sequence[k]] == f:
            at = _append(sequence[k], f, row_start[f], at, size, node, row, column)
            k += 1
        found = np.int64(0)
        for w in range(words):
            bits = graph[last[f], w]
            while bits != ZERO:
                met[found] = position[64 * w + lowest_bit(bits)]
                bits &= bits - ONE
                found += 1
        _sort(met, found)
        for i in range(found):
            at = _append(sequence[met[i]], f, row_start[f], at, size, node, row, column)
        if found > 0:
            above[f] = front[sequence[met[0]]]
            children[above[f]] += 1
    return row, column, above, children


@device
def _sort(numbers, count):
    """Sort the first `count` numbers in place; there are few of them."""
    for i in range(1, count):
        one, j = numbers[i], i
        while j > 0 and numbers[j - 1] > one:
            numbers[j] = numbers[j - 1]
            j -= 1
        numbers[j] = one


@device
def _append(v, f, start, at, size, node, row, column):
    """Write the unknowns of node v to the rows of front f; where the next ones go."""
    column[f, v] = at - start
    for j in range(size[v]):
        row[at + j] = node[v] + j
    return at + size[v]


@device
def find_places(row, row_start, columns, above, place_start):
    """Where the unknowns that a front only meets are in its parent."""
    count = columns.shape[0]
    place = np.empty(place_start[count], np.int64)
    for f in range(count):
        p = above[f]
        if p == NONE:
            continue
        start, met = place_start[f], place_start[f + 1] - place_start[f]
        j = row_start[p]
        for i in range(met):
            while row[j] != row[row_start[f] + columns[f] + i]:
                j += 1
            place[start + i] = j - row_start[p]
    return place


@device
def largest_stack(width, columns, children):
    """How many numbers of fronts wait for their parents at most, and those of the largest one."""
    count = columns.shape[0]
    start, waiting = np.empty(count, np.int64), np.empty(count, np.int64)
    depth, top, most, largest = 0, 0, 0, 0
    for f in range(count):
        for _ in range(children[f]):
            depth -= 1
            top = start[waiting[depth]]
        met = width[f] - columns[f]
        if met > 0:
            start[f], waiting[depth] = top, f
            depth += 1
            top += met * met
        most, largest = max(most, top), max(largest, met * met)
    return most, largest
