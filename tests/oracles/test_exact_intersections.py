"""The oracle itself, on pairs whose answer is known, and crumple's own search beside it."""

from fractions import Fraction

import numpy as np
import pytest
from exact_intersections import (
    box_pairs,
    segment_meets_triangle,
    sheet_intersections,
    surely_separate,
    unique_edges,
)

from crumple.contact import find_intersections, make_surface

TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
NO_POINTS, NO_FACES = np.zeros((0, 3)), np.zeros((0, 3), int)


def count(*triangles, shared=()):
    """How many pairs of an edge and a face of some triangles meet; nodes in `shared` are replaced by others."""
    x, faces = np.concatenate(triangles).astype(float), np.arange(3 * len(triangles)).reshape(-1, 3)
    for old, new in shared:
        faces[faces == old] = new
    return len(sheet_intersections(x, faces, NO_POINTS, NO_FACES))


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ([[0.2, 0.2, -1], [0.2, 0.2, 1], [0.2, 5, 1]], 2),  # an edge pierces the face, and one of its edges the other
        ([[0.25, 0.25, 0], [0.25, 0.25, 1], [0.3, 0.3, 1]], 2),  # a corner touches the inside of the face
        ([[0.25, 0.25, 5e-324], [0.25, 0.25, 1], [0.3, 0.3, 1]], 0),  # and is the smallest number above it
        ([[1, 0, 0], [2, 0, 0], [2, 1, 3]], 4),  # a corner touches a corner: two edges of each
        ([[np.nextafter(1, 2), 0, 0], [2, 0, 0], [2, 1, 3]], 0),
        ([[0.5, 0.5, 0], [1, 1, 0], [1, 1, 1]], 3),  # a corner touches the longest side
        ([[0.5, np.nextafter(0.5, 1), 0], [1, 1, 0], [1, 1, 1]], 0),
        ([[0.1, 0.1, 0], [0.2, 0.1, 0], [0.1, 0.2, 0]], 3),  # coplanar, inside
        ([[0.5, -1, 0], [0.5, 2, 0], [0.6, 2, 0]], 4),  # coplanar, across
        ([[2, 0, 0], [3, 0, 0], [2, 1, 0]], 0),  # coplanar, beside
        ([[0.5, 0, -1], [0.5, 0, 1], [0.5, -1, 0]], 2),  # an edge touches an edge in one point
        ([[0.5, -5e-324, -1], [0.5, -5e-324, 1], [0.5, -1, 0]], 0),
        ([[0.25, 0.25, 1], [0.25, 0.25, -1], [0.25, 0.25, 0.5]], 2),  # without area
        ([[0.25, 0.25, 0]] * 3, 3),  # a point
        ([[0.25, 0.25, 1e-9]] * 3, 0),
    ],
)
def test_two_triangles(second, expected):
    """Also when exchanged, turned by permuted axes, and scaled by powers of two, which is all exact."""
    second = np.array(second, float)
    for first, other in ((TRIANGLE, second), (second, TRIANGLE)):
        for order in ([0, 1, 2], [1, 2, 0], [2, 1, 0]):
            assert count(first[:, order], other[:, order]) == expected
        if not 0 < np.abs(second[second != 0]).min() < 1e-300:
            assert count(2.0**-30 * first, 2.0**-30 * other) == expected


def test_only_edges_without_common_nodes_are_tested():
    wing = np.array([[0.0, 0.0, 0.0], [1.0, -0.2, 1.0], [1.0, -0.2, -1.0]])  # passes the triangle
    assert count(TRIANGLE, wing, shared=[(3, 0)]) == 0
    wing[1:, 1] = 0.2  # is pierced by the far edge of the triangle
    assert count(TRIANGLE, wing, shared=[(3, 0)]) == 1
    wing[1:, 0] = 0.3  # and now pierces it
    assert count(TRIANGLE, wing, shared=[(3, 0)]) == 1
    folded = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.1, 0.1, 0.0]])  # flat on its neighbour
    assert count(TRIANGLE, folded, shared=[(3, 0), (4, 1)]) == 0


def test_one_unit_in_the_last_place_apart_in_general_position():
    """Points on and just off an oblique plane, where no double precision determinant has a certain sign."""
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        a, b, c = triangle = rng.integers(-1000, 1000, (3, 3)) / 1024
        point = (a + b + 2 * c) / 4  # exact, and inside
        normal = np.cross(b - a, c - a)
        axis = np.argmax(np.abs(normal))
        if not normal[axis]:
            continue
        assert segment_meets_triangle(np.stack([point, point + normal]), triangle)
        for side in (np.inf, -np.inf):
            moved = point.copy()
            moved[axis] = np.nextafter(point[axis], side)
            outwards = np.sign(side) * np.sign(normal[axis])
            assert not segment_meets_triangle(np.stack([moved, moved + outwards * normal]), triangle)
            assert segment_meets_triangle(np.stack([moved, moved - outwards * normal]), triangle)
            seen.add(bool(surely_separate(np.stack([moved, moved + outwards * normal])[None], triangle[None])[0]))
    assert False in seen  # these pairs need the rational arithmetic


def test_the_filter_is_never_wrong():
    """It calls separate only what the rational arithmetic finds separate, and most of that."""
    rng = np.random.default_rng(1)
    triangles = rng.integers(-3, 4, (1500, 3, 3)) / 4.0
    segments = rng.integers(-3, 4, (1500, 2, 3)) / 4.0
    segments[::3] += rng.normal(size=(500, 1, 3)) * 10.0 ** -rng.integers(1, 18, (500, 1, 1))
    separate = surely_separate(segments, triangles)
    exact = np.array([not segment_meets_triangle(s, t) for s, t in zip(segments, triangles, strict=True)])
    assert not (separate & ~exact).any()
    assert 100 < exact.sum() < 1400
    assert separate.sum() > 0.9 * exact.sum()


def test_meeting_is_having_a_common_point():
    """Against the definition: p + s (q − p) = a + u (b − a) + v (c − a), solved with Cramer's rule."""
    rng = np.random.default_rng(2)
    answers = set()
    for _ in range(300):
        segment, triangle = rng.integers(-4, 5, (2, 3)).astype(float), rng.integers(-4, 5, (3, 3)).astype(float)
        a, b, c = triangle
        columns = [segment[0] - segment[1], b - a, c - a]
        whole = _determinant(columns)
        if not whole:
            continue
        s, u, v = (Fraction(_determinant([*columns[:i], segment[0] - a, *columns[i + 1 :]]), whole) for i in range(3))
        expected = 0 <= s <= 1 and u >= 0 and v >= 0 and u + v <= 1
        assert segment_meets_triangle(segment, triangle) == expected
        answers.add(expected)
    assert answers == {True, False}


def _determinant(columns):
    p, q, r = ([int(value) for value in column] for column in columns)
    return p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0]) + p[2] * (q[0] * r[1] - q[1] * r[0])


def test_sorting_finds_all_boxes():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(300, 3)) * [1, 3, 0.2]
    faces, edges = rng.integers(0, 300, (400, 3)), rng.integers(0, 300, (500, 2))
    low, high = points[edges].min(1)[:, None], points[edges].max(1)[:, None]
    overlap = (low <= points[faces].max(1)) & (points[faces].min(1) <= high)
    np.testing.assert_array_equal(box_pairs(points, edges, faces), np.argwhere(overlap.all(axis=2)))
    assert len(box_pairs(points, edges[:0], faces)) == 0


def grid(columns):
    """A flat square of 2 (columns - 1)² faces in z = 0."""
    i, j = np.meshgrid(np.linspace(0, 1, columns), np.linspace(0, 1, columns), indexing="ij")
    at = np.arange(columns**2).reshape(columns, columns)
    a, b, c, d = (at[:-1, :-1].ravel(), at[1:, :-1].ravel(), at[1:, 1:].ravel(), at[:-1, 1:].ravel())
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)
    return np.stack([i.ravel(), j.ravel(), np.zeros(i.size)], 1), faces


@pytest.mark.parametrize("scale", [1e-3, 0.02, 0.1])
def test_crumples_search_finds_the_same(scale):
    """Pairs of shaken sheets over an obstacle, counted by both; and obstacles do not meet themselves."""
    rng = np.random.default_rng(4)
    rest, faces = grid(10)
    x = rest + scale * rng.normal(size=rest.shape) + [0, 0, 0.2 if scale < 0.01 else 0]
    obstacle_x, obstacle_faces = np.concatenate([rest, rest]), np.concatenate([faces, faces + len(rest)])
    surface = make_surface(
        faces,
        np.concatenate([rest, obstacle_x]),
        dynamic_count=len(rest),
        obstacle_faces=obstacle_faces + len(rest),
        dhat=1e-3,
    )
    found = find_intersections(surface, np.concatenate([x, obstacle_x]))
    expected = sheet_intersections(x, faces, obstacle_x, obstacle_faces)
    edges = unique_edges(np.concatenate([faces, obstacle_faces + len(rest)]))
    assert (scale > 0.01) == (len(expected) > 0)
    assert named(surface.edges, surface.faces, found) == named(edges, surface.faces, expected)


def named(edges, faces, pairs):
    """Pairs as the nodes of their edges and faces, whatever the order of edges, faces and nodes."""
    return {(tuple(sorted(edges[edge])), tuple(sorted(faces[face]))) for edge, face in pairs}


def test_numbers_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="finite"):
        count(TRIANGLE, TRIANGLE * np.nan)
