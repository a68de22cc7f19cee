"""The pairs of a small sheet that may touch, found in one call and with a wide margin.

The trees of the sheets keep their order while the mesh stays; only their boxes are fitted anew to the way from one pose
to another (`refit`), which takes a tenth of the time of building them. Pairs are written as they are found. One thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.contact.candidates import (
    Candidates,
    Group,
    SurfaceTrees,
    collect_hits,
    make_group,
    obstacle_points,
    sheet_points,
    swept_boxes,
)
from crumple.contact.neighbours import mark_near
from crumple.contact.surface import Surface
from crumple.geometry.bvh import STACK_SIZE, Tree, find_leaf, refit
from crumple.runtime.compiled import NO, ONE, YES, ZERO, device, kernel
from crumple.runtime.remembered import Remembered
from crumple.runtime.typing import Floats, Ints


class SheetGroups(NamedTuple):
    """Faces and edges of the sheets of a surface, in trees of its reference positions, and its points."""

    faces: Group
    edges: Group
    points: Ints
    obstacle_points: Ints


_GROUPS: Remembered[SheetGroups] = Remembered(2)


def find_wide(surface: Surface, x0: Floats, x1: Floats, margin: float, obstacles: SurfaceTrees) -> Candidates:
    """The pairs that may come into range while x moves from x0 to x1 (node_count, 3) [m], and at all poses within
    `margin` [m] of that way."""
    own = _GROUPS.find((surface,), lambda: _sheet_groups(surface))
    faces, edges, box = own.faces, own.edges, np.empty((0, 18), np.float32)
    has_obstacles = len(surface.faces) > surface.dynamic_faces
    if has_obstacles:
        faces, edges, box = obstacles.groups(surface, x0, x1)
    found = look(
        surface.arrays, own.points, own.obstacle_points, has_obstacles,
        own.faces.nodes, own.faces.sorted_nodes, *_with_own_boxes(own.faces.tree),
        own.edges.nodes, own.edges.sorted_nodes, *_with_own_boxes(own.edges.tree),
        faces.sorted_nodes, *faces.tree, edges.sorted_nodes, *edges.tree, box,
        x0, x1, surface.reach, margin,
    )  # fmt: skip
    return Candidates(*found)


def _with_own_boxes(tree: Tree) -> Tree:
    """The tree with other boxes, to be filled: those that are remembered belong to all threads."""
    return tree._replace(node_box=np.empty_like(tree.node_box), item_box=np.empty_like(tree.item_box))


def _sheet_groups(surface: Surface) -> SheetGroups:
    rest = surface.node_rest
    faces = np.array(surface.faces[: surface.dynamic_faces])
    edges = np.array(surface.edges[: surface.dynamic_edges])
    return SheetGroups(
        make_group(faces, rest, rest), make_group(edges, rest, rest), sheet_points(surface), obstacle_points(surface)
    )


@device
def append_pairs(node_box, item_box, order, start, items, nodes, box, by, own, names_points, shift, pairs, count):
    """Write the pairs (query, item + shift) within `by` [m] behind the first `count` of `pairs`, which is replaced
    where it is too short: the array and how many it has. Queries that are points go by the names of their nodes."""
    stack, hits = np.empty(STACK_SIZE, np.int32), np.empty(256, np.int32)
    for k in range(box.shape[0]):
        q, leaf, after = np.int64(k), -1, -1
        if own:
            q, leaf, after = np.int64(order[k]), find_leaf(start, k), k
        found = collect_hits(node_box, item_box, order, start, items, nodes, box, q, by, leaf, after, hits, stack)
        if found > hits.shape[0]:
            hits = np.empty(2 * found, np.int32)
            found = collect_hits(node_box, item_box, order, start, items, nodes, box, q, by, leaf, after, hits, stack)
        if count + found > pairs.shape[0]:
            longer = np.empty((2 * (count + found), 2), np.int32)
            for j in range(count):
                longer[j, 0], longer[j, 1] = pairs[j, 0], pairs[j, 1]
            pairs = longer
        for j in range(found):
            pairs[count, 0] = nodes[q, 0] if names_points else q
            pairs[count, 1] = hits[j] + shift
            count += 1
    return pairs, count


@device
def take_kept(pairs, kept, first):
    """The pairs (n, 2) that are marked in `kept` from `first` on."""
    count = 0
    for k in range(pairs.shape[0]):
        count += kept[first + k]
    found, at = np.empty((count, 2), np.int32), 0
    for k in range(pairs.shape[0]):
        if kept[first + k]:
            found[at, 0], found[at, 1] = pairs[k, 0], pairs[k, 1]
            at += 1
    return found


@kernel
def look(
    surface, points, other_points, has_obstacles,
    faces, face_items, face_nodes, face_boxes, face_order, face_place, face_start,
    edges, edge_items, edge_nodes, edge_boxes, edge_order, edge_place, edge_start,
    wall_items, wall_nodes, wall_boxes, wall_order, wall_place, wall_start,
    rim_items, rim_nodes, rim_boxes, rim_order, rim_place, rim_start, other_box,
    x0, x1, reach, margin,
):  # fmt: skip
    """The pairs of nodes and faces, and of edges: see `find_wide`. Trees are those of the sheets' faces and edges, and
    of the obstacles' (`wall`, `rim`), where there are some."""
    by = reach + 2.0 * margin
    point_box, edge_box = swept_boxes(points, x0, x1), swept_boxes(edges, x0, x1)
    refit(face_nodes, face_boxes, face_order, face_start, swept_boxes(faces, x0, x1))
    refit(edge_nodes, edge_boxes, edge_order, edge_start, edge_box)
    room = 4 * (edges.shape[0] + 1)  # at first
    near, crossing = np.empty((room, 2), np.int32), np.empty((room, 2), np.int32)
    near, n = append_pairs(
        face_nodes, face_boxes, face_order, face_start, face_items, points, point_box, by, NO, YES, ZERO, near, ZERO
    )  # fmt: skip
    crossing, m = append_pairs(
        edge_nodes, edge_boxes, edge_order, edge_start, edge_items, edges, edge_box, by, YES, NO, ZERO, crossing, ZERO
    )  # fmt: skip
    if has_obstacles:
        near, n = append_pairs(
            wall_nodes, wall_boxes, wall_order, wall_start, wall_items, points, point_box, by,
            NO, YES, faces.shape[0], near, n,
        )  # fmt: skip
        near, n = append_pairs(
            face_nodes, face_boxes, face_order, face_start, face_items, other_points, other_box, by,
            NO, YES, ZERO, near, n,
        )  # fmt: skip
        crossing, m = append_pairs(
            rim_nodes, rim_boxes, rim_order, rim_start, rim_items, edges, edge_box, by,
            NO, NO, edges.shape[0], crossing, m,
        )  # fmt: skip
    near, crossing = near[:n], crossing[:m]
    kept = np.empty(n + m, np.bool_)
    mark_near(ZERO, ONE, surface, near, crossing, x0, x1, 2.0 * margin, kept)
    return take_kept(near, kept, ZERO), take_kept(crossing, kept, n)
