"""The broad phase against all pairs, and the tree's local interface."""

import numba
import numpy as np
import pytest
from contact_shapes import jittered_grid, roll, three_parts
from distances import edge_edge_distance, point_triangle_distance

from crumple.contact import (
    active_pairs,
    barrier_energy,
    find_candidates,
    find_intersections,
    make_friction,
    make_surface,
    step_limit,
)
from crumple.contact.candidates import swept_boxes
from crumple.geometry.bvh import STACK_SIZE, build_tree, tree_grow, tree_query
from crumple.geometry.distance import triangle_distance


def scene(seed):
    """Three parts near each other, and a random motion."""
    surface, x = three_parts(seed, friction=0.4)
    return surface, x, x + 0.02 * np.random.default_rng(seed).normal(size=x.shape)


def allowed(surface, first, second):
    moving = first.min() < surface.dynamic_count or second.min() < surface.dynamic_count
    return moving and not np.intersect1d(first, second).size


def close_pairs(surface, poses, reach):
    """All allowed pairs that are within reach in some of the poses, by brute force."""
    faces, edges = set(), set()
    for i in surface.points:
        for f, nodes in enumerate(surface.faces):
            if allowed(surface, np.array([i]), nodes):
                for x in poses:
                    if point_triangle_distance(x[i], *x[nodes]) <= reach:
                        faces.add((int(i), f))
    for e, first in enumerate(surface.edges):
        for g in range(e):
            second = surface.edges[g]
            if allowed(surface, first, second):
                for x in poses:
                    if edge_edge_distance(*x[first], *x[second]) <= reach:
                        edges.add((g, e))
    return faces, edges


@pytest.mark.parametrize("seed", [0, 1])
def test_no_close_pair_is_missed_and_none_is_forbidden_or_twice(seed):
    surface, x0, x1 = scene(seed)
    reach = 0.015
    found = find_candidates(surface, x0, x1, reach)
    faces = {(int(a), int(b)) for a, b in found.point_face}
    edges = {(int(min(p)), int(max(p))) for p in found.edge_edge}
    assert len(faces) == len(found.point_face)
    assert len(edges) == len(found.edge_edge)
    near_faces, near_edges = close_pairs(surface, [x0, 0.5 * (x0 + x1), x1], reach)
    assert near_faces <= faces
    assert near_edges <= edges
    assert len(near_faces) > 30
    assert len(near_edges) > 100
    assert len(faces) < 6 * len(near_faces)
    assert all(allowed(surface, np.array([i]), surface.faces[f]) for i, f in faces)
    assert all(allowed(surface, surface.edges[a], surface.edges[b]) for a, b in edges)


def test_results_do_not_depend_on_the_number_of_threads():
    rest, faces = jittered_grid(20, 60, 0.2, 0.6, seed=3)
    x = roll(rest, pitch=2e-3, radius=0.03)
    y = x + 1e-3 * np.random.default_rng(0).normal(size=x.shape)
    surface = make_surface(faces, rest, dhat=2e-3, part_thickness=3e-4, friction=0.3)
    threads = numba.get_num_threads()
    results = []
    for count in (1, threads):
        numba.set_num_threads(count)
        candidates = find_candidates(surface, x, y, surface.reach)
        barrier = active_pairs(surface, candidates, x, 1e5)
        friction = make_friction(barrier, x, x, dt=1e-2, eps_v=1e-2)
        some = [*candidates, barrier.stencil, *barrier.gradient_hessian(x, True), *friction.gradient_hessian(y, True)]
        some += [np.array(step_limit(surface, candidates, x, y)), find_intersections(surface, y)]
        some += [np.array(barrier_energy(surface, candidates, x, 1e5)), barrier.value(x), friction.value(y)]
        results.append([array.tobytes() for array in some])
    numba.set_num_threads(threads)
    assert results[0] == results[1]


def test_tree_answers_local_queries_and_grows():
    rng = np.random.default_rng(0)
    for count in (0, 1, 3, 50, 333):
        low = rng.uniform(-1, 1, (count, 3))
        box = np.concatenate([low, low + 10 ** rng.uniform(-3, 0, (count, 3))], axis=1).astype(np.float32)
        tree = build_tree(box)
        found, stack = np.empty(400, np.int32), np.empty(STACK_SIZE, np.int32)
        for _ in range(20):
            a = rng.uniform(-1, 1, 3)
            b = a + rng.uniform(0, 0.3, 3)
            expected = np.flatnonzero((box[:, :3] <= b).all(axis=1) & (box[:, 3:] >= a).all(axis=1))
            n = tree_query(tree, (*a, *b), found, stack)
            assert sorted(found[:n]) == list(expected)
        for item in range(min(count, 10)):
            tree_grow(tree, item, (5.0, 5.0, 5.0, 6.0, 6.0, 6.0))
            n = tree_query(tree, (5.5, 5.5, 5.5, 5.6, 5.6, 5.6), found, stack)
            assert sorted(found[:n]) == list(range(item + 1))


def test_bounds_are_rounded_outwards():
    rng = np.random.default_rng(1)
    x0, x1 = rng.normal(size=(2, 30, 3)) + 100.0
    nodes = np.arange(30, dtype=np.int32).reshape(10, 3)
    box = swept_boxes(nodes, x0, x1).astype(float)
    both = np.concatenate([x0[nodes], x1[nodes]], axis=1)
    assert (box[:, :3] < both.min(axis=1)).all()
    assert (box[:, 3:6] > both.max(axis=1)).all()
    assert (box[:, 9:12] > (both + np.roll(both, -1, axis=2)).max(axis=1)).all()
    assert (box[:, 12:15] < (both - np.roll(both, -1, axis=2)).min(axis=1)).all()


@numba.njit
def faces_near(tree, x, faces, face, reach, found, stack):
    """A local check as remeshing does it, from compiled code: distance to the nearest face without common nodes."""
    corner = x[faces[face]]
    box = (
        corner[:, 0].min() - reach, corner[:, 1].min() - reach, corner[:, 2].min() - reach,
        corner[:, 0].max() + reach, corner[:, 1].max() + reach, corner[:, 2].max() + reach,
    )  # fmt: skip
    best = np.inf
    for k in range(tree_query(tree, box, found, stack)):
        shared = False
        for i in range(3):
            for j in range(3):
                shared |= faces[face, i] == faces[found[k], j]
        if not shared:
            best = min(best, triangle_distance(corner, x[faces[found[k]]]))
    return best


def test_compiled_code_can_query_locally():
    surface, x, _ = scene(4)
    faces = surface.faces[: surface.dynamic_faces]
    tree = build_tree(swept_boxes(faces, x, x))
    found, stack = np.empty(len(faces), np.int32), np.empty(STACK_SIZE, np.int32)
    for face in range(0, len(faces), 7):
        others = [g for g in range(len(faces)) if not np.intersect1d(faces[g], faces[face]).size]
        expected = min(triangle_distance(x[faces[face]], x[faces[g]]) for g in others)
        assert faces_near(tree, x, faces, face, 2.0, found, stack) == expected
