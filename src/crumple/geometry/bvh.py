"""A bounding-box tree for items of very uneven size: balanced, in heap order, built by median splits.

Node 1 is the root, node i has the children 2i and 2i + 1, and the nodes `leaf_count` … 2 `leaf_count` − 1 are the
leaves. Leaf l holds the items order[start[l] : start[l + 1]] (at most `LEAF_SIZE`). A box is (lo x, y, z, hi x, y, z),
stored in single precision and rounded outwards; further columns of the item boxes are carried along.

**Local queries from other compiled code**, one box at a time. Build the tree once over the faces, then

    tree = build_tree(swept_boxes(faces, x, x))            # in Python; `Tree` is a named tuple of arrays
    count = tree_query(tree, box, found, stack)            # faces whose boxes overlap box = (lo x, y, z, hi x, y, z)
    tree_grow(tree, face, box)                             # the face has moved or was replaced by an edit

and look at the faces found with `distance.triangle_distance` and `intersection.triangles_intersect`. Boxes only grow,
so a tree stays valid through any number of local edits; faces beyond the first ones need a new tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crumple.geometry.tuning import TUNING
from crumple.runtime.compiled import device, kernel, run_chunks
from crumple.runtime.typing import Ints

LEAF_SIZE = TUNING.tree_leaf_size.value
STACK_SIZE = TUNING.tree_stack_size.value
SERIAL_LEVELS = TUNING.tree_serial_levels.value


ROUNDING = TUNING.tree_rounding.value


class Tree(NamedTuple):
    """Boxes of the tree nodes, boxes of the items in leaf order, the items' order and its inverse, leaf ranges."""

    node_box: NDArray[np.float32]
    item_box: NDArray[np.float32]
    order: Ints
    place: Ints
    start: Ints


@device
def round_down(value):
    """A float32 surely below `value`."""
    return np.float32(value - ROUNDING * abs(value))


@device
def round_up(value):
    """A float32 surely above `value`."""
    return np.float32(value + ROUNDING * abs(value))


@device
def _select(order, centre, axis, first, last, middle):
    """Reorder items first … last − 1 so that the one at `middle` has its sorted place along `axis` (quickselect)."""
    low, high = first, last - 1
    while low < high:
        a, b, c = centre[low, axis], centre[(low + high) // 2, axis], centre[high, axis]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while centre[i, axis] < pivot:
                i += 1
            while centre[j, axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                for k in range(3):
                    centre[i, k], centre[j, k] = centre[j, k], centre[i, k]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@device
def _split(order, centre, first, last):
    """Sort items first … last − 1 into two halves along the longest axis; returns where the second starts."""
    ax = bx = centre[first, 0]
    ay = by = centre[first, 1]
    az = bz = centre[first, 2]
    for i in range(first + 1, last):
        x, y, z = centre[i, 0], centre[i, 1], centre[i, 2]
        ax, ay, az = min(ax, x), min(ay, y), min(az, z)
        bx, by, bz = max(bx, x), max(by, y), max(bz, z)
    axis = 0
    if by - ay > bx - ax:
        axis = 1
    if bz - az > max(bx - ax, by - ay):
        axis = 2
    middle = (first + last) // 2
    _select(order, centre, axis, first, last, middle)
    return middle


@device
def _split_node(order, centre, bound, node):
    """Split the items of one tree node between its children (`bound` holds first and last of each node)."""
    first, last = bound[node, 0], bound[node, 1]
    middle = (first + last) // 2
    if last - first > 1:
        middle = _split(order, centre, first, last)
    bound[2 * node, 0], bound[2 * node, 1] = first, middle
    bound[2 * node + 1, 0], bound[2 * node + 1, 1] = middle, last


@device
def _merge(box, node):
    """Box of a node from those of its children."""
    for k in range(3):
        box[node, k] = min(box[2 * node, k], box[2 * node + 1, k])
        box[node, 3 + k] = max(box[2 * node, 3 + k], box[2 * node + 1, 3 + k])


@kernel
def _start(box, leaves):
    """Working arrays of a build, with the top levels split: order, place, centres, ranges, boxes, subtree roots."""
    n = box.shape[0]
    order = np.empty(n, np.int32)
    centre = np.empty((n, 3), np.float32)
    for i in range(n):
        order[i] = i
        for k in range(3):
            centre[i, k] = box[i, k] + box[i, 3 + k]
    bound = np.zeros((2 * leaves, 2), np.int32)
    bound[1, 1] = n
    top = min(leaves, 1 << SERIAL_LEVELS)
    for node in range(1, top):
        _split_node(order, centre, bound, node)
    return (
        order,
        np.empty(n, np.int32),
        centre,
        bound,
        np.empty((2 * leaves, 6), np.float32),
        np.empty(box.shape, np.float32),
        top,
    )


@device
def _fill_leaf(box, order, place, bound, node_box, item_box, leaf):
    """Boxes of one leaf and of its items."""
    for k in range(3):
        node_box[leaf, k], node_box[leaf, 3 + k] = np.inf, -np.inf
    for i in range(bound[leaf, 0], bound[leaf, 1]):
        item = order[i]
        place[item] = i
        for k in range(box.shape[1]):
            item_box[i, k] = box[item, k]
        for k in range(3):
            node_box[leaf, k] = min(node_box[leaf, k], box[item, k])
            node_box[leaf, 3 + k] = max(node_box[leaf, 3 + k], box[item, 3 + k])


@kernel
def _build_subtrees(offset, step, box, order, place, centre, bound, node_box, item_box, top):
    """Split the items below the roots top … 2 top − 1 and compute all their boxes."""
    leaves = bound.shape[0] // 2
    for root in range(top + offset, 2 * top, step):
        first, last = root, root + 1
        while first < leaves:
            for node in range(first, last):
                _split_node(order, centre, bound, node)
            first, last = 2 * first, 2 * last
        for leaf in range(first, last):
            _fill_leaf(box, order, place, bound, node_box, item_box, leaf)
        while first > root:
            first, last = first // 2, last // 2
            for node in range(first, last):
                _merge(node_box, node)


@kernel
def _finish(bound, node_box, top):
    """Boxes of the top levels; returns the leaf ranges."""
    for node in range(top - 1, 0, -1):
        _merge(node_box, node)
    leaves = bound.shape[0] // 2
    start = np.empty(leaves + 1, np.int32)
    for leaf in range(leaves):
        start[leaf] = bound[leaves + leaf, 0]
    start[leaves] = bound[1, 1]
    return start


def build_tree(box: NDArray[np.float32]) -> Tree:
    """The `Tree` over items with the boxes `box` (n, 6 or more columns) float32 [m]; depends on the boxes only."""
    leaves = 1
    while leaves * LEAF_SIZE < len(box):
        leaves *= 2
    order, place, centre, bound, node_box, item_box, top = _start(box, leaves)
    run_chunks(_build_subtrees, top, box, order, place, centre, bound, node_box, item_box, top)
    return Tree(node_box, item_box, order, place, _finish(bound, node_box, top))


@device
def refit(node_box, item_box, order, start, box):
    """Fit the boxes of a tree to items with the bounds `box` (n, columns): a tenth of the time of building it."""
    leaves = start.shape[0] - 1
    for leaf in range(leaves):
        own = node_box[leaves + leaf]
        for k in range(3):
            own[k], own[3 + k] = np.inf, -np.inf
        for i in range(start[leaf], start[leaf + 1]):
            item, into = box[order[i]], item_box[i]
            for k in range(box.shape[1]):
                into[k] = item[k]
            for k in range(3):
                own[k], own[3 + k] = min(own[k], item[k]), max(own[3 + k], item[3 + k])
    for node in range(leaves - 1, 0, -1):
        for k in range(3):
            node_box[node, k] = min(node_box[2 * node, k], node_box[2 * node + 1, k])
            node_box[node, 3 + k] = max(node_box[2 * node, 3 + k], node_box[2 * node + 1, 3 + k])


@kernel
def _refitted(order, start, box):
    """Boxes of the nodes and of the items of a tree over items with other bounds."""
    node_box, item_box = np.empty((2 * (start.shape[0] - 1), 6), np.float32), np.empty(box.shape, np.float32)
    refit(node_box, item_box, order, start, box)
    return node_box, item_box


def refit_tree(tree: Tree, box: NDArray[np.float32]) -> Tree:
    """The tree over the same items, which now have the boxes `box` (n, 6 or more columns) float32 [m]."""
    node_box, item_box = _refitted(tree.order, tree.start, box)
    return tree._replace(node_box=node_box, item_box=item_box)


@device
def box_overlaps(box, boxes, i):
    """Whether the closed box of six numbers overlaps boxes[i]; without branches, because the outcome is random."""
    return (
        (box[0] <= boxes[i, 3])
        & (boxes[i, 0] <= box[3])
        & (box[1] <= boxes[i, 4])
        & (boxes[i, 1] <= box[4])
        & (box[2] <= boxes[i, 5])
        & (boxes[i, 2] <= box[5])
    )


@device
def find_leaf(start, place):
    """The leaf that holds the item at `place` of the order, for the leaf ranges `start`."""
    low, high = 0, start.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if start[middle] <= place:
            low = middle
        else:
            high = middle
    return low


@kernel
def tree_query(tree, box, found, stack):
    """How many items overlap the box of six numbers [m]; the first len(found) of them are written to `found` (int32).

    `stack` is int32 scratch of `STACK_SIZE`. A result larger than len(found) means that `found` was too short.
    """
    leaves = tree.start.shape[0] - 1
    count, depth = 0, 1
    stack[0] = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if not box_overlaps(box, tree.node_box, node):
            continue
        if node < leaves:
            stack[depth], stack[depth + 1] = 2 * node + 1, 2 * node
            depth += 2
            continue
        for i in range(tree.start[node - leaves], tree.start[node - leaves + 1]):
            if box_overlaps(box, tree.item_box, i):
                if count < found.shape[0]:
                    found[count] = tree.order[i]
                count += 1
    return count


@kernel
def tree_grow(tree, item, box):
    """Enlarge the box of `item` and of all nodes above it so that it contains the box of six numbers [m]."""
    i = tree.place[item]
    _grow(tree.item_box, i, box)
    node = tree.start.shape[0] - 1 + find_leaf(tree.start, np.int64(i))
    while node > 0:
        _grow(tree.node_box, node, box)
        node //= 2


@device
def _grow(boxes, i, box):
    """Enlarge boxes[i] by a box of six numbers."""
    for k in range(3):
        boxes[i, k] = min(boxes[i, k], round_down(box[k]))
        boxes[i, 3 + k] = max(boxes[i, 3 + k], round_up(box[3 + k]))
