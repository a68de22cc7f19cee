"""The order in which the nodes of a small matrix are eliminated, and what each then meets: on bit sets, compiled.

Sets of nodes are rows of 64-bit words. Eliminating a node joins its neighbours to each other, which is an *or* of
rows, so the graph can be kept exactly and the node of least degree is the true one [George1989]. What is left in a row
when its node is eliminated is the structure of its column: the ordering is at once the symbolic factorisation.

For a thousand nodes this takes less than a millisecond. The time grows with the cube of their number.
"""

from __future__ import annotations

import numpy as np

from crumple.runtime.compiled import device

ONE = np.uint64(1)
ZERO = np.uint64(0)
_ODD, _PAIRS, _NIBBLES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)
_S1, _S2, _S4, _S56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
NONE = -1


@device
def count_bits(word):
    """The number of bits that are set in a word."""
    word = word - ((word >> _S1) & _ODD)
    word = (word & _PAIRS) + ((word >> _S2) & _PAIRS)
    word = (word + (word >> _S4)) & _NIBBLES
    return np.int64((word * _BYTES) >> _S56)


@device
def lowest_bit(word):
    """The place of the lowest bit that is set in a word other than zero."""
    return count_bits((word & (~word + ONE)) - ONE)


@device
def join(graph, i, j):
    """Make nodes i and j neighbours in `graph` (n, words)."""
    if i != j:
        graph[i, j >> 6] |= ONE << np.uint64(j & 63)
        graph[j, i >> 6] |= ONE << np.uint64(i & 63)


@device
def count_row(row):
    """The number of nodes in a set (words,)."""
    total = 0
    for k in range(row.shape[0]):
        total += count_bits(row[k])
    return total


@device
def absorb(graph, node, into):
    """Let `into` have the neighbours of `node`, which goes; how many it has then."""
    row, gone = graph[into], graph[node]
    row[node >> 6] &= ~(ONE << np.uint64(node & 63))
    for k in range(row.shape[0]):
        row[k] |= gone[k]
    row[into >> 6] &= ~(ONE << np.uint64(into & 63))
    return count_row(row)


@device
def order_nodes(graph, order, rank):
    """Eliminate the nodes of `graph` (n, words), each time the first of those with the fewest neighbours left.

    Fills `order` (n,) with the nodes and `rank` (n,) with their places; graph[v] becomes the later nodes that v meets.
    """
    n, words = graph.shape
    degree, alive = np.empty(n, np.int64), np.arange(n)
    for v in range(n):
        degree[v] = count_row(graph[v])
    for step in range(n):
        left = n - step
        at = 0
        for k in range(1, left):
            if degree[alive[k]] < degree[alive[at]]:
                at = k
        v = alive[at]
        alive[at] = alive[left - 1]
        order[step], rank[v] = v, step
        for w in range(words):
            bits = graph[v, w]
            while bits != ZERO:
                u = 64 * w + lowest_bit(bits)
                bits &= bits - ONE
                degree[u] = absorb(graph, v, u)


@device
def find_parents(graph, order, rank, size, parent, height):
    """The tree of elimination: `parent` (n,) is the first later node that a node meets, or −1; `height` (n,) the
    unknowns that it meets, by the `size` (n,) of the nodes."""
    n, words = graph.shape
    for v in range(n):
        first, height[v] = n, 0
        for w in range(words):
            bits = graph[v, w]
            while bits != ZERO:
                u = 64 * w + lowest_bit(bits)
                bits &= bits - ONE
                height[v] += size[u]
                first = min(first, rank[u])
        parent[v] = order[first] if first < n else NONE


@device
def order_depth_first(order, parent, height, sequence):
    """The nodes in an order in which subtrees are in one piece, `sequence` (n,): children before their parents, and
    the child that meets most unknowns last, because it is the likeliest to be joined with its parent."""
    n = order.shape[0]
    first, following, largest = np.full(n, NONE), np.full(n, NONE), np.full(n, NONE)
    for s in range(n):
        v = order[s]
        p = parent[v]
        if p != NONE and (largest[p] == NONE or height[v] > height[largest[p]]):
            largest[p] = v
    for s in range(n):  # a list is filled from its end, so the child that comes last goes in first
        p = order[s]
        if largest[p] != NONE:
            first[p] = largest[p]
    for s in range(n):
        v = order[s]
        p = parent[v]
        if p != NONE and largest[p] != v:
            following[v] = first[p]
            first[p] = v
    stack, count = np.empty(n + 1, np.int64), 0
    for s in range(n):
        if parent[order[s]] != NONE:
            continue
        depth, stack[0] = 1, order[s]
        while depth > 0:
            v = stack[depth - 1]
            child = first[v]
            if child != NONE:
                first[v] = following[child]
                stack[depth] = child
                depth += 1
            else:
                depth -= 1
                sequence[count] = v
                count += 1
