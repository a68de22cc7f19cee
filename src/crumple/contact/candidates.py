"""Broad phase: the pairs (node, face) and (edge, edge) that come near each other while x moves from x0 to x1.

Boxes around the swept primitives are put in one tree each for sheet faces, sheet edges, obstacle faces and obstacle
edges (so large obstacle triangles do not blow up the sheet's tree) and queried in parallel. Pairs that share a node
and pairs of two obstacle primitives are never reported.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from crumple.contact.bvh import STACK_SIZE, Tree, boxes_overlap, build_tree
from crumple.contact.surface import Surface
from crumple.typing import Floats, Ints

CHUNK = 64
"""Queries handled together by one thread."""
FIRST_PASS = 32
"""Hits per query kept in the counting pass; only queries with more are traversed again."""


class Candidates(NamedTuple):
    """`point_face` (n, 2) = (node, face) and `edge_edge` (m, 2) = (edge, edge) of the surface, int32.

    Ordered by query (sheet–sheet, then sheet–obstacle, obstacle–sheet), independent of the number of threads.
    """

    point_face: Ints
    edge_edge: Ints

    @property
    def count(self) -> int:
        """Number of pairs."""
        return len(self.point_face) + len(self.edge_edge)


@njit(cache=True)
def swept_boxes(nodes, x0, x1, inflation):
    """Boxes (n, 6) [m] of the primitives `nodes` (n, k) moving from x0 to x1, enlarged by `inflation` [m]."""
    n, k = nodes.shape
    box = np.empty((n, 6))
    for i in range(n):
        for axis in range(3):
            low, high = np.inf, -np.inf
            for j in range(k):
                a, b = x0[nodes[i, j], axis], x1[nodes[i, j], axis]
                low, high = min(low, a, b), max(high, a, b)
            box[i, axis], box[i, 3 + axis] = low - inflation, high + inflation
    return box


@njit(cache=True)
def _share_node(a, i, b, j):
    """Whether the primitives a[i] and b[j] have a node in common."""
    for k in range(a.shape[1]):
        for m in range(b.shape[1]):
            if a[i, k] == b[j, m]:
                return True
    return False


@njit(cache=True)
def _push_start(tree, query, own, stack):
    """Put the subtrees to visit on the stack: all of the tree or, among its own items, those to the right of `query`.

    Returns (number of entries, leaf of the query or −1).
    """
    if not own:
        stack[0] = 1
        return 1, -1
    leaves = tree.start.shape[0] - 1
    node = leaves + query[1]
    depth = 0
    while node > 1:
        if node % 2 == 0:
            stack[depth] = node + 1
            depth += 1
        node //= 2
    return depth, query[1]


@njit(cache=True)
def _visit(tree, items, first, last, nodes, box, q, hits, count):
    """Add the items at the places first … last − 1 that overlap query q to `hits`; returns the new count."""
    for i in range(first, last):
        if boxes_overlap(box, q, tree.item_box, i):
            item = tree.order[i]
            if not _share_node(nodes, q, items, item):
                if count < hits.shape[0]:
                    hits[count] = item
                count += 1
    return count


@njit(cache=True)
def _collect(tree, items, nodes, box, q, own, leaf, hits, stack):
    """Number of items near query q; the first len(hits) are written to `hits`. `own`: the queries are the items."""
    leaves = tree.start.shape[0] - 1
    count = 0
    depth, home = _push_start(tree, (q, leaf), own, stack)
    if home >= 0:
        count = _visit(tree, items, tree.place[q] + 1, tree.start[home + 1], nodes, box, q, hits, count)
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if not boxes_overlap(box, q, tree.node_box, node):
            continue
        if node < leaves:
            stack[depth], stack[depth + 1] = 2 * node + 1, 2 * node
            depth += 2
        else:
            leaf = node - leaves
            count = _visit(tree, items, tree.start[leaf], tree.start[leaf + 1], nodes, box, q, hits, count)
    return count


@njit(cache=True, parallel=True)
def find_pairs(tree, items, nodes, box, own):
    """Pairs (query, item) (n, 2) whose boxes overlap and that share no node, ordered by query.

    `items` (m, k) nodes of the tree's items, `nodes` (q, k) nodes and `box` (q, 6) boxes of the queries;
    `own`: the queries are the items themselves and each pair is reported once.
    """
    n = box.shape[0]
    chunks = (n + CHUNK - 1) // CHUNK
    leaf_of = np.zeros(n if own else 1, np.int32)
    if own:
        for leaf in range(tree.start.shape[0] - 1):
            for i in range(tree.start[leaf], tree.start[leaf + 1]):
                leaf_of[tree.order[i]] = leaf
    count = np.zeros(n, np.int64)
    kept = np.empty((n, FIRST_PASS), np.int32)
    for c in prange(chunks):
        stack = np.empty(STACK_SIZE, np.int32)
        for k in range(c * CHUNK, min(n, (c + 1) * CHUNK)):
            q = tree.order[k] if own else k
            count[q] = _collect(tree, items, nodes, box, q, own, leaf_of[q if own else 0], kept[q], stack)
    offset = np.zeros(n + 1, np.int64)
    for q in range(n):
        offset[q + 1] = offset[q] + count[q]
    pairs = np.empty((offset[n], 2), np.int32)
    for c in prange(chunks):
        stack = np.empty(STACK_SIZE, np.int32)
        for q in range(c * CHUNK, min(n, (c + 1) * CHUNK)):
            at = offset[q]
            if count[q] > FIRST_PASS:
                hits = np.empty(count[q], np.int32)
                _collect(tree, items, nodes, box, q, own, leaf_of[q if own else 0], hits, stack)
                for j in range(count[q]):
                    pairs[at + j, 0], pairs[at + j, 1] = q, hits[j]
            else:
                for j in range(count[q]):
                    pairs[at + j, 0], pairs[at + j, 1] = q, kept[q, j]
    return pairs


def find_candidates(surface: Surface, x0: Floats, x1: Floats, inflation: float) -> Candidates:
    """All pairs that may come within `inflation` [m] of each other while x moves from x0 to x1 (node_count, 3) [m].

    For the barrier, `inflation` must be at least `surface.reach`. Give x0 twice for a fixed pose.
    """
    sheet_faces, other_faces = np.split(surface.faces, [surface.dynamic_faces])
    sheet_edges, other_edges = np.split(surface.edges, [surface.dynamic_edges])
    point = surface.points[:, None]
    border = int(np.searchsorted(surface.points, surface.dynamic_count))
    sheet_points, other_points = np.ascontiguousarray(point[:border]), np.ascontiguousarray(point[border:])

    face_tree = build_tree(swept_boxes(sheet_faces, x0, x1, 0.0))
    edge_tree = build_tree(swept_boxes(sheet_edges, x0, x1, 0.0))
    point_box = swept_boxes(sheet_points, x0, x1, inflation)
    edge_box = swept_boxes(sheet_edges, x0, x1, inflation)
    point_face = [_named(find_pairs(face_tree, sheet_faces, sheet_points, point_box, False), sheet_points, 0)]
    edge_edge = [find_pairs(edge_tree, sheet_edges, sheet_edges, edge_box, True)]
    if len(other_faces):
        tree = _obstacle_tree(other_faces, x0, x1)
        pairs = find_pairs(tree, other_faces, sheet_points, point_box, False)
        point_face.append(_named(pairs, sheet_points, surface.dynamic_faces))
        other_box = swept_boxes(other_points, x0, x1, inflation)
        point_face.append(_named(find_pairs(face_tree, sheet_faces, other_points, other_box, False), other_points, 0))
        tree = _obstacle_tree(other_edges, x0, x1)
        pairs = find_pairs(tree, other_edges, sheet_edges, edge_box, False)
        pairs[:, 1] += surface.dynamic_edges
        edge_edge.append(pairs)
    return Candidates(_join(point_face), _join(edge_edge))


def _obstacle_tree(nodes: Ints, x0: Floats, x1: Floats) -> Tree:
    return build_tree(swept_boxes(nodes, x0, x1, 0.0))


def _named(pairs: Ints, points: Ints, first_face: int) -> Ints:
    """Turn (query, item) into (node, face)."""
    pairs[:, 0] = points[pairs[:, 0], 0]
    pairs[:, 1] += first_face
    return pairs


def _join(parts: list[Ints]) -> Ints:
    return parts[0] if len(parts) == 1 else np.ascontiguousarray(np.concatenate(parts))
