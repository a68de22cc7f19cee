"""A bounding-box tree for items of very uneven size: balanced, in heap order, built by median splits.

Node 1 is the root, node i has the children 2i and 2i + 1, and the nodes `leaf_count` … 2 `leaf_count` − 1 are the
leaves. Leaf l holds the items order[start[l] : start[l + 1]] (at most `LEAF_SIZE`). A box is (lo x, y, z, hi x, y, z).

Compiled code may query and edit a tree directly, one box at a time:

    count = tree_query(tree, box, found, stack)   # items whose boxes overlap `box`; see its docstring
    tree_grow(tree, item, box)                    # the item has moved or was replaced: enlarge its box and all above

so that an algorithm with local edits (remeshing) builds one tree over its faces and keeps it valid as it goes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from crumple.typing import Floats, Ints

LEAF_SIZE = 4
"""Most items in a leaf."""
STACK_SIZE = 64
"""Entries that a traversal needs at most: one per level."""
SERIAL_LEVELS = 4
"""Levels split one after the other before the subtrees are split in parallel."""


class Tree(NamedTuple):
    """Boxes of the tree nodes, boxes of the items in leaf order, the items' order and its inverse, leaf ranges."""

    node_box: Floats
    item_box: Floats
    order: Ints
    place: Ints
    start: Ints


@njit(cache=True)
def _select(order, centre, axis, first, last, middle):
    """Reorder order[first:last] so that the item at `middle` has its sorted place along `axis` (quickselect)."""
    low, high = first, last - 1
    while low < high:
        a, b, c = centre[order[low], axis], centre[order[(low + high) // 2], axis], centre[order[high], axis]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while centre[order[i], axis] < pivot:
                i += 1
            while centre[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(cache=True)
def _split(order, centre, first, last):
    """Sort order[first:last] into two halves at the median of the longest axis; returns where the second starts."""
    axis, longest = 0, -1.0
    for k in range(3):
        low = high = centre[order[first], k]
        for i in range(first + 1, last):
            value = centre[order[i], k]
            low, high = min(low, value), max(high, value)
        if high - low > longest:
            axis, longest = k, high - low
    middle = (first + last) // 2
    _select(order, centre, axis, first, last, middle)
    return middle


@njit(cache=True)
def _split_level(order, centre, bound, node):
    """Split the items of one tree node between its children (`bound` holds first and last of each node)."""
    first, last = bound[node, 0], bound[node, 1]
    middle = (first + last) // 2
    if last - first > 1:
        middle = _split(order, centre, first, last)
    bound[2 * node, 0], bound[2 * node, 1] = first, middle
    bound[2 * node + 1, 0], bound[2 * node + 1, 1] = middle, last


@njit(cache=True)
def _merge(box, node):
    """Box of a node from those of its children."""
    for k in range(3):
        box[node, k] = min(box[2 * node, k], box[2 * node + 1, k])
        box[node, 3 + k] = max(box[2 * node, 3 + k], box[2 * node + 1, 3 + k])


@njit(cache=True, parallel=True)
def build_tree(box):
    """The `Tree` over items with the boxes `box` (n, 6) [m]; depends on the boxes only."""
    n = box.shape[0]
    leaves = 1
    while leaves * LEAF_SIZE < n:
        leaves *= 2
    order = np.empty(n, np.int32)
    centre = np.empty((n, 3))
    for i in range(n):
        order[i] = i
        for k in range(3):
            centre[i, k] = box[i, k] + box[i, 3 + k]
    bound = np.zeros((2 * leaves, 2), np.int32)
    bound[1, 1] = n
    top = min(leaves, 1 << SERIAL_LEVELS)
    for node in range(1, top):
        _split_level(order, centre, bound, node)
    node_box = np.empty((2 * leaves, 6))
    item_box = np.empty((n, 6))
    place = np.empty(n, np.int32)
    for root in prange(top, 2 * top):
        first, last = root, root + 1
        while first < leaves:
            for node in range(first, last):
                _split_level(order, centre, bound, node)
            first, last = 2 * first, 2 * last
        for leaf in range(first, last):
            for k in range(3):
                node_box[leaf, k], node_box[leaf, 3 + k] = np.inf, -np.inf
            for i in range(bound[leaf, 0], bound[leaf, 1]):
                item = order[i]
                place[item] = i
                for k in range(3):
                    item_box[i, k], item_box[i, 3 + k] = box[item, k], box[item, 3 + k]
                    node_box[leaf, k] = min(node_box[leaf, k], box[item, k])
                    node_box[leaf, 3 + k] = max(node_box[leaf, 3 + k], box[item, 3 + k])
        while first > root:
            first, last = first // 2, last // 2
            for node in range(first, last):
                _merge(node_box, node)
    for node in range(top - 1, 0, -1):
        _merge(node_box, node)
    start = np.empty(leaves + 1, np.int32)
    for leaf in range(leaves):
        start[leaf] = bound[leaves + leaf, 0]
    start[leaves] = n
    return Tree(node_box, item_box, order, place, start)


@njit(cache=True)
def boxes_overlap(a, i, b, j):
    """Whether the closed boxes a[i] and b[j] overlap."""
    return (
        a[i, 0] <= b[j, 3]
        and b[j, 0] <= a[i, 3]
        and a[i, 1] <= b[j, 4]
        and b[j, 1] <= a[i, 4]
        and a[i, 2] <= b[j, 5]
        and b[j, 2] <= a[i, 5]
    )


@njit(cache=True)
def tree_query(tree, box, found, stack):
    """How many items overlap box[0], `box` (1, 6) [m]; the first len(found) of them are written to `found` (int32).

    `stack` is int32 scratch of `STACK_SIZE`. A result larger than len(found) means that `found` was too short.
    """
    leaves = tree.start.shape[0] - 1
    count, depth = 0, 1
    stack[0] = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if not boxes_overlap(box, 0, tree.node_box, node):
            continue
        if node < leaves:
            stack[depth], stack[depth + 1] = 2 * node + 1, 2 * node
            depth += 2
            continue
        for i in range(tree.start[node - leaves], tree.start[node - leaves + 1]):
            if boxes_overlap(box, 0, tree.item_box, i):
                if count < found.shape[0]:
                    found[count] = tree.order[i]
                count += 1
    return count


@njit(cache=True)
def tree_grow(tree, item, box):
    """Enlarge the box of `item` (and of all nodes above it) so that it contains box[0], `box` (1, 6) [m]."""
    i = tree.place[item]
    for k in range(3):
        tree.item_box[i, k] = min(tree.item_box[i, k], box[0, k])
        tree.item_box[i, 3 + k] = max(tree.item_box[i, 3 + k], box[0, 3 + k])
    leaves = tree.start.shape[0] - 1
    low, high = 0, leaves  # the last leaf that starts at or before i
    while high - low > 1:
        middle = (low + high) // 2
        if tree.start[middle] <= i:
            low = middle
        else:
            high = middle
    node = leaves + low
    while node > 0:
        for k in range(3):
            tree.node_box[node, k] = min(tree.node_box[node, k], box[0, k])
            tree.node_box[node, 3 + k] = max(tree.node_box[node, 3 + k], box[0, 3 + k])
        node //= 2
