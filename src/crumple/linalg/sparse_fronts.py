"""The fronts of a large sparse matrix whose nodes are in order already; see `fronts` for what fronts are.

Where `fronts` finds the order on bit sets and keeps a table of the columns of all nodes in all fronts, which is quick
for a thousand nodes and out of the question for ten thousand, this walks through lists: each node meets what the matrix
joins it with and what its children in the tree of elimination meet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.linalg.elimination import NONE, order_depth_first
from crumple.linalg.fronts import Indices, find_places, group, largest_stack, measure, number
from crumple.runtime.compiled import device, kernel


class SparseFronts(NamedTuple):
    """The symbolic factorisation of a matrix with n nodes and m single unknowns, in f fronts: as in `Fronts`, and
    `position` (n,) of each node in the elimination;  `member` (…,), `member_start` (f + 1,): the positions of the nodes
    that a front has and meets, ascending;  `column` (…,): where each of them is in the front."""

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
    position: Indices
    member: Indices
    member_start: Indices
    column: Indices
    stack: int
    largest: int


@kernel
def make_sparse_fronts(row_start, column, extra, order, anchor):
    """The fronts of a matrix with the node blocks `row_start` (n + 1,), `column` (…,) in its upper triangle, eliminated
    in about this `order` (n,);  `extra` (p, 2): further nodes that meet;  `anchor` (m, a): the nodes of which the first
    that is eliminated takes a single unknown along."""
    n = order.shape[0]
    rank = np.empty(n, np.int64)
    for s in range(n):
        rank[order[s]] = s
    owner, size = np.empty(anchor.shape[0], np.int64), np.full(n, 3)
    for e in range(anchor.shape[0]):
        v = np.int64(anchor[e, 0])
        for a in range(1, anchor.shape[1]):
            if rank[anchor[e, a]] < rank[v]:
                v = np.int64(anchor[e, a])
        owner[e] = v
        size[v] += 1
    later_start, later = _later_nodes(row_start, column, extra, rank)
    parent, height, met_start, met = _eliminate(later_start, later, order, rank, size)
    sequence = np.empty(n, np.int64)
    order_depth_first(order, parent, height, sequence)
    front, columns, last = group(sequence, parent, height, size)
    node, single = number(sequence, size, owner)
    first, width, panel, rows, places = measure(columns, last, height)
    row, above, children, position, member, member_start, at = _fill_rows(
        met_start, met, rank, sequence, front, columns, last, size, node, rows
    )
    place = find_places(row, rows, columns, above, places)
    stack, largest = largest_stack(width, columns, children)
    return SparseFronts(
        node, single, owner, front, first, width, panel, row, rows, place, places, children, position, member,
        member_start, at, stack, largest,
    )  # fmt: skip


@device
def _later_nodes(row_start, column, extra, rank):
    """Of each node the neighbours that are eliminated after it: where its own begin (n + 1,), and all of them."""
    n = rank.shape[0]
    start = np.zeros(n + 1, np.int64)
    for i in range(n):
        for slot in range(row_start[i], row_start[i + 1]):
            j = column[slot]
            if i != j:
                start[1 + (i if rank[i] < rank[j] else j)] += 1
    for k in range(extra.shape[0]):
        i, j = extra[k, 0], extra[k, 1]
        start[1 + (i if rank[i] < rank[j] else j)] += 1
    for i in range(n):
        start[i + 1] += start[i]
    later, free = np.empty(start[n], np.int64), start[:n].copy()
    for i in range(n):
        for slot in range(row_start[i], row_start[i + 1]):
            j = column[slot]
            if i != j:
                one, two = (i, np.int64(j)) if rank[i] < rank[j] else (np.int64(j), i)
                later[free[one]] = two
                free[one] += 1
    for k in range(extra.shape[0]):
        one, two = np.int64(extra[k, 0]), np.int64(extra[k, 1])
        if rank[one] > rank[two]:
            one, two = two, one
        later[free[one]] = two
        free[one] += 1
    return start, later


@device
def _eliminate(later_start, later, order, rank, size):
    """The tree of elimination: `parent` (n,), −1 for none, and `height` (n,) as in `elimination.find_parents`; and the
    later nodes that each place in the order meets, where its own begin (n + 1,) and all of them."""
    n = order.shape[0]
    parent, height = np.full(n, NONE), np.zeros(n, np.int64)
    child, sibling, mark = np.full(n, NONE), np.full(n, NONE), np.full(n, NONE)
    start, met, top = np.zeros(n + 1, np.int64), np.empty(8 * n + 8, np.int64), np.int64(0)
    for s in range(n):
        v = order[s]
        room = later_start[v + 1] - later_start[v]
        c = child[v]
        while c != NONE:
            room += start[rank[c] + 1] - start[rank[c]]
            c = sibling[c]
        if top + room > met.shape[0]:
            longer = np.empty(2 * (top + room), np.int64)
            longer[:top] = met[:top]
            met = longer
        mark[v] = s
        lowest = np.int64(n)
        for k in range(later_start[v], later_start[v + 1]):
            u = later[k]
            if mark[u] != s:
                mark[u], met[top] = s, u
                top += 1
                height[v] += size[u]
                lowest = min(lowest, rank[u])
        c = child[v]
        while c != NONE:
            for k in range(start[rank[c]], start[rank[c] + 1]):
                u = met[k]
                if mark[u] != s:
                    mark[u], met[top] = s, u
                    top += 1
                    height[v] += size[u]
                    lowest = min(lowest, rank[u])
            c = sibling[c]
        start[s + 1] = top
        if lowest < n:
            p = np.int64(order[lowest])
            parent[v], sibling[v] = p, child[p]
            child[p] = v
    return parent, height, start, met


@device
def _fill_rows(met_start, met, rank, sequence, front, columns, last, size, node, row_start):
    """The unknowns of all fronts, their parents and the numbers of their children, the positions of nodes, and the
    members of fronts with their columns."""
    n, count = sequence.shape[0], columns.shape[0]
    row = np.empty(row_start[count], np.int64)
    above, children = np.full(count, NONE), np.zeros(count, np.int64)
    position = np.empty(n, np.int64)
    for k in range(n):
        position[sequence[k]] = k
    total = n
    for f in range(count):
        total += met_start[rank[last[f]] + 1] - met_start[rank[last[f]]]
    member, column, member_start = np.empty(total, np.int64), np.empty(total, np.int64), np.zeros(count + 1, np.int64)
    k, top = 0, 0
    for f in range(count):
        at = row_start[f]
        while k < n and front[sequence[k]] == f:
            member[top] = k
            k, top = k + 1, top + 1
        begin, end = met_start[rank[last[f]]], met_start[rank[last[f]] + 1]
        found = np.empty(end - begin, np.int64)
        for i in range(begin, end):
            found[i - begin] = position[met[i]]
        found.sort()
        for i in range(found.shape[0]):
            member[top] = found[i]
            top += 1
        for i in range(member_start[f], top):
            v = sequence[member[i]]
            column[i] = at - row_start[f]
            for j in range(size[v]):
                row[at + j] = node[v] + j
            at += size[v]
        if found.shape[0] > 0:
            above[f] = front[sequence[found[0]]]
            children[above[f]] += 1
        member_start[f + 1] = top
    return row, above, children, position, member, member_start, column


@device
def _address(node, front, first, width, panel, position, member, member_start, column, i, j):
    """The place of the block of nodes i and j, of which i is eliminated first; −1 where it has none."""
    f, wanted = front[i], position[j]
    if front[j] == f:  # those that it has come first and in order
        return panel[f] + (node[i] - first[f]) * width[f] + node[j] - first[f]
    low, high = member_start[f], member_start[f + 1]
    while low < high:
        middle = (low + high) // 2
        if member[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low == member_start[f + 1] or member[low] != wanted:
        return np.int64(-1)
    return panel[f] + (node[i] - first[f]) * width[f] + column[low]


@kernel
def place_blocks(node, front, first, width, panel, position, member, member_start, column, row_start, block_column):
    """Where the node blocks go, twice the place of their first number, plus 1 where they are transposed, and the step
    from one row to the next (block_count,); False when one has no place."""
    at, step = np.empty(block_column.shape[0], np.int64), np.empty(block_column.shape[0], np.int64)
    for i in range(row_start.shape[0] - 1):
        for slot in range(row_start[i], row_start[i + 1]):
            j = np.int64(block_column[slot])
            flip = node[i] > node[j]
            one, two = (j, np.int64(i)) if flip else (np.int64(i), j)
            place = _address(node, front, first, width, panel, position, member, member_start, column, one, two)
            if place < 0:
                return at, step, False
            at[slot], step[slot] = 2 * place + flip, width[front[one]]
    return at, step, True


@kernel
def place_singles(
    node, front, first, width, panel, position, member, member_start, column, single, owner,
    node_start, met_node, single_start, met_single,
):  # fmt: skip
    """Where the three numbers of single unknowns and nodes go and the step from one to the next (·,), and where the
    number of two single unknowns goes (·,); False when one has no place."""
    mixed, step = np.empty(met_node.shape[0], np.int64), np.empty(met_node.shape[0], np.int64)
    own = np.empty(met_single.shape[0], np.int64)
    for t in range(single.shape[0]):
        j = owner[t]
        for slot in range(node_start[t], node_start[t + 1]):
            i = np.int64(met_node[slot])
            if node[i] < node[j]:
                place = _address(node, front, first, width, panel, position, member, member_start, column, i, j)
                mixed[slot], step[slot] = place + single[t] - node[j], width[front[i]]
            else:
                place = _address(node, front, first, width, panel, position, member, member_start, column, j, i)
                mixed[slot], step[slot] = place + (single[t] - node[j]) * width[front[j]], 1
            if i == j:  # its column is that of the node, its row above that of the single unknown
                mixed[slot], step[slot] = place + single[t] - node[j], width[front[j]]
            if place < 0:
                return mixed, step, own, False
        for slot in range(single_start[t], single_start[t + 1]):
            s, r = np.int64(t), np.int64(met_single[slot])
            if single[s] > single[r]:
                s, r = r, s
            one, two = owner[s], owner[r]
            place = _address(node, front, first, width, panel, position, member, member_start, column, one, two)
            if place < 0:
                return mixed, step, own, False
            own[slot] = place + (single[s] - node[one]) * width[front[one]] + single[r] - node[two]
    return mixed, step, own, True


@kernel
def fill_fronts(at, step, blocks, mixed_at, mixed_step, mixed, own_at, own, values):
    """Write the values of a matrix to the places of its fronts, and zeros elsewhere."""
    values[:] = 0.0
    for q in range(at.shape[0]):
        to, wide = at[q] >> 1, step[q]
        if at[q] & 1:
            for a in range(3):
                for b in range(3):
                    values[to + a * wide + b] = blocks[q, b, a]
        else:
            for a in range(3):
                for b in range(3):
                    values[to + a * wide + b] = blocks[q, a, b]
    for q in range(mixed_at.shape[0]):
        for a in range(3):
            values[mixed_at[q] + a * mixed_step[q]] = mixed[q, a]
    for q in range(own_at.shape[0]):
        values[own_at[q]] = own[q]
