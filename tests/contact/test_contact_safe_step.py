"""Collision-free step lengths: safe, not needlessly short, against ipctk's TightInclusion."""

from fractions import Fraction

import ipctk
import numpy as np
import pytest
from contact_shapes import grid, jittered_grid, roll
from distances import edge_edge_distance, point_triangle_distance

from crumple.contact import (
    Barrier,
    active_pairs,
    barrier_energy,
    candidate_parts,
    find_candidates,
    has_intersections,
    make_surface,
    min_gap,
    step_limit,
)
from crumple.contact.barrier import gather_pairs, measure_pairs
from crumple.contact.safe_step import pair_step_limit


def limit_of(is_edges, x, move, thickness=0.0, limit=1.0):
    return pair_step_limit(is_edges, x, move, thickness, limit, np.empty((4, 3)), np.empty(4), np.empty(3))


def gaps(is_edges, x, move, times, thickness):
    distance = edge_edge_distance if is_edges else point_triangle_distance
    return np.array([distance(*(x + t * move)) for t in times]) - thickness


@pytest.mark.parametrize("is_edges", [False, True])
@pytest.mark.parametrize("thickness", [0.0, 0.05])
def test_pairs_keep_a_tenth_of_their_gap_and_use_most_of_it(is_edges, thickness):
    rng = np.random.default_rng(11)
    stopped = 0
    for _ in range(400):
        x, move = rng.normal(size=(4, 3)), 2.0 * rng.normal(size=(4, 3))
        gap = gaps(is_edges, x, move, [0.0], thickness)[0]
        if gap < 1e-3:
            continue
        t = limit_of(is_edges, x, move, thickness)
        path = gaps(is_edges, x, move, np.linspace(0, min(t, 1.0), 300), thickness)
        assert path.min() >= 0.0999 * gap
        if t <= 1.0:
            stopped += 1
            assert path[-1] <= 0.2001 * gap
    assert stopped > 30


@pytest.mark.parametrize("is_edges", [False, True])
def test_never_later_than_the_true_hit(is_edges):
    rng = np.random.default_rng(12)
    ccd = ipctk.TightInclusionCCD()
    oracle = ccd.edge_edge_ccd if is_edges else ccd.point_triangle_ccd
    hits = 0
    for _ in range(400):
        x, move = rng.normal(size=(4, 3)), 2.0 * rng.normal(size=(4, 3))
        hit, time = oracle(*x, *(x + move))
        t = limit_of(is_edges, x, move)
        if hit:
            hits += 1
            assert t < time + 1e-5
            assert t > 0.0
    assert hits > 20


def test_sliding_is_not_slowed_down():
    """A point slides 1 m over a face at a height of 1 µm: no limit, although the motion is a million gaps long."""
    x = np.array([[-0.5, 0, 1e-6], [-1, -1, 0], [2, -1, 0], [0, 2, 0.0]])
    move = np.zeros((4, 3))
    move[0, 0] = 1.0
    assert limit_of(False, x, move) == np.inf
    move[0, 2] = -2e-6
    assert 0.4 < limit_of(False, x, move) < 0.4501


def test_closed_gap_stops_at_once():
    x = np.array([[0.2, 0.2, 0.01], [0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    move = np.ones((4, 3))
    move[0] = 0
    assert limit_of(False, x, move, thickness=0.02) == 0.0


def test_sheet_stops_before_it_intersects():
    rest, faces = jittered_grid(10, 40, 0.1, 0.4, seed=5)
    x = roll(rest, pitch=2e-3, radius=0.02)
    surface = make_surface(faces, rest, dhat=1e-3, part_thickness=2e-4)
    mesh = ipctk.CollisionMesh(rest, surface.edges, surface.faces)
    rng = np.random.default_rng(1)
    for scale in (1e-4, 1e-3, 1e-2):
        y = x + scale * rng.normal(size=x.shape)
        candidates = find_candidates(surface, x, y, surface.reach)
        fraction, pair = step_limit(surface, candidates, x, y)
        z = x + fraction * (y - x)
        assert min_gap(surface, candidates, z)[0] > 0
        assert not has_intersections(surface, z)
        assert not ipctk.has_intersections(mesh, z)
        exact = ipctk.compute_collision_free_stepsize(mesh, x, y)
        assert fraction <= exact + 1e-5
        if fraction < 1:
            assert candidate_parts(surface, candidates, pair) == (0, 0)
            assert fraction > 0.3 * exact  # 90 % of the gap beyond the thickness of 0.2 mm
    assert fraction < 1


@pytest.mark.parametrize("thickness", [0.0, 3e-4])
def test_repeated_random_squeezes_never_pass_through(thickness):
    """Gaps may shrink to a tenth at every step."""
    rest, faces = jittered_grid(8, 40, 0.08, 0.4, seed=7)
    x = roll(rest, pitch=1.5e-3, radius=0.04)
    surface = make_surface(faces, rest, dhat=1e-3, part_thickness=thickness)
    rng = np.random.default_rng(2)
    for scale in (5e-3, 1e-3, 1e-3, 5e-3, 1e-4):
        y = x + scale * rng.normal(size=x.shape)
        candidates = find_candidates(surface, x, y, surface.reach)
        fraction, _ = step_limit(surface, candidates, x, y)
        x = x + fraction * (y - x)
        assert fraction > 0
        assert not has_intersections(surface, x)
        gap, _ = min_gap(surface, find_candidates(surface, x, x, surface.reach), x)
        assert gap > 0
    assert gap < 1e-4


def test_the_limiting_parts_are_named():
    rest, faces = grid(3, 3)
    floor, more = grid(2, 2, 3.0, 3.0)
    x = np.concatenate([rest + np.array([1.0, 0.9, 0.1]), floor])
    surface = make_surface(faces, x, dynamic_count=9, obstacle_faces=more + 9, dhat=0.01, part_thickness=0.02)
    y = x.copy()
    y[:9, 2] -= 0.2
    candidates = find_candidates(surface, x, y, surface.reach)
    fraction, pair = step_limit(surface, candidates, x, y)
    assert 0.32 <= fraction <= 0.3601
    assert sorted(candidate_parts(surface, candidates, pair)) == [0, 1]
    y = x + 1.0  # both move alike
    candidates = find_candidates(surface, x, y, surface.reach)
    assert step_limit(surface, candidates, x, y) == (1.0, -1)


def side_of(x) -> Fraction:
    """det(e1, e2, c − a) of the edges ab and cd, exactly: its sign is the side of one edge on which the other is."""
    a, b, c, d = ([Fraction(float(value)) for value in row] for row in x)
    e, f, r = ([q - p for p, q in zip(*pair, strict=True)] for pair in ((a, b), (c, d), (a, c)))
    return sum(e[k] * (f[k - 2] * r[k - 1] - f[k - 1] * r[k - 2]) for k in range(3))


def test_nearly_parallel_edges_a_tenth_of_a_nanometre_apart_do_not_pass():
    """Lips of a cut, from a run: the difference of their closest points over their distance was no normal any more."""
    x = np.array(
        [
            [0.04383817644475191, 0.03878292034744682, 0.018209431719954285],
            [0.050414267016840514, 0.047994507624975834, 0.01804839494046684],
            [0.05042231385910734, 0.04797078171986739, 0.01804868485524521],
            [0.04382260275764875, 0.03877361347676613, 0.018209638950678654],
        ]
    )
    move = np.array(
        [
            [-1.1788113550501023e-06, -1.735946821540546e-06, 1.549293972280541e-07],
            [-1.8538038933230139e-06, -1.1140589424446512e-06, -1.8096375058174186e-09],
            [2.837686991913335e-07, -1.9025032397812502e-06, 1.1229666384282577e-08],
            [-1.8828882451041307e-06, -5.407599911952388e-07, 2.680698919302338e-07],
        ]
    )
    before, after = side_of(x), side_of(x + limit_of(True, x, move) * move)
    assert before * after > 0


@pytest.mark.parametrize("angle", [1e-5, 1e-7, 1e-8])
def test_nearly_parallel_edges_that_are_apart_hold_up_no_step(angle):
    """Lips of a cut, 4 cm long and 0.25 µm apart, that cross at a small angle and lose half of their gap."""
    rng, gap = np.random.default_rng(3), 2.5e-7
    for _ in range(100):
        along, beside, across = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
        other = np.cos(angle) * along + np.sin(angle) * beside
        a, b, c, d = 0.02 + 0.02 * rng.random(4)
        x = np.array([gap * across - a * along, gap * across + b * along, -c * other, d * other])
        x += 0.05 * rng.normal(size=3)
        move = np.zeros((4, 3))
        move[:2] = -0.5 * gap * across + 1e-9 * rng.normal(size=(2, 3))
        time = limit_of(True, x, move, 5e-9)
        assert time > 0.9
        assert edge_edge_distance(*(x + min(time, 1.0) * move)) > 0.09 * gap


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_parts_of_a_sheet_that_cross_at_rest_have_a_barrier(scale):
    """The edges 01 and 23 of two triangles have a common point at rest; in the world they are apart."""
    rest = scale * np.array([[0, 0, 0], [1e-2, 0, 0], [0, 0, 0], [1e-2, 0, 0], [0, 1e-2, 0], [0, -1e-2, 0]])
    rest[[0, 3], 2], rest[[1, 2], 2] = 2.5e-7 * scale, -2.5e-7 * scale
    surface = make_surface(np.array([[0, 1, 4], [3, 2, 5]]), rest, part_thickness=1e-4 * scale, dhat=1e-3 * scale)
    x = rest * [1, 1, 0]
    x[[0, 1, 4], 2] = np.array([3e-8, 1e-8, 0.0]) * scale
    pairs = active_pairs(surface, find_candidates(surface, x, x, surface.reach), x, 1e3)
    assert [0, 1, 2, 3] in pairs.stencil.tolist()
    assert pairs.dhat.min() > 1e-8 * scale


def test_lips_whose_ends_are_out_of_range_are_not_taken_for_parallel():
    """Two edges of 1 cm, 0.5 µm apart at rest, cross at 1e-4 rad: nothing but their own barrier holds them apart."""
    rest = np.array([[0, 0, 0], [1e-2, 0, 0], [0, 0, 0], [1e-2, 0, 0], [0, 1e-2, 0], [0, -1e-2, 0]])
    rest[[0, 1], 2], rest[[2, 3], 2] = 2.5e-7, -2.5e-7
    surface = make_surface(np.array([[0, 1, 4], [3, 2, 5]]), rest, part_thickness=1e-4, dhat=1e-3)
    x = rest * [1, 1, 0]
    x[[0, 1], 1], x[[2, 3], 1], x[[0, 1], 2] = (5e-7, -5e-7), (-5e-7, 5e-7), 1e-7
    found = find_candidates(surface, x, x, surface.reach)
    pairs = active_pairs(surface, found, x, 1e3)
    (k,) = np.flatnonzero(pairs.is_edges & (pairs.stencil == [0, 1, 2, 3]).all(axis=1))
    cross = np.cross(x[1] - x[0], x[3] - x[2])
    assert cross @ cross >= pairs.parallel[k]
    assert pairs.parallel[k] > 0.0, "parallel edges are faded out still"
    measured, energy = measure_pairs(surface.arrays, *found, x, x, 0.0)
    stencil, is_edges, numbers = gather_pairs(surface.arrays, *found, measured, 1e3, 0.0)
    gathered = Barrier(stencil, is_edges, *numbers)
    np.testing.assert_array_equal(gathered.parallel, pairs.parallel)
    assert barrier_energy(surface, found, x, 1e3) == pytest.approx(float(np.sum(pairs.value(x))))
    assert 1e3 * energy == pytest.approx(float(np.sum(pairs.value(x))))
