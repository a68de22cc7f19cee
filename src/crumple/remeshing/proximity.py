"""The vector from every sheet node to the nearest obstacle, for the criterion of [Narain2013] eq. 6, `sizing.obstacle`.

A traversal of the bounding-box tree of the obstacle faces: children farther away than the nearest point so far are
left out, and the nearer child comes first. Nodes with near numbers are mostly near each other, so the face found for
one node bounds the search of the next. A face is as far away as its plane at least: inside a closed obstacle, where
many boxes are near, this leaves out nearly all.
"""

from __future__ import annotations

import numpy as np

from crumple.contact.candidates import swept_boxes
from crumple.geometry.bvh import STACK_SIZE, build_tree
from crumple.geometry.distance import point_triangle
from crumple.geometry.triangle import face_normals
from crumple.remeshing.tuning import TUNING
from crumple.runtime.compiled import device, kernel, run_chunks
from crumple.runtime.typing import Floats, Ints

CHUNK = TUNING.nodes_per_chunk.value


def nearest_obstacle(x: Floats, obstacle_faces: Ints, obstacle_x: Floats, cutoff: float) -> Floats:
    """Vectors from the nodes to the nearest point of the obstacles, (node_count, 3) [m]; NaN beyond `cutoff` [m].

    `x` (node_count, 3) [m]; `obstacle_faces` (n, 3) int32 numbers into `obstacle_x` (m, 3) [m].
    """
    vector = np.full((len(x), 3), np.nan)
    if len(obstacle_faces) == 0 or len(x) == 0:
        return vector
    faces, points = np.ascontiguousarray(obstacle_faces, np.int32), np.ascontiguousarray(obstacle_x)
    tree = build_tree(swept_boxes(faces, points, points))
    chunks = (len(x) + CHUNK - 1) // CHUNK
    run_chunks(
        _search, chunks, np.ascontiguousarray(x), faces, points,
        tree.node_box, tree.item_box, _planes(faces, points)[tree.order], tree.order, tree.start, cutoff, vector,
    )  # fmt: skip
    return vector


def _planes(faces: Ints, points: Floats) -> Floats:
    """Unit normal n and n·p of the plane of each face, (n, 4); 0 for a face without area."""
    normal = face_normals(points, faces)
    return np.concatenate([normal, (normal * points[faces[:, 0]]).sum(axis=1, keepdims=True)], axis=1)


@kernel
def _search(first, step, x, faces, points, box, item_box, plane, order, start, cutoff, vector):
    """`vector` of the nodes of the chunks first, first + step, …"""
    stack, bound = np.empty(STACK_SIZE, np.int32), np.empty(STACK_SIZE)
    leaves = start.shape[0] - 1
    for chunk in range(first, (len(x) + CHUNK - 1) // CHUNK, step):
        near = order[0]
        for n in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(x))):
            px, py, pz = x[n, 0], x[n, 1], x[n, 2]
            best = cutoff * cutoff
            best = _improve(faces, points, near, px, py, pz, best, vector, n)
            depth = 1
            stack[0], bound[0] = 1, 0.0
            while depth > 0:
                depth -= 1
                if bound[depth] >= best:
                    continue
                node = np.int64(stack[depth])
                if node < leaves:
                    one, two = 2 * node, 2 * node + 1
                    d_one, d_two = _box_distance(box, one, px, py, pz), _box_distance(box, two, px, py, pz)
                    if d_one < d_two:
                        one, two, d_one, d_two = two, one, d_two, d_one
                    stack[depth], bound[depth] = one, d_one
                    stack[depth + 1], bound[depth + 1] = two, d_two
                    depth += 2
                    continue
                for i in range(start[node - leaves], start[node - leaves + 1]):
                    away = plane[i, 0] * px + plane[i, 1] * py + plane[i, 2] * pz - plane[i, 3]
                    if away * away < best and _box_distance(item_box, i, px, py, pz) < best:
                        found = _improve(faces, points, order[i], px, py, pz, best, vector, n)
                        if found < best:
                            best, near = found, order[i]


@device
def _box_distance(box, node, px, py, pz):
    """Squared distance of a point from the box of a tree node, infinite for an empty one."""
    dx = max(box[node, 0] - px, px - box[node, 3], 0.0)
    dy = max(box[node, 1] - py, py - box[node, 4], 0.0)
    dz = max(box[node, 2] - pz, pz - box[node, 5], 0.0)
    return dx * dx + dy * dy + dz * dz


@device
def _improve(faces, points, face, px, py, pz, best, vector, n):
    """The smaller of `best` and the squared distance to a face; then vector[n] leads to its nearest point."""
    i, j, k = faces[face, 0], faces[face, 1], faces[face, 2]
    ax, ay, az = points[i, 0] - px, points[i, 1] - py, points[i, 2] - pz
    bx, by, bz = points[j, 0] - px, points[j, 1] - py, points[j, 2] - pz
    cx, cy, cz = points[k, 0] - px, points[k, 1] - py, points[k, 2] - pz
    square, u, v, _ = point_triangle(0.0, 0.0, 0.0, ax, ay, az, bx, by, bz, cx, cy, cz)
    if square >= best:
        return best
    vector[n, 0] = ax + u * (bx - ax) + v * (cx - ax)
    vector[n, 1] = ay + u * (by - ay) + v * (cy - ay)
    vector[n, 2] = az + u * (bz - az) + v * (cz - az)
    return square
