"""Weights, the near-neighbour rule, and total energies on whole meshes."""

import numpy as np
import pytest
from contact_shapes import difference, grid, jittered_grid, roll

from crumple.contact import active_pairs, barrier_energy, find_candidates, make_surface, min_gap, restrict_surface
from crumple.runtime.errors import InputError


def energy(surface, x, kappa=1.0):
    return barrier_energy(surface, find_candidates(surface, x, x, surface.reach), x, kappa)


def test_fine_flat_sheet_has_no_contact_with_itself():
    rest, faces = jittered_grid(9, 12, 0.01, 0.014, seed=0)
    surface = make_surface(faces, rest, dhat=5e-3, part_thickness=4e-3)
    candidates = find_candidates(surface, rest, rest, surface.reach)
    assert candidates.pair_count > 1000
    assert barrier_energy(surface, candidates, rest, 1.0) == 0.0
    assert active_pairs(surface, candidates, rest, 1.0).count == 0


def test_folded_neighbours_repel():
    """Two faces folded onto each other over their common edge: the near-neighbour rule still forbids touching."""
    rest = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -1, 0.0]])
    faces = np.array([[0, 1, 2], [1, 0, 3]], np.int32)
    surface = make_surface(faces, rest, dhat=1e-2, part_thickness=0.0)
    x = rest.copy()
    values = []
    for height in (2e-2, 5e-3, 1e-3, 1e-4):
        x[3] = 0.5, 0.9, height
        values.append(energy(surface, x))
    assert values[0] == 0.0
    assert 0.0 < values[1] < values[2] < values[3]


@pytest.mark.parametrize("lower_columns", [4, 10, 25])
@pytest.mark.parametrize("upper_columns", [5, 12, 28])
def test_plate_pressure_does_not_depend_on_the_mesh(lower_columns, upper_columns):
    """A plate above a larger one, turned by 0.5 rad: the energy is about κ A dhat b for all ratios of mesh sizes."""
    gap, dhat = 4e-4, 1e-3
    ideal = dhat * -((gap / dhat - 1) ** 2) * np.log(gap / dhat)
    turn = np.array([[np.cos(0.5), -np.sin(0.5), 0], [np.sin(0.5), np.cos(0.5), 0], [0, 0, 1]])
    upper, faces = jittered_grid(upper_columns, upper_columns + 1, 1.0, 1.0, seed=2)
    lower, more = jittered_grid(lower_columns, lower_columns + 1, 2.0, 2.0, seed=1)
    x = np.concatenate([upper, (lower - np.array([1.0, 1.0, gap])) @ turn.T + np.array([0.5, 0.5, 0])])
    n = len(upper)
    part = np.repeat([0, 1], [n, len(lower)])
    sheets = make_surface(np.concatenate([faces, more + n]), x, node_part=part, dhat=dhat)
    assert 0.75 < energy(sheets, x) / ideal < 1.5
    held = make_surface(faces, x, dynamic_count=n, obstacle_faces=more + n, dhat=dhat)
    assert 0.7 < energy(held, x) / ideal < 1.9


def test_huge_obstacle_triangle_does_not_count_its_area():
    rest, faces = grid(5, 5, 0.1, 0.1)
    for size in (1.0, 100.0):
        floor = size * np.array([[-1, -1, 0], [1, -1, 0], [0, 2, 0.0]]) - [0, 0, 0.005]
        x = np.concatenate([rest, floor])
        surface = make_surface(
            faces, x, dynamic_count=len(rest), obstacle_faces=[[25, 26, 27]], part_thickness=[0.0, 0.002], dhat=0.01
        )
        gap = 0.005 - 0.001
        ideal = 0.01 * 0.1**2 * 0.75 * -((gap / 0.01 - 1) ** 2) * np.log(gap / 0.01)
        assert energy(surface, x) == pytest.approx(ideal)


def test_total_matches_pairs_and_gradient():
    rest, faces = jittered_grid(7, 31, 0.06, 0.3, seed=3)
    x = roll(rest, pitch=2e-3, radius=0.02)
    surface = make_surface(faces, rest, dhat=2e-3, part_thickness=4e-4)
    candidates = find_candidates(surface, x, x, surface.reach)
    barrier = active_pairs(surface, candidates, x, 1e6)
    assert barrier.count > 50
    assert 0 < barrier.face_count < barrier.count
    assert barrier.value(x).sum() == pytest.approx(barrier_energy(surface, candidates, x, 1e6), rel=1e-12)
    gap, pair = min_gap(surface, candidates, x)
    assert 0 < gap < 2e-3
    assert 0 <= pair < candidates.pair_count
    total = np.zeros_like(x)
    np.add.at(total, barrier.stencil, barrier.gradient(x))
    np.testing.assert_allclose(total.sum(axis=0), 0, atol=1e-10 * np.abs(total).max())
    direction = np.random.default_rng(0).normal(size=x.shape)
    slope = difference(lambda s: barrier_energy(surface, candidates, x + s[0] * direction, 1e6), np.zeros(1), 1e-8)
    assert slope[0] == pytest.approx(np.sum(total * direction), rel=1e-5)


def test_obstacles_do_not_collide_with_each_other():
    rest, faces = grid(3, 3)
    x = np.concatenate([rest + np.array([5.0, 0, 0]), rest, rest + np.array([0, 0, 1e-3])])
    other = np.concatenate([faces + 9, faces + 18])
    surface = make_surface(faces, x, dynamic_count=9, obstacle_faces=other, dhat=0.01)
    assert find_candidates(surface, x, x, 0.01).edge_edge.max(initial=0) < surface.dynamic_edges


def test_bad_input_is_named():
    rest, faces = grid(3, 3)
    with pytest.raises(InputError, match="dhat"):
        make_surface(faces, rest, dhat=0.0)
    with pytest.raises(InputError, match="part_thickness"):
        make_surface(faces, rest, dhat=1e-3, part_thickness=-1.0)
    with pytest.raises(InputError, match="friction"):
        make_surface(faces, rest, dhat=1e-3, friction=np.zeros((3, 3)))
    with pytest.raises(InputError, match="faces"):
        make_surface(faces + 1, rest, dhat=1e-3)


def test_a_restricted_surface_keeps_the_pairs_of_its_free_nodes():
    """What cannot move adds a constant: the energy changes by the same amount when only the free nodes move."""
    rest, faces = jittered_grid(8, 60, 0.02, 0.2, seed=1)
    floor, floor_faces = grid(3, 3, 0.3, 0.3)
    x = roll(rest, pitch=1.2e-3, radius=0.01)
    floor = floor + np.array([x[:, 0].mean() - 0.15, x[:, 1].mean() - 0.15, x[:, 2].min() - 5e-4])
    count = len(rest)
    surface = make_surface(
        faces, np.concatenate([rest, floor]), dynamic_count=count, obstacle_faces=floor_faces + count, dhat=1e-3,
        part_thickness=1e-4,
    )  # fmt: skip
    x = np.concatenate([x, floor])
    free = np.zeros(len(x), bool)
    free[middle := np.flatnonzero(np.abs(rest[:, 1] - 0.1) < 0.02)] = True
    order = np.argsort(~free, kind="stable")
    number = np.empty(len(x), np.int32)
    number[order] = np.arange(len(x))
    part = restrict_surface(surface, free, number)
    moved = x.copy()
    moved[middle] += 1e-4 * np.random.default_rng(2).normal(size=(len(middle), 3))
    change = energy(surface, moved) - energy(surface, x)
    assert abs(change) > 1e-3 * energy(surface, x) > 0.0
    assert energy(part, moved[order]) - energy(part, x[order]) == pytest.approx(change, rel=1e-9)
    assert 0.0 < energy(part, x[order]) < energy(surface, x)
