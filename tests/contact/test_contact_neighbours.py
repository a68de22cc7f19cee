"""What is found near a pose, and for the few nodes that leave it, against a whole search."""

import numpy as np
import pytest
from contact_shapes import three_parts

from crumple.contact import Neighbours, SurfaceTrees, active_pairs, find_along, find_candidates, step_limit
from crumple.contact.wide_search import find_wide
from crumple.solving.compact.contact import covers

MARGIN = 0.25


def within(rng, x, most):
    """Every node of x moved by up to `most`."""
    away = rng.normal(size=x.shape)
    return x + most * rng.uniform(size=(len(x), 1)) * away / np.linalg.norm(away, axis=1, keepdims=True)


def active(surface, candidates, x):
    """The pairs in range at x and their gaps, whatever their order."""
    barrier = active_pairs(surface, candidates, x, 1.0)
    first, second = np.sort(barrier.stencil[:, :2], axis=1), np.sort(barrier.stencil[:, 2:], axis=1)
    faces = np.concatenate([barrier.stencil[:, :1], np.sort(barrier.stencil[:, 1:], axis=1)], axis=1)
    swapped = np.where((first[:, :1] < second[:, :1]), np.hstack([first, second]), np.hstack([second, first]))
    nodes = np.where(barrier.is_edges[:, None], swapped, faces)
    return {(bool(kind), *map(int, row)) for kind, row in zip(barrier.is_edges, nodes, strict=True)}


def same(surface, found, x, target):
    """Whether candidates give the pairs of a whole search all the way, and let nothing go farther.

    They may stop a pair that would not have come into range: each may use up 90 % of its distance only.
    """
    everything = find_candidates(surface, x, target, surface.reach)
    for share in np.linspace(0.0, 1.0, 5):
        pose = x + share * (target - x)
        if active(surface, found, pose) != active(surface, everything, pose):
            return False
    one, all_of_them = step_limit(surface, found, x, target), step_limit(surface, everything, x, target)
    return one.fraction <= all_of_them.fraction * (1.0 + 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_poses_within_the_margin_need_no_other_search(seed):
    surface, pose = three_parts(seed)
    margin, rng = MARGIN * surface.reach, np.random.default_rng(seed)
    near = Neighbours(surface, pose, margin, SurfaceTrees())
    x, target = within(rng, pose, margin), within(rng, pose, margin)
    assert not near.strays(x, target).any()
    assert same(surface, near.candidates, x, target)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [1, 7])
def test_few_that_stray_are_searched_for_alone(seed, count):
    surface, pose = three_parts(seed)
    margin, rng = MARGIN * surface.reach, np.random.default_rng(seed)
    near = Neighbours(surface, pose, margin, SurfaceTrees())
    x, target = within(rng, pose, margin), within(rng, pose, margin)
    some = rng.choice(surface.dynamic_count, count, replace=False)
    x[some] += 0.02 * rng.normal(size=(count, 3))
    target[some] += 0.05 * rng.normal(size=(count, 3))
    far = near.strays(x, target)
    assert far[some].all()
    assert same(surface, near.along(far, x, target), x, target)
    if count > 1:
        assert not same(surface, near.candidates, x, target)  # without that search, something is missed


def test_a_node_that_comes_back_still_counts_as_a_stray():
    surface, pose = three_parts(0)
    near = Neighbours(surface, pose, MARGIN * surface.reach, SurfaceTrees())
    x = pose.copy()
    x[5] += surface.reach
    assert near.strays(x, pose)[5]


@pytest.mark.parametrize("seed", range(3))
def test_long_ways_leave_out_only_what_cannot_meet(seed):
    surface, x = three_parts(seed)
    rng = np.random.default_rng(seed)
    target = x + np.array([0.05, 0.02, 0.01]) + 0.01 * rng.normal(size=x.shape)
    target[surface.dynamic_count :] = x[surface.dynamic_count :]
    found = find_along(surface, x, target, SurfaceTrees())
    assert same(surface, found, x, target)
    assert found.pair_count < find_candidates(surface, x, target, surface.reach).pair_count


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count", [0, 1, 7])
def test_sheets_that_move_as_a_whole_keep_their_pairs(seed, count):
    """The sheets fall by many margins while the obstacles move too, and a few nodes go their own way."""
    surface, pose = three_parts(seed)
    margin, rng = MARGIN * surface.reach, np.random.default_rng(seed)
    near = Neighbours(surface, pose, margin, SurfaceTrees())
    sheet = np.arange(len(pose)) < surface.dynamic_count
    x, target = (within(rng, pose, 0.5 * margin) for _ in range(2))
    x[sheet] += [0.01, 0.02, -0.01]
    target[sheet] += [0.02, 0.03, -0.04]
    target[~sheet] += [0.01, 0.0, 0.02]
    some = rng.choice(surface.dynamic_count, count, replace=False)
    target[some] += 0.05 * rng.normal(size=(count, 3))
    found = near.following(x, target, len(pose))
    assert found is not None
    assert same(surface, found, x, target)
    assert not same(surface, near.candidates, x, target)


def test_sheets_that_deform_are_not_followed():
    surface, pose = three_parts(0)
    near = Neighbours(surface, pose, MARGIN * surface.reach, SurfaceTrees())
    moved = within(np.random.default_rng(0), pose, 20.0 * surface.reach)
    assert near.following(pose, moved, 0.02 * len(pose)) is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("way", [0.0, 0.05])
def test_a_wide_search_serves_beside_the_whole_way(seed, way):
    surface, start = three_parts(seed)
    margin, rng = 2.0 * surface.reach, np.random.default_rng(seed)
    end = start.copy()
    end[: surface.dynamic_count] += way * rng.normal(size=(surface.dynamic_count, 3))
    found = find_wide(surface, start, end, margin, SurfaceTrees())
    for one, two in ((0.0, 1.0), (0.3, 0.9), (1.0, 0.4)):
        x, target = (within(rng, start + part * (end - start), margin) for part in (one, two))
        x[surface.dynamic_count :] = target[surface.dynamic_count :] = start[surface.dynamic_count :]
        assert same(surface, found, x, target)
    again = find_wide(surface, start, end, margin, SurfaceTrees())
    assert all(one.tobytes() == two.tobytes() for one, two in zip(found, again, strict=True))


def test_a_way_covers_poses_beside_it_and_no_others():
    rng = np.random.default_rng(0)
    start, step = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    end, near = start + step, 0.1 * np.eye(3)[rng.integers(0, 3, 20)]
    assert covers(start, end, start, end, 0.2)
    assert covers(start, end, start + 0.4 * step + near, end - near, 0.2)
    assert not covers(start, end, start + 0.4 * step + 3.0 * near, end, 0.2)
    assert not covers(start, end, start, end + 0.5 * step, 0.2)
    assert not covers(start, start, start, start + np.nan, 0.2)
