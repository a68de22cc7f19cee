"""Options, limits, transfer to vertices, and the whole field on a bent sheet."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from crumple.errors import InputError, SimulationError
from crumple.geometry.metric import tensor_eigen, tensor_form, tensor_matrix
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.sizing import SizingOptions, compute_sizing, face_sizing, vertex_sizing
from crumple.sizing.limits import limit_sizing


def random_mesh(count, seed):
    """Random counter-clockwise triangles in a square of 0.2 m."""
    rng = np.random.default_rng(seed)
    u = 0.2 * np.concatenate([[[0.0, 0], [1, 0], [1, 1], [0, 1]], rng.random((count, 2))])
    faces = Delaunay(u).simplices
    mesh = make_sheet_mesh(u, faces)
    faces[mesh.face_area < 0] = faces[mesh.face_area < 0][:, ::-1]
    return make_sheet_mesh(u, faces)


def resting(mesh):
    """A flat pose, no velocity, no curvature."""
    x = np.column_stack([mesh.u, np.zeros(mesh.vertex_count)])
    return x, np.zeros_like(x), np.zeros((mesh.face_count, 3))


def random_state(mesh, seed):
    """A disordered pose with everything that the criteria look at."""
    rng = np.random.default_rng(seed)
    x, v, curvature = resting(mesh)
    x = x * [0.97, 1.02, 1.0] + 1e-3 * rng.normal(size=x.shape)
    data = {
        "obstacle_vector": 0.05 * rng.normal(size=x.shape),
        "damage": rng.random(mesh.face_count),
        "user": [10.0 ** rng.uniform(-3, -1, mesh.face_count)],
    }
    curvature = 30 * rng.normal(size=curvature.shape)
    return (mesh, x, rng.normal(size=v.shape), curvature, -0.5 * curvature), data


def test_flat_sheet_at_rest_has_the_largest_size():
    mesh = random_mesh(30, 0)
    sizing = compute_sizing(mesh, *resting(mesh), options=SizingOptions(size_max=0.05))
    np.testing.assert_allclose(sizing, [[400.0, 400.0, 0.0]] * mesh.vertex_count, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("combine", ["disk", "sum"])
def test_bend_gives_the_allowed_turn_across_and_the_aspect_along(combine):
    mesh = random_mesh(30, 1)
    x, v, curvature = resting(mesh)
    d = np.array([np.cos(0.5), np.sin(0.5)])
    curvature[:] = 20.0 * np.array([d[0] ** 2, d[1] ** 2, d[0] * d[1]])
    options = SizingOptions(refine_angle=0.3, size_max=0.2, size_min=1e-3, aspect_min=0.1, combine=combine)
    values, axis = tensor_eigen(compute_sizing(mesh, x, v, curvature, curvature, options=options))
    double = 2.0 if combine == "sum" else 1.0  # the sum counts S and S_p twice
    np.testing.assert_allclose(1 / np.sqrt(values[:, 0]), 0.3 / 20.0 / np.sqrt(double), rtol=1e-6)
    np.testing.assert_allclose(values[:, 1], 0.01 * values[:, 0], rtol=1e-6)
    np.testing.assert_allclose(np.abs(axis @ d), 1.0, rtol=1e-9)


@given(seed=st.integers(0, 10**6), aspect=st.floats(0.05, 1.0), low=st.floats(1e-3, 1e-2))
@settings(deadline=None, max_examples=25)
def test_vertices_respect_all_limits(seed, aspect, low):
    mesh = random_mesh(25, seed)
    state, data = random_state(mesh, seed)
    options = SizingOptions(size_min=low, size_max=5 * low, aspect_min=aspect, refine_damage=0.2)
    values, _ = tensor_eigen(compute_sizing(*state, options=options, **data))
    assert np.all(values[:, 0] <= 1 / low**2 * (1 + 1e-9))
    assert np.all(values[:, 1] >= 1 / (5 * low) ** 2 * (1 - 1e-9))
    assert np.all(values[:, 1] >= aspect**2 * values[:, 0] * (1 - 1e-9))


@pytest.mark.parametrize(
    ("change", "off"),
    [
        ({"refine_angle": math.inf}, None),
        ({"refine_velocity": math.inf}, None),
        ({"refine_compression": math.inf}, None),
        ({"refine_obstacle": False}, "obstacle_vector"),
        ({"refine_damage": math.inf}, "damage"),
        ({}, "user"),
    ],
)
def test_every_criterion_can_be_turned_off_and_matters(change, off):
    mesh = random_mesh(40, 3)
    state, data = random_state(mesh, 3)
    base = {"size_min": 1e-9, "size_max": 1e3, "aspect_min": 1e-6, "refine_damage": 0.01, "combine": "sum"}
    full = face_sizing(*state, options=SizingOptions(**base), **data)
    kept = {name: value for name, value in data.items() if name != off}
    less = face_sizing(*state, options=SizingOptions(**base | change), **kept)
    trace, less_trace = full[:, :2].sum(axis=1), less[:, :2].sum(axis=1)
    assert np.all(less_trace <= trace * (1 + 1e-9))
    assert np.mean(less_trace < trace * (1 - 1e-9)) > 0.3


def test_disk_dominates_every_criterion_and_is_below_the_sum():
    mesh = random_mesh(40, 4)
    state, data = random_state(mesh, 4)
    wide = {"size_min": 1e-9, "size_max": 1e3, "aspect_min": 1e-6}
    off = {"refine_angle": math.inf, "refine_velocity": math.inf, "refine_compression": math.inf}
    disk = face_sizing(*state, options=SizingOptions(**wide), **data)
    total = face_sizing(*state, options=SizingOptions(**wide, combine="sum"), **data)
    for only in ({"refine_angle": 0.3}, {"refine_velocity": 0.5}, {"refine_compression": 1e-4}):
        alone = face_sizing(*state, options=SizingOptions(**wide | off | only))
        gap = np.linalg.eigvalsh(tensor_matrix(disk) - tensor_matrix(alone))
        assert np.all(gap[:, 0] >= -1e-9 * disk[:, :2].sum(axis=1))
    assert np.all(disk[:, :2].sum(axis=1) <= total[:, :2].sum(axis=1) * (1 + 1e-12))
    assert total[:, :2].sum() > 1.02 * disk[:, :2].sum()


def test_sharp_creases_side_by_side_need_short_edges_across_only():
    """The actual and the plastic crease, 5° apart, both far sharper than the smallest edge resolves."""
    mesh = random_mesh(30, 5)
    x, v, zero = resting(mesh)

    def crease(angle):
        across = np.array([np.cos(angle), np.sin(angle)])
        return zero + 600.0 * np.array([across[0] ** 2, across[1] ** 2, across[0] * across[1]])

    options = SizingOptions(refine_angle=0.3, size_min=3e-3, size_max=0.1, aspect_min=0.05)
    values, _ = tensor_eigen(face_sizing(mesh, x, v, crease(0.0), crease(np.radians(5.0)), options=options))
    np.testing.assert_allclose(1.0 / np.sqrt(values[:, 0]), 3e-3, rtol=1e-9)
    # half the trace of either is 1/2, their enclosing disk has the radius (1 + sin 5°)/2 around a centre at cos 5°/2
    along = 3e-3 / np.sqrt(0.5 * (1.0 + np.sin(np.radians(5.0)) - np.cos(np.radians(5.0))))
    np.testing.assert_allclose(1.0 / np.sqrt(values[:, 1]), along, rtol=1e-6)


def test_rib_stiffening_lowers_the_field():
    mesh = random_mesh(40, 5)
    x, v, curvature = resting(mesh)
    x[:, 1] *= 0.98
    curvature[:, 0] = 100.0
    free = {"refine_angle": math.inf, "size_min": 1e-5, "size_max": 10.0, "aspect_min": 1e-3}
    plain = face_sizing(mesh, x, v, curvature, options=SizingOptions(**free, rib_stiffening=False))
    ribbed = face_sizing(
        mesh,
        x,
        v,
        curvature,
        options=SizingOptions(**free),
        stiffness_ratio=np.full(mesh.face_count, 1e-8),
    )
    blocked = face_sizing(
        mesh, x, v, curvature, options=SizingOptions(**free), stiffness_ratio=np.full(mesh.face_count, 1e-6)
    )
    compression = 0.5 * (1 - 0.98**2)
    root = math.sqrt(compression**2 - 1e-8 / 4 * 100.0**2)
    np.testing.assert_allclose(plain[:, 1], compression / 1e-8, rtol=1e-6)
    np.testing.assert_allclose(ribbed[:, 1], 0.5 * (compression + root) / 1e-8, rtol=1e-6)
    np.testing.assert_allclose(blocked[:, 1], 0.01, rtol=1e-6)


def test_vertex_average_is_weighted_by_area_and_stops_at_seams():
    u = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -3.0], [5.0, 5.0], [6.0, 5.0], [5.0, 6.0]])
    faces = np.array([[0, 1, 2], [0, 3, 1], [4, 5, 6]])
    node = np.array([0, 1, 2, 3, 1, 4, 2])  # vertex 4 is sewn to 1, vertex 6 to 2
    mesh = make_sheet_mesh(u, faces, vertex_node=node, node_rest=np.zeros((5, 3)))
    sizing = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 8.0]])
    shared = [0.25, 1.5, 0.0]  # areas 0.5 and 1.5
    expected = [shared, shared, [1, 0, 0], [0, 2, 0], [0, 0, 8], [0, 0, 8], [0, 0, 8]]
    np.testing.assert_allclose(vertex_sizing(mesh, sizing), expected, atol=1e-15)


def test_limits_in_closed_form():
    tensor = np.array([[1e6, 1.0, 0.0], [1e4, 1.0, 0.0], [0.0, 0.0, 0.0], [500.0, 500.0, 400.0]])
    limited = limit_sizing(tensor, 0.01, 0.1, 0.2)
    np.testing.assert_allclose(limited[:3], [[1e4, 400.0, 0], [1e4, 400.0, 0], [100.0, 100.0, 0.0]])
    np.testing.assert_allclose(limited[3], [500.0, 500.0, 400.0], rtol=1e-12)
    np.testing.assert_allclose(tensor_form(limited[3], np.array([1.0, 1.0])), 1800.0)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("refine_angle", 0.0),
        ("refine_angle", math.nan),
        ("refine_velocity", -1.0),
        ("refine_compression", "a"),
        ("refine_damage", 0),
        ("size_min", 0.0),
        ("size_max", math.inf),
        ("size_min", 1.0),
        ("aspect_min", 1.5),
        ("aspect_min", 0.0),
        ("combine", "product"),
        ("rib_stiffening", 1),
    ],
)
def test_bad_options_name_the_place(key, value):
    with pytest.raises(InputError, match=rf"remeshing\.{key} = "):
        SizingOptions(**{key: value})


def test_a_broken_state_is_reported():
    mesh = random_mesh(10, 6)
    x, v, curvature = resting(mesh)
    v[mesh.face_nodes[2, 0]] = np.nan
    with pytest.raises(SimulationError, match="not finite"):
        compute_sizing(mesh, x, v, curvature, options=SizingOptions())
