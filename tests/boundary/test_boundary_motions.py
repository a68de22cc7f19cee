"""Motions: the spline, its ends, several turns, composition, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.boundary import Key, Rate, affine, link_order, make_motion, rotation_matrix, rotation_vector
from crumple.runtime.errors import InputError

number = st.floats(-2, 2, allow_nan=False)
vector = st.tuples(number, number, number)


@st.composite
def key_lists(draw):
    gaps = draw(st.lists(st.floats(0.1, 3), min_size=1, max_size=6))
    return [
        Key(time, draw(vector), draw(vector), tuple(draw(st.tuples(*[st.floats(0.9, 1.1)] * 3))))
        for time in np.cumsum(gaps)
    ]


@settings(deadline=None, max_examples=40)
@given(key_lists(), st.floats(-1, 20))
def test_goes_through_its_keys_is_clamped_and_smooth(keys, t):
    motion = make_motion("m", keys)
    for key in keys:
        np.testing.assert_allclose(motion.pose(key.time), [*key.translate, *key.rotate, *key.scale], atol=1e-12)
    np.testing.assert_array_equal(motion.pose(keys[0].time - 5), motion.pose(keys[0].time))
    np.testing.assert_array_equal(motion.pose(keys[-1].time + 5), motion.pose(keys[-1].time))
    h = 1e-7
    left, middle, right = motion.pose(t - h), motion.pose(t), motion.pose(t + h)
    assert np.abs(right - 2 * middle + left).max() < 1e-8  # continuous velocity everywhere, the ends included


def test_inner_tangents_are_catmull_rom_for_uneven_times():
    keys = [Key(0, (0, 0, 0)), Key(1, (1, 0, 0)), Key(4, (8, 0, 0))]
    motion = make_motion("m", keys)
    h = 1e-6
    slope = (motion.pose(1 + h) - motion.pose(1 - h))[0] / (2 * h)
    assert slope == pytest.approx(8 / 4, rel=1e-6)
    # the cubic with values 1, 8, slopes 2, 0 over 3 s, at its middle: (1 + 8)/2 + 3 (2 - 0)/8
    assert motion.pose(2.5)[0] == pytest.approx(5.25)


def test_given_velocity_overrides_only_its_component():
    keys = [Key(0), Key(1, (1, 0, 0), (0, 0, 1), velocity_translate=(0, 5, 0)), Key(2, (4, 0, 0), (0, 0, 3))]
    motion = make_motion("m", keys)
    h = 1e-6
    slope = (motion.pose(1 + h) - motion.pose(1 - h)) / (2 * h)
    np.testing.assert_allclose(slope[:6], [0, 5, 0, 0, 0, 1.5], atol=1e-5)


def test_end_velocity_can_be_given():
    motion = make_motion("m", [Key(0, velocity_translate=(1, 0, 0)), Key(2, (2, 0, 0), velocity_translate=(1, 0, 0))])
    assert motion.pose(0.5)[0] == pytest.approx(0.5)  # constant speed


def test_three_turns_are_three_turns():
    motion = make_motion("m", [Key(0), Key(1, rotate=rotation_vector(1080, (0, 0, 2)))])
    assert motion.pose(0.5)[5] == pytest.approx(3 * np.pi)
    np.testing.assert_allclose(motion.transform(0.5)[0], rotation_matrix((0, 0, np.pi)), atol=1e-12)
    np.testing.assert_allclose(motion.transform(1.0)[0], np.eye(3), atol=1e-12)


def test_rate_turns_steadily_and_stops():
    motion = make_motion("m", rate=Rate(velocity=(0.1, 0, 0), spin=rotation_vector(90, (1, 0, 0)), start=1, end=3))
    point = np.array([[0.0, 1.0, 0.0]])
    np.testing.assert_allclose(motion.apply(0.5, point), point, atol=1e-15)
    np.testing.assert_allclose(motion.apply(2.0, point), [[0.1, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(motion.apply(9.0, point), [[0.2, -1, 0]], atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(vector, vector, vector)
def test_rotation_matrix_is_proper_and_turns_about_its_vector(v, p, c):
    r = rotation_matrix(v)
    np.testing.assert_allclose(r @ r.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(r) == pytest.approx(1)
    np.testing.assert_allclose(r @ np.array(v), v, atol=1e-12)
    matrix, offset = affine((0, 0, 0), v, (2, 2, 2), c)
    np.testing.assert_allclose(matrix @ np.array(c) + offset, c, atol=1e-12)  # the centre stays


@settings(deadline=None, max_examples=30)
@given(key_lists(), key_lists(), st.floats(0, 10), vector)
def test_relative_motion_is_the_composition_and_unapply_its_inverse(inner, outer, t, point):
    parent = make_motion("outer", outer, center=(0.1, 0.2, 0.3))
    child = make_motion("inner", inner, parent=parent)
    alone = make_motion("inner", inner)
    points = np.array([point, (1.0, 0.0, 0.0)])
    np.testing.assert_allclose(child.apply(t, points), parent.apply(t, alone.apply(t, points)), atol=1e-12)
    np.testing.assert_allclose(child.unapply(t, child.apply(t, points)), points, atol=1e-9)


@pytest.mark.parametrize(
    ("keys", "needle"),
    [
        ([Key(1), Key(1)], "keys[1].time = 1.0"),
        ([Key(1), Key(0)], "must ascend"),
        ([Key(float("nan"))], "finite"),
        ([Key(0), Key(float("nan"))], "keys[1].time"),
        ([Key(0, (float("inf"), 0, 0))], "finite"),
        ([Key(0, scale=(1, 0, 1))], "must be > 0"),
        ([Key(0, scale=(1, 1, 1)), Key(1, scale=(0.01,) * 3), Key(2, scale=(0.009,) * 3)], "overshoots"),
    ],
)
def test_bad_keys_are_named(keys, needle):
    with pytest.raises(InputError) as caught:
        make_motion("m", keys)
    assert needle in str(caught.value)
    assert "\n" not in str(caught.value)


def test_link_order_puts_parents_first_and_names_circles():
    order = link_order({"c": "b", "a": None, "b": "a"})
    assert sorted(order) == ["a", "b", "c"]
    assert order.index("a") < order.index("b") < order.index("c")
    with pytest.raises(InputError, match="circular reference: b → c → b"):
        link_order({"a": "b", "b": "c", "c": "b"})
    with pytest.raises(InputError, match="a → a"):
        link_order({"a": "a"})
    with pytest.raises(InputError, match="no motion has this name"):
        link_order({"a": "z"})


def test_zero_axis_is_refused():
    with pytest.raises(InputError, match="axis"):
        rotation_vector(10, (0, 0, 0))
