"""Intersection tests against ipctk and on touching and coplanar shapes."""

import ipctk
import numpy as np
import pytest
from contact_shapes import grid, jittered_grid

from crumple.contact import describe_intersection, find_intersections, has_intersections, make_surface
from crumple.contact.intersection import triangles_intersect


def two_triangles(first, second):
    x = np.concatenate([first, second]).astype(float)
    faces = np.array([[0, 1, 2], [3, 4, 5]], np.int32)
    return make_surface(faces, x, node_part=[0, 0, 0, 1, 1, 1], dhat=1e-3), x


def test_random_triangles_match_ipctk():
    rng = np.random.default_rng(0)
    counts = [0, 0]
    for _ in range(300):
        surface, x = two_triangles(*rng.normal(size=(2, 3, 3)))
        expected = ipctk.has_intersections(ipctk.CollisionMesh(x, surface.edges, surface.faces), x)
        assert has_intersections(surface, x) == expected
        assert triangles_intersect(x[:3], x[3:]) == expected
        counts[expected] += 1
    assert min(counts) > 30


@pytest.mark.parametrize("scale", [0.002, 0.3])
def test_crumpled_sheets_match_ipctk(scale):
    rest, faces = jittered_grid(12, 15, 1.0, 1.2, seed=0)
    surface = make_surface(faces, rest, dhat=1e-3)
    mesh = ipctk.CollisionMesh(rest, surface.edges, surface.faces)
    rng = np.random.default_rng(1)
    for _ in range(5):
        x = rest + scale * rng.normal(size=rest.shape)
        expected = ipctk.has_intersections(mesh, x)
        assert has_intersections(surface, x) == expected
        assert expected == (scale > 0.1)


def test_flat_sheets_do_not_intersect_themselves():
    for columns in (2, 5, 20):
        rest, faces = grid(columns, columns + 1)
        turn, _ = np.linalg.qr(np.random.default_rng(columns).normal(size=(3, 3)))
        for x in (rest, rest + 7.0, rest @ turn.T, 1e-3 * rest @ turn.T + 3.0):
            assert not has_intersections(make_surface(faces, rest, dhat=1e-3), np.ascontiguousarray(x))


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12])
def test_barely_separate_is_separate(gap):
    triangle = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    for other in (
        triangle + np.array([0, 0, gap]),  # face on face
        triangle + np.array([0.1, 0.1, gap]),  # shifted
        -triangle - [gap, 0, 0],  # coplanar, corner to corner
        triangle * [1, -1, 1] - [0, gap, 0],  # coplanar, edge to edge
        np.array([[0.2, 0.2, gap], [0.2, 0.2, 1], [0.3, 0.3, 1]]),  # needle above the face
        np.array([[0.5, -gap, -1], [0.5, -gap, 1], [0.5, -1, 0]]),  # an edge passing an edge
    ):
        assert not has_intersections(*two_triangles(triangle, other))


@pytest.mark.parametrize("depth", [0.0, 1e-9, 1e-12, 0.1])
def test_touching_and_overlapping_is_found(depth):
    triangle = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    for other in (
        np.array([[0.2, 0.2, -depth], [0.2, 0.2, 1], [0.3, 0.3, 1]]),
        np.array([[0.5, depth, -1], [0.5, depth, 1], [0.5, -1, 0]]),
        np.array([[0.1, 0.1, 0], [0.3, 0.1, 0], [0.1, 0.2, 0]]),  # coplanar, inside
        np.array([[0.1, -0.5, 0], [0.2, -0.5, 0], [0.1, 1.5, 0]]),  # coplanar, across
    ):
        assert has_intersections(*two_triangles(triangle, other))


def test_intersections_name_parts_and_place():
    rest, faces = grid(4, 4)
    spike = np.array([[0.4, 0.45, -1], [0.4, 0.45, 1], [0.4, 3, 0.0]])
    x = np.concatenate([rest, spike])
    surface = make_surface(faces, x, dynamic_count=16, obstacle_faces=[[16, 17, 18]], dhat=1e-3)
    pairs = find_intersections(surface, x)
    described = [describe_intersection(surface, x, pair) for pair in pairs]
    assert {d.parts for d in described} == {(1, 0), (0, 1)}
    assert any(np.allclose(d.place, [0.4, 0.45, 0.0]) for d in described)
    assert len(find_intersections(surface, x, 1)) == 1
    x[16:] += 10.0
    assert len(find_intersections(surface, x)) == 0
