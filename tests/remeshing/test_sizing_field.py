"""Options, limits, transfer to vertices, and the whole field on a bent sheet."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from crumple.boundary.obstacles import make_obstacle
from crumple.geometry.metric import tensor_eigen, tensor_form, tensor_matrix
from crumple.materials import preset
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.options.tearing import Tearing
from crumple.remeshing.sizing.buckling import Buckling
from crumple.remeshing.sizing.compression import Compression
from crumple.remeshing.sizing.criteria import built_in_criteria
from crumple.remeshing.sizing.curvature import Curvature
from crumple.remeshing.sizing.field import combine_criteria, compute_sizing
from crumple.remeshing.sizing.limits import limit_sizing
from crumple.remeshing.sizing.tensors import criteria_tensors
from crumple.remeshing.sizing.transfer import vertex_sizing
from crumple.remeshing.sizing.velocity import Velocity
from crumple.runtime.errors import InputError, SimulationError
from crumple.shapes import plane
from crumple.state import initial_state, make_tips
from crumple.tearing.sizing import TipDistance


def random_mesh(count, seed):
    """Random counter-clockwise triangles in a square of 0.2 m."""
    rng = np.random.default_rng(seed)
    u = 0.2 * np.concatenate([[[0.0, 0], [1, 0], [1, 1], [0, 1]], rng.random((count, 2))])
    faces = Delaunay(u).simplices
    mesh = make_sheet_mesh(u, faces)
    faces[mesh.face_area < 0] = faces[mesh.face_area < 0][:, ::-1]
    return make_sheet_mesh(u, faces)


def resting(mesh):
    """A flat pose at rest over a floor."""
    x = np.column_stack([mesh.u, np.zeros(mesh.vertex_count)])
    return initial_state(mesh, x, obstacle_x=FLOOR.positions(0.0), obstacle_count=1)


def random_state(mesh, seed):
    """A disordered pose with everything that the criteria look at."""
    rng = np.random.default_rng(seed)
    state = resting(mesh)
    x = state.x * [0.97, 1.02, 1.0] + 1e-3 * rng.normal(size=state.x.shape)
    x[:, 2] += 0.5 * x[:, 0]
    return state.replaced(
        x=x,
        v=rng.normal(size=x.shape),
        plastic_curvature=30 * rng.normal(size=(mesh.face_count, 3)),
        damage=rng.random(mesh.face_count),
    )


FLOOR = make_obstacle("floor", plane(1.0)[1], plane(1.0)[0] - [0.0, 0.0, 0.05])


def printed(state):
    """A criterion of the user's: lengths that differ from face to face."""
    return 10.0 ** np.random.default_rng(state.mesh.face_count).uniform(-3, -1, state.mesh.face_count)


def model_of(options, criteria=()):
    """A model that remeshes by these `options` and by the user's `criteria`."""
    remeshing = RemeshingOptions(options, criteria=tuple(criteria))
    return Model((preset("paper80"),), obstacles=(FLOOR,), remeshing=remeshing)


def sizing_of(state, options, criteria=(), demanded=()):
    """The whole field, (vertex_count, 3)."""
    return compute_sizing(state, Derived(model_of(options, criteria), state), demanded)


def face_sizing(state, options, criteria=None):
    """The combined tensors of `criteria`, of those built in and the user's if left out, (face_count, 3)."""
    if criteria is None:
        criteria = (*built_in_criteria(Derived(model_of(options), state), options), printed)
    return combine_criteria(criteria_tensors(criteria, state), options)


def test_flat_sheet_at_rest_has_the_largest_size():
    mesh = random_mesh(30, 0)
    sizing = sizing_of(resting(mesh), SizingOptions(size_max=0.05))
    np.testing.assert_allclose(sizing, [[400.0, 400.0, 0.0]] * mesh.vertex_count, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("combine", ["disk", "sum"])
def test_bend_gives_the_allowed_turn_across_and_the_aspect_along(combine):
    mesh = random_mesh(30, 1)
    d = np.array([np.cos(0.5), np.sin(0.5)])
    curvature = np.tile(20.0 * np.array([d[0] ** 2, d[1] ** 2, d[0] * d[1]]), (mesh.face_count, 1))
    options = SizingOptions(refine_angle=0.3, size_max=0.2, size_min=1e-3, aspect_min=0.1, combine=combine)
    criteria = [Curvature(options.refine_angle, lambda _: curvature)] * 2
    values, axis = tensor_eigen(vertex_sizing(mesh, face_sizing(resting(mesh), options, criteria)))
    double = 2.0 if combine == "sum" else 1.0  # the sum counts S and S_p twice
    np.testing.assert_allclose(1 / np.sqrt(values[:, 0]), 0.3 / 20.0 / np.sqrt(double), rtol=1e-6)
    np.testing.assert_allclose(values[:, 1], 0.01 * values[:, 0], rtol=1e-6)
    np.testing.assert_allclose(np.abs(axis @ d), 1.0, rtol=1e-9)


@given(seed=st.integers(0, 10**6), aspect=st.floats(0.05, 1.0), low=st.floats(1e-3, 1e-2))
@settings(deadline=None, max_examples=25)
def test_vertices_respect_all_limits(seed, aspect, low):
    state = random_state(random_mesh(25, seed), seed)
    options = SizingOptions(size_min=low, size_max=5 * low, aspect_min=aspect, refine_damage=0.2)
    values, _ = tensor_eigen(sizing_of(state, options, [printed]))
    assert np.all(values[:, 0] <= 1 / low**2 * (1 + 1e-9))
    assert np.all(values[:, 1] >= 1 / (5 * low) ** 2 * (1 - 1e-9))
    assert np.all(values[:, 1] >= aspect**2 * values[:, 0] * (1 - 1e-9))


@pytest.mark.parametrize(
    "change",
    [
        {"refine_angle": math.inf},
        {"refine_velocity": math.inf},
        {"refine_compression": math.inf},
        {"refine_obstacle": False},
        {"refine_damage": math.inf},
    ],
)
def test_every_criterion_can_be_turned_off_and_matters(change):
    state = random_state(random_mesh(40, 3), 3)
    base = {"size_min": 1e-9, "size_max": 1e3, "aspect_min": 1e-6, "refine_damage": 0.01, "combine": "sum"}
    full, less = (face_sizing(state, SizingOptions(**base | off)) for off in ({}, change))
    trace, less_trace = full[:, :2].sum(axis=1), less[:, :2].sum(axis=1)
    assert np.all(less_trace <= trace * (1 + 1e-9))
    assert np.mean(less_trace < trace * (1 - 1e-9)) > 0.3


def test_disk_dominates_every_criterion_and_is_below_the_sum():
    state = random_state(random_mesh(40, 4), 4)
    wide = {"size_min": 1e-9, "size_max": 1e3, "aspect_min": 1e-6, "refine_damage": 0.2}
    options = SizingOptions(**wide)
    disk = face_sizing(state, options)
    total = face_sizing(state, SizingOptions(**wide, combine="sum"))
    for criterion in (*built_in_criteria(Derived(model_of(options), state), options), printed):
        alone = face_sizing(state, options, [criterion])
        gap = np.linalg.eigvalsh(tensor_matrix(disk) - tensor_matrix(alone))
        assert np.all(gap[:, 0] >= -1e-9 * disk[:, :2].sum(axis=1))
    assert np.all(disk[:, :2].sum(axis=1) <= total[:, :2].sum(axis=1) * (1 + 1e-12))
    assert total[:, :2].sum() > 1.02 * disk[:, :2].sum()


def test_sharp_creases_side_by_side_need_short_edges_across_only():
    """The actual and the plastic crease, 5° apart, both far sharper than the smallest edge resolves."""
    mesh = random_mesh(30, 5)

    def crease(angle):
        across = np.array([np.cos(angle), np.sin(angle)])
        strain = 600.0 * np.array([across[0] ** 2, across[1] ** 2, across[0] * across[1]])
        return Curvature(0.3, lambda _: np.tile(strain, (mesh.face_count, 1)))

    options = SizingOptions(size_min=3e-3, size_max=0.1, aspect_min=0.05)
    values, _ = tensor_eigen(face_sizing(resting(mesh), options, [crease(0.0), crease(np.radians(5.0))]))
    np.testing.assert_allclose(1.0 / np.sqrt(values[:, 0]), 3e-3, rtol=1e-9)
    # half the trace of either is 1/2, their enclosing disk has the radius (1 + sin 5°)/2 around a centre at cos 5°/2
    along = 3e-3 / np.sqrt(0.5 * (1.0 + np.sin(np.radians(5.0)) - np.cos(np.radians(5.0))))
    np.testing.assert_allclose(1.0 / np.sqrt(values[:, 1]), along, rtol=1e-6)


def test_rib_stiffening_lowers_the_field():
    mesh = random_mesh(40, 5)
    state = resting(mesh)
    compression = 0.5 * (1 - 0.98**2)
    strain = np.tile([0.0, -compression, 0.0], (mesh.face_count, 1))
    curvature = np.tile([100.0, 0.0, 0.0], (mesh.face_count, 1))
    options = SizingOptions(size_min=1e-5, size_max=10.0, aspect_min=1e-3)
    plain = face_sizing(state, options, [Compression(1e-4, lambda _: strain)])
    ribbed, blocked = (
        face_sizing(
            state,
            options,
            [Buckling(1e-4, lambda _: strain, lambda _: curvature, np.full(mesh.face_count, ratio))],
        )
        for ratio in (1e-8, 1e-6)
    )
    root = math.sqrt(compression**2 - 1e-8 / 4 * 100.0**2)
    np.testing.assert_allclose(plain[:, 1], compression / 1e-8, rtol=1e-6)
    np.testing.assert_allclose(ribbed[:, 1], 0.5 * (compression + root) / 1e-8, rtol=1e-6)
    np.testing.assert_allclose(blocked[:, 1], 0.01, rtol=1e-6)
    (buckling,) = (c for c in built_in_criteria(Derived(model_of(options), state), options) if isinstance(c, Buckling))
    paper = preset("paper80")
    np.testing.assert_allclose(buckling.ratio, paper.bend_stiffness / paper.stretch_stiffness)


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
    state = resting(mesh)
    v = state.v.copy()
    v[mesh.face_nodes[2, 0]] = np.nan
    with pytest.raises(SimulationError, match="by Velocity is not finite"):
        sizing_of(state.replaced(v=v), SizingOptions())


OFF = {"refine_angle": math.inf, "refine_compression": math.inf, "refine_obstacle": False}
"""All that is built in, but for the velocity."""


def test_built_in_criteria_the_users_and_those_of_cracks_are_treated_alike():
    """Each gives the same field, to the bit, whichever of the three ways it comes in by."""
    mesh = random_mesh(40, 7)
    tips = make_tips(np.array([5]), np.array([[1.0, 0.0]]), mesh.u[:1], np.array([0]))
    state = random_state(mesh, 7).replaced(tips=tips)
    none = SizingOptions(**OFF, refine_velocity=math.inf, size_max=0.1)
    cracked = Model((preset("paper80"),), tearing=Tearing(tip_size=4e-3))
    velocity = Velocity(0.5, Derived(cracked, state).gradients)
    empty = sizing_of(state, none)
    for criterion in (velocity, printed, TipDistance(cracked)):
        field = sizing_of(state, none, criteria=[criterion])
        assert np.all(field[:, :2].sum(axis=1) > 1.01 * empty[:, :2].sum(axis=1))
        np.testing.assert_array_equal(field, sizing_of(state, none, demanded=[criterion]))
    built_in = sizing_of(state, SizingOptions(**OFF, refine_velocity=0.5, size_max=0.1))
    np.testing.assert_array_equal(built_in, sizing_of(state, none, criteria=[velocity]))
    together = sizing_of(state, none, criteria=[velocity], demanded=[TipDistance(cracked), printed])
    mixed = sizing_of(state, SizingOptions(**OFF, refine_velocity=0.5, size_max=0.1), [TipDistance(cracked)], [printed])
    np.testing.assert_array_equal(together, mixed)


@pytest.mark.parametrize("way", ["criteria", "demanded"])
def test_limits_and_checks_hold_for_every_criterion(way):
    state = resting(random_mesh(20, 8))
    options, count = SizingOptions(**OFF, size_min=2e-3), state.mesh.face_count
    finest = sizing_of(state, options, **{way: [lambda state: np.full(count, 1e-9)]})
    np.testing.assert_allclose(finest, [[2.5e5, 2.5e5, 0.0]] * state.mesh.vertex_count, rtol=1e-9, atol=1e-6)
    for wrong, remedy in (
        (np.ones(count + 1), "must have the shape"),
        (np.full(count, -1.0), "must be > 0"),
        (np.tile([1.0, -1.0, 0.0], (count, 1)), "positive semidefinite"),
    ):
        with pytest.raises(InputError, match=rf"remeshing\.criteria: .*{remedy}"):
            sizing_of(state, options, **{way: [lambda state, wrong=wrong: wrong]})
    with pytest.raises(SimulationError, match="sizing of face 0 by <lambda> is not finite"):
        sizing_of(state, options, **{way: [lambda state: np.full(count, np.nan)]})


def test_the_longest_edge_follows_the_area_of_each_sheet_unless_it_is_given():
    assert SizingOptions(size_max=0.5).for_area(1.0).size_max == 0.5
    assert SizingOptions().for_area(0.04).size_max == pytest.approx(0.15 * 0.2)
    assert SizingOptions().for_area(100.0).size_max == 0.1
    assert SizingOptions(size_min=0.05).for_area(0.04).size_max == 0.05
    with pytest.raises(InputError, match=r"remeshing\.size_min = 1\.0 \(must be ≤ size_max = 0\.1"):
        SizingOptions(size_min=1.0, size_max=0.1)
