"""Broad phase: the pairs (node, face) and (edge, edge) that come near each other while x moves from x0 to x1.

Boxes around the swept primitives are put in one tree each for sheet faces, sheet edges, obstacle faces and obstacle
edges (so large obstacle triangles do not blow up the sheet's tree) and queried in parallel. Pairs that share a node
and pairs of two obstacle primitives are never reported.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crumple.contact.surface import Surface
from crumple.contact.tuning import TUNING
from crumple.geometry.bvh import STACK_SIZE, Tree, box_overlaps, build_tree, find_leaf, refit_tree, round_down, round_up
from crumple.runtime.compiled import device, kernel, run_chunks
from crumple.runtime.remembered import Equal, Remembered
from crumple.runtime.typing import Floats, Ints

CHUNK = TUNING.queries_per_chunk.value
FIRST_PASS = TUNING.first_pass_hits.value
SQRT2 = 2.0**0.5

Boxes: TypeAlias = NDArray[np.float32]
"""Bounds by `swept_boxes`, (n, 18) [m]."""


class Candidates(NamedTuple):
    """`point_face` (n, 2) = (node, face) and `edge_edge` (m, 2) = (edge, edge) of the surface, int32.

    Ordered by query (sheet–sheet, then sheet–obstacle, obstacle–sheet), independent of the number of threads.
    """

    point_face: Ints
    edge_edge: Ints

    @property
    def pair_count(self) -> int:
        """Number of pairs of both kinds."""
        return len(self.point_face) + len(self.edge_edge)


@kernel
def swept_boxes(nodes, x0, x1):
    """Bounds (n, 18) float32 [m], rounded outwards, of the primitives `nodes` (n, k) moving from x0 to x1.

    Columns 0–5: box (lo x, y, z, hi x, y, z); 6–17: the same for (x+y, y+z, z+x) and for (x−y, y−z, z−x). The
    oblique bounds remove half of the pairs whose boxes overlap. Single precision halves the memory to walk through.
    """
    n, k = nodes.shape
    box = np.empty((n, 18), np.float32)
    for i in range(n):
        for j in range(3):
            a0 = b0 = c0 = np.inf
            a1 = b1 = c1 = -np.inf
            for m in range(2 * k):
                node = nodes[i, m // 2]
                x = x1 if m % 2 else x0
                a, b = x[node, j], x[node, (j + 1) % 3]
                a0, a1 = min(a0, a), max(a1, a)
                b0, b1 = min(b0, a + b), max(b1, a + b)
                c0, c1 = min(c0, a - b), max(c1, a - b)
            box[i, j], box[i, 3 + j] = round_down(a0), round_up(a1)
            box[i, 6 + j], box[i, 9 + j] = round_down(b0), round_up(b1)
            box[i, 12 + j], box[i, 15 + j] = round_down(c0), round_up(c1)
    return box


@device
def _inflated(box, i, by):
    """The box of row i as six numbers, enlarged by `by`."""
    return (
        round_down(box[i, 0] - by),
        round_down(box[i, 1] - by),
        round_down(box[i, 2] - by),
        round_up(box[i, 3] + by),
        round_up(box[i, 4] + by),
        round_up(box[i, 5] + by),
    )


@device
def _oblique_overlap(a, i, b, j, by):
    """Whether the oblique bounds of rows a[i] and b[j] are within `by` (float32) [m], without branches."""
    return (
        (a[i, 6] <= b[j, 9] + by)
        & (b[j, 6] <= a[i, 9] + by)
        & (a[i, 7] <= b[j, 10] + by)
        & (b[j, 7] <= a[i, 10] + by)
        & (a[i, 8] <= b[j, 11] + by)
        & (b[j, 8] <= a[i, 11] + by)
        & (a[i, 12] <= b[j, 15] + by)
        & (b[j, 12] <= a[i, 15] + by)
        & (a[i, 13] <= b[j, 16] + by)
        & (b[j, 13] <= a[i, 16] + by)
        & (a[i, 14] <= b[j, 17] + by)
        & (b[j, 14] <= a[i, 17] + by)
    )


@device
def collect_hits(node_box, leaf_box, order, start, items, nodes, query_box, q, by, leaf, after, hits, stack):
    """Number of items within `by` [m] of query q that do not share a node with it.

    The first len(hits) of them are written to `hits`. With leaf ≥ 0, only the items after place `after`, which is in
    that leaf, are visited: then each pair of the tree's own items is found once.
    """
    box, one, two = _inflated(query_box, q, by), nodes[q, 0], nodes[q, nodes.shape[1] - 1]
    oblique = round_up(SQRT2 * by)
    leaves = start.shape[0] - 1
    count, depth = 0, 1
    stack[0] = 1 if leaf < 0 else leaves + leaf
    node = stack[0]
    while node > 1:  # the subtrees to the right of the leaf
        if node % 2 == 0 and box_overlaps(box, node_box, node + 1):
            stack[depth] = node + 1
            depth += 1
        node //= 2
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if node < leaves:
            for child in range(2 * node, 2 * node + 2):
                if box_overlaps(box, node_box, child):
                    stack[depth] = child
                    depth += 1
            continue
        for i in range(max(start[node - leaves], after + 1), start[node - leaves + 1]):
            # One branch for box and nodes together: each alone is hard to predict.
            if (
                box_overlaps(box, leaf_box, i)
                & (items[i, 0] != one)
                & (items[i, 1] != one)
                & (items[i, 2] != one)
                & (items[i, 0] != two)
                & (items[i, 1] != two)
                & (items[i, 2] != two)
            ) and _oblique_overlap(query_box, q, leaf_box, i, oblique):
                if count < hits.shape[0]:
                    hits[count] = order[i]
                count += 1
    return count


@kernel
def _scan(first, step, tree, items, nodes, box, by, own, kept, offset, pairs):
    """Without `pairs`: count hits into offset[1:] and keep the first ones; with it: write all pairs."""
    # The arrays of the tree are taken out once: see `compiled`.
    node_box, leaf_box, order, start = tree.node_box, tree.item_box, tree.order, tree.start
    stack = np.empty(STACK_SIZE, np.int32)
    counting = pairs.shape[0] == 0
    n = box.shape[0]
    for chunk in range(first * CHUNK, n, step * CHUNK):
        for k in range(chunk, min(n, chunk + CHUNK)):
            q, leaf, after = np.int64(k), -1, -1
            if own:
                q, leaf, after = np.int64(order[k]), find_leaf(start, k), k
            hits = kept[q]
            count = FIRST_PASS + 1 if counting else offset[q + 1] - offset[q]
            if count > FIRST_PASS:
                if not counting:
                    hits = np.empty(count, np.int32)
                count = collect_hits(
                    node_box, leaf_box, order, start, items, nodes, box, q, by, leaf, after, hits, stack
                )  # fmt: skip
            if counting:
                offset[q + 1] = count
            else:
                for j in range(count):
                    pairs[offset[q] + j, 0], pairs[offset[q] + j, 1] = q, hits[j]


class Group(NamedTuple):
    """Primitives of one kind: nodes, bounds, tree, and nodes (n, 3) in the tree's order (edges repeat a node)."""

    nodes: Ints
    box: Boxes
    tree: Tree
    sorted_nodes: Ints


def make_group(nodes: Ints, x0: Floats, x1: Floats) -> Group:
    """Bounds and tree of the primitives `nodes` (n, k) moving from x0 to x1 [m]."""
    box = swept_boxes(nodes, x0, x1)
    tree = build_tree(box)
    return Group(nodes, box, tree, nodes[tree.order[:, None], [0, 1, nodes.shape[1] - 1]])


def _refitted(group: Group, x0: Floats, x1: Floats) -> Group:
    """The same primitives moving from x0 to x1 [m]."""
    box = swept_boxes(group.nodes, x0, x1)
    return group._replace(box=box, tree=refit_tree(group.tree, box))


def find_pairs(group: Group, nodes: Ints, box: Boxes, inflation: float, own: bool = False) -> Ints:
    """Pairs (query, item of the group) (n, 2) within `inflation` [m] that share no node, ordered by query.

    `nodes` (q, k) and `box` (q, 18) describe the queries; `own`: the queries are the items of the group themselves
    and each pair is reported once.
    """
    n = len(box)
    offset, kept = np.zeros(n + 1, np.int64), np.empty((n, FIRST_PASS), np.int32)
    query = (group.tree, group.sorted_nodes, nodes, box, inflation, own, kept, offset)
    chunks = -(-n // CHUNK)
    run_chunks(_scan, chunks, *query, np.empty((0, 2), np.int32))
    np.cumsum(offset, out=offset)
    pairs = np.empty((offset[n], 2), np.int32)
    if len(pairs):
        run_chunks(_scan, chunks, *query, pairs)
    return pairs


_RESTING: Remembered[tuple[Group, Group, Boxes]] = Remembered(2)
"""The trees of obstacles that rest, by their surface and where they are: many never move."""


class SurfaceTrees:
    """Bounds and trees of one surface: those of its obstacles are kept while they rest, those of its sheets are built
    for the first pose and then fitted to others.

    Obstacles move once per step and then stay where they are for all iterations; many never move at all.
    """

    def __init__(self) -> None:
        self._x: Floats | None = None
        self._kept: tuple[Group, Group, Boxes] | None = None
        self._sheets: Trees | None = None

    def sheets(self, surface: Surface, x0: Floats, x1: Floats) -> Trees:
        """The trees of the sheets while x moves from x0 to x1 (node_count, 3) [m]."""
        if self._sheets is None:
            self._sheets = sheet_trees(surface, x0, x1)
            return self._sheets
        return Trees(*(_refitted(group, x0, x1) for group in self._sheets))

    def groups(self, surface: Surface, x0: Floats, x1: Floats) -> tuple[Group, Group, Boxes]:
        """Faces, edges and the bounds of the points of the obstacles while x moves from x0 to x1."""
        start, end = x0[surface.dynamic_count :], x1[surface.dynamic_count :]
        if not np.array_equal(start, end):
            return _make_groups(surface, x0, x1)
        if self._kept is None or self._x is None or not np.array_equal(start, self._x):
            self._kept = _RESTING.find((surface, Equal(start.tobytes())), lambda: _make_groups(surface, x0, x1))
            self._x = start.copy()
        return self._kept


def _make_groups(surface: Surface, x0: Floats, x1: Floats) -> tuple[Group, Group, Boxes]:
    """Faces, edges and the bounds of the points of the obstacles."""
    faces = make_group(surface.faces[surface.dynamic_faces :], x0, x1)
    edges = make_group(surface.edges[surface.dynamic_edges :], x0, x1)
    return faces, edges, swept_boxes(obstacle_points(surface), x0, x1)


def obstacle_points(surface: Surface) -> Ints:
    """The obstacles' nodes that can touch, (n, 1)."""
    border = int(np.searchsorted(surface.points, surface.dynamic_count))
    return np.ascontiguousarray(surface.points[border:, None])


def sheet_points(surface: Surface) -> Ints:
    """The sheets' nodes that can touch, (n, 1)."""
    border = int(np.searchsorted(surface.points, surface.dynamic_count))
    return np.ascontiguousarray(surface.points[:border, None])


class Trees(NamedTuple):
    """Faces and edges of the sheets."""

    faces: Group
    edges: Group


def sheet_trees(surface: Surface, x0: Floats, x1: Floats) -> Trees:
    """The trees of the sheets while x moves from x0 to x1 (node_count, 3) [m]."""
    faces = make_group(surface.faces[: surface.dynamic_faces], x0, x1)
    return Trees(faces, make_group(surface.edges[: surface.dynamic_edges], x0, x1))


def find_candidates(
    surface: Surface, x0: Floats, x1: Floats, inflation: float, trees: SurfaceTrees | None = None
) -> Candidates:
    """All pairs that may come within `inflation` [m] of each other while x moves from x0 to x1 (node_count, 3) [m].

    For the barrier, `inflation` must be at least `surface.reach`. Give x0 twice for a fixed pose. `trees`: those
    kept from the last time for the same surface.
    """
    trees = trees or SurfaceTrees()
    return pairs_of_trees(surface, x0, x1, inflation, trees.sheets(surface, x0, x1), trees)


def pairs_of_trees(
    surface: Surface, x0: Floats, x1: Floats, inflation: float, trees: Trees, obstacles: SurfaceTrees
) -> Candidates:
    """The same with the `trees` of the sheets for this motion."""
    points = sheet_points(surface)
    faces, edges = trees
    point_box = swept_boxes(points, x0, x1)
    by = float(inflation)
    point_face = [name_points(find_pairs(faces, points, point_box, by), points, 0)]
    edge_edge = [find_pairs(edges, edges.nodes, edges.box, by, own=True)]
    if len(surface.faces) > surface.dynamic_faces:
        other_faces, other_edges, other_box = obstacles.groups(surface, x0, x1)
        point_face.append(name_points(find_pairs(other_faces, points, point_box, by), points, surface.dynamic_faces))
        points = obstacle_points(surface)
        point_face.append(name_points(find_pairs(faces, points, other_box, by), points, 0))
        pairs = find_pairs(other_edges, edges.nodes, edges.box, by)
        pairs[:, 1] += surface.dynamic_edges
        edge_edge.append(pairs)
    return Candidates(join_pairs(point_face), join_pairs(edge_edge))


def name_points(pairs: Ints, points: Ints, first_face: int) -> Ints:
    """Turn (query, item) into (node, face)."""
    pairs[:, 0] = points[pairs[:, 0], 0]
    pairs[:, 1] += first_face
    return pairs


def join_pairs(parts: list[Ints]) -> Ints:
    """All pairs of the parts, (n, 2)."""
    return parts[0] if len(parts) == 1 else np.ascontiguousarray(np.concatenate(parts))
