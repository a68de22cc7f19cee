"""Handles: strength in time, targets, and which nodes the selections choose."""

import numpy as np
import pytest

from crumple.boundary import (
    Handle,
    Rate,
    circle_anchors,
    make_motion,
    select_ball,
    select_boundary,
    select_box,
    select_indices,
    select_label,
    select_nearest,
    select_sheet,
    select_side,
)
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.runtime.errors import InputError


@pytest.fixture
def grid():
    """A 3 × 2 grid of nodes, 0 1 2 / 3 4 5, width 2, height 1, four faces; edge 0→1 and node 5 have labels."""
    u = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], float)
    faces = np.array([[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]], np.int32)
    edge_label = np.zeros((4, 3), np.int32)
    edge_label[0, 0] = 7
    node_label = np.array([0, 0, 0, 0, 0, 7], np.int32)
    mesh = make_sheet_mesh(u, faces, edge_label=edge_label, node_label=node_label)
    return mesh, mesh.node_rest + np.array([10.0, 0.0, 0.0])


def test_selections(grid):
    mesh, x = grid
    assert select_side(mesh, "left").tolist() == [0, 3]
    assert select_side(mesh, "right").tolist() == [2, 5]
    assert select_side(mesh, "bottom").tolist() == [0, 1, 2]
    assert select_side(mesh, "top").tolist() == [3, 4, 5]
    assert select_label(mesh, 7).tolist() == [0, 1, 5]
    assert select_boundary(mesh).tolist() == [0, 1, 2, 3, 4, 5]
    assert select_box(x, (12.5, 0.5, 1), (10.5, -0.5, -1)).tolist() == [1, 2]
    assert select_ball(x, (10, 0, 0), 1.0).tolist() == [0, 1, 3]
    assert select_nearest(x, (11.9, 0.9, 5)).tolist() == [5]
    assert select_nearest(x, (11.9, 0.9, 5), np.array([1, 3], np.int32)).tolist() == [1]
    assert select_indices([4, 1, 4], 6).tolist() == [1, 4]
    assert select_sheet(mesh, 0).tolist() == [0, 1, 2, 3, 4, 5]
    assert select_sheet(mesh, 1).tolist() == []


def test_side_looks_at_one_sheet_only():
    u = np.array([[0, 0], [1, 0], [0, 1], [5, 0], [6, 0], [5, 1]], float)
    mesh = make_sheet_mesh(u, np.array([[0, 1, 2], [3, 4, 5]]), face_sheet=np.array([0, 1]))
    assert select_side(mesh, "right", 0).tolist() == [1]
    assert select_side(mesh, "left", 1).tolist() == [3, 5]
    assert select_side(mesh, "right").tolist() == [4]


@pytest.mark.parametrize("index", [-1, 6, 2**40])
def test_index_that_does_not_exist(index):
    with pytest.raises(InputError, match="0…5"):
        select_indices([0, index], 6)


def test_unknown_side(grid):
    with pytest.raises(InputError, match="left, right, bottom, top"):
        select_side(grid[0], "front")


def test_strength_in_time():
    handle = Handle("h", start=1, end=2, fade=0.5)
    assert [handle.strength(t) for t in (0.9, 1, 2, 2.25, 2.5, 3)] == [0, 1, 1, 0.5, 0, 0]
    assert Handle("h", end=2).strength(2.0001) == 0
    assert Handle("h").strength(1e9) == 1


def test_grip_then_follow():
    motion = make_motion("m", rate=Rate(velocity=(1, 0, 0), spin=(0, 0, np.pi)))
    handle = Handle("h", motion=motion)
    x = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]])
    anchor = handle.anchor(0.7, x)
    np.testing.assert_allclose(handle.target(0.7, anchor), x, atol=1e-12)
    np.testing.assert_allclose(handle.target(2.7, anchor), x + np.array([2, 0, 0]), atol=1e-12)  # one whole turn later
    still = Handle("h")
    np.testing.assert_array_equal(still.target(5, still.anchor(1, x)), x)


def test_circle_anchors_wrap_the_pattern(grid):
    mesh, _ = grid
    nodes = select_side(mesh, "bottom")
    ring = circle_anchors(
        mesh, nodes, center=(0, 0, 3), axis0=(1, 0, 0), axis1=(0, 1, 0), direction=(1, 0), circumference=4.0
    )
    r = 2 / np.pi
    np.testing.assert_allclose(ring, [[r, 0, 3], [0, r, 3], [-r, 0, 3]], atol=1e-12)
