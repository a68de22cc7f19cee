"""Overlap areas against shapely, conservation, charts."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.spatial import Delaunay

from crumple.geometry.overlap import follow_charts, overlap_area, overlap_average, vertex_charts
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.runtime.errors import InputError


def triangulate(count, seed, squeeze=1.0):
    """Random triangulation of the unit square; `squeeze` < 1 crowds most points into a narrow strip."""
    rng = np.random.default_rng(seed)
    inner = rng.random((count, 2))
    crowd = rng.random(count) < 0.8
    inner[crowd, 0] = 0.5 + squeeze * (inner[crowd, 0] - 0.5)
    side = np.linspace(0, 1, 6)
    corner = np.concatenate([np.stack(p, 1) for p in ((side, 0 * side), (side, 0 * side + 1))])
    flank = np.concatenate([np.stack(p, 1)[1:-1] for p in ((0 * side, side), (0 * side + 1, side))])
    u = np.concatenate([corner, flank, inner])
    return u, Delaunay(u).simplices.astype(np.int32)


def area_of(u, faces):
    """Unsigned areas of faces."""
    e, f = u[faces[:, 1]] - u[faces[:, 0]], u[faces[:, 2]] - u[faces[:, 0]]
    return 0.5 * np.abs(e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0])


@given(seed=st.integers(0, 10**6), counts=st.tuples(st.integers(0, 60), st.integers(0, 60)))
@settings(deadline=None, max_examples=25)
def test_areas_and_integrals_are_conserved(seed, counts):
    old_u, old_faces = triangulate(counts[0], seed, squeeze=0.01)
    new_u, new_faces = triangulate(counts[1], seed + 1)
    overlap = overlap_area(old_u, old_faces, new_u, new_faces)
    old_area, new_area = area_of(old_u, old_faces), area_of(new_u, new_faces)
    np.testing.assert_allclose(np.asarray(overlap.sum(axis=1)).ravel(), new_area, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(np.asarray(overlap.sum(axis=0)).ravel(), old_area, rtol=1e-9, atol=1e-15)
    value = np.random.default_rng(seed).normal(size=(len(old_faces), 3))
    resampled = overlap_average(overlap, value)
    np.testing.assert_allclose(new_area @ resampled, old_area @ value, atol=1e-13)
    assert np.all(resampled.max(axis=0) <= value.max(axis=0) + 1e-12)
    np.testing.assert_allclose(overlap_average(overlap, np.full(len(old_faces), 7.0)), 7.0, rtol=1e-13)


def test_every_pair_against_shapely():
    old_u, old_faces = triangulate(40, 1)
    new_u, new_faces = triangulate(30, 2)
    new_u = new_u @ np.array([[0.8, 0.6], [-0.6, 0.8]]) + [0.1, -0.2]  # partly outside
    ours = overlap_area(old_u, old_faces, new_u, new_faces).toarray()
    old = shapely.polygons(old_u[old_faces])
    new = shapely.polygons(new_u[new_faces])
    expected = shapely.area(shapely.intersection(new[:, None], old[None, :]))
    np.testing.assert_allclose(ours, expected, atol=1e-15)


def test_same_mesh_gives_the_diagonal():
    u, faces = triangulate(50, 3)
    overlap = overlap_area(u, faces, u, np.roll(faces, 1, axis=1)[:, ::-1])
    assert overlap.nnz == len(faces)
    np.testing.assert_allclose(overlap.diagonal(), area_of(u, faces), rtol=1e-12)


def test_far_from_the_origin():
    u, faces = triangulate(30, 4)
    v, others = triangulate(30, 5)
    shift, scale = np.array([2.0**9, -(2.0**8)]), 2.0**-6
    near = overlap_area(u, faces, v, others).toarray()
    far = overlap_area(u * scale + shift, faces, v * scale + shift, others).toarray()
    # moving the corners rounds them to 1e-13; nothing worse may come from the clipping
    np.testing.assert_allclose(far / scale**2, near, atol=1e-9)


def test_faces_of_other_charts_are_ignored():
    u, faces = triangulate(20, 6)
    v, others = triangulate(25, 7)
    n, m = len(faces), len(others)
    overlap = overlap_area(
        np.concatenate([u, u]),
        np.concatenate([faces, faces + len(u)]),
        np.concatenate([v, v]),
        np.concatenate([others, others + len(v)]),
        old_chart=np.repeat([4, 9], n),
        new_chart=np.repeat([9, 4], m),
    ).toarray()
    single = overlap_area(u, faces, v, others).toarray()
    assert np.all(overlap[:m, :n] == 0.0)
    assert np.all(overlap[m:, n:] == 0.0)
    np.testing.assert_array_equal(overlap[:m, n:], single)
    np.testing.assert_array_equal(overlap[m:, :n], single)


def test_uncovered_faces_get_the_given_value():
    u = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    faces = np.array([[0, 1, 2]], np.int32)
    new_u = np.concatenate([u, u + 10.0, u + np.array([0.5, 0.0])])
    overlap = overlap_area(u, faces, new_u, np.arange(9, dtype=np.int32).reshape(3, 3))
    np.testing.assert_allclose(overlap.toarray().ravel(), [0.5, 0.0, 0.125], rtol=1e-14)
    np.testing.assert_array_equal(overlap_average(overlap, np.array([3.0]), empty=-1.0), [3.0, -1.0, 3.0])


def test_empty_and_degenerate_and_bad_input():
    u, faces = triangulate(5, 8)
    none = np.empty((0, 3), np.int32)
    assert overlap_area(u, none, u, faces).shape == (len(faces), 0)
    assert overlap_area(u, faces, u, none).shape == (0, len(faces))
    flat = np.array([[0, 1, 1]], np.int32)
    assert overlap_area(u, faces, u, flat).nnz == 0
    with pytest.raises(InputError, match="old_chart"):
        overlap_area(u, faces, u, faces, old_chart=np.zeros(1, np.int32))


def test_charts_do_not_cross_seams_and_follow_transfers():
    u = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    faces = np.array([[0, 1, 2], [3, 4, 5]])
    sewn = make_sheet_mesh(u, faces, vertex_node=np.array([0, 1, 2, 0, 1, 3]), node_rest=np.zeros((4, 3)))
    chart = vertex_charts(sewn)
    np.testing.assert_array_equal(chart, [0, 0, 0, 1, 1, 1])
    split = csr_matrix(np.array([[0, 0, 0, 0.5, 0.5, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]]))
    np.testing.assert_array_equal(follow_charts(chart, split), [1, 0, 1])
    with pytest.raises(InputError, match="vertex_transfer"):
        follow_charts(chart, csr_matrix((1, 6)))
