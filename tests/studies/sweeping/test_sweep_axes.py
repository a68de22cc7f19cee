"""What --vary means, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.runtime.errors import InputError
from crumple.scenes.overrides import parse_override
from crumple.studies.sweeping.axes import axis_text, parse_axis
from crumple.studies.sweeping.points import METHODS, grid_points, sample_points


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1,2,3", ("1", "2", "3")),
        ("a=0.1:0.4:4", ("0.1", "0.2", "0.3", "0.4")),
        ("a=1:5:5", ("1", "2", "3", "4", "5")),
        ("a=1:2:3", ("1.0", "1.5", "2.0")),
        ("a=1e-6:1e-4:3:log", ("1e-06", "1e-05", "0.0001")),
        ("a=7:9:1", ("7",)),
        ("a=paper80,narain-foil", ("paper80", "narain-foil")),
        ("a=[0,0,-9.81],[0, 0, 0]", ("[0,0,-9.81]", "[0, 0, 0]")),
        ("a='x,y',\"z\"", ("'x,y'", '"z"')),
        ("a=true,false", ("true", "false")),
        ("a={ preset = 'foil', thickness = 1e-5 }", ("{ preset = 'foil', thickness = 1e-5 }",)),
    ],
)
def test_values(text, values):
    assert parse_axis(text, sampled=False).values == values


@pytest.mark.parametrize(
    ("text", "sampled", "said"),
    [
        ("friction", False, "must have the form key=a,b,c"),
        ("=1,2", False, "must have the form key=a,b,c"),
        ("a=", False, "names no value"),
        ("a=1,,2", False, "empty value between two commas"),
        ("a=1,2,", False, "empty value between two commas"),
        ("a=0.3,0.1,0.3", False, "same value is there twice (0.3 and 0.3)"),
        ("a=1,1.0", False, "same value is there twice (1 and 1.0)"),
        ("a=1:2:0", False, "the range is empty"),
        ("a=2:1:3", False, "the range is empty"),
        ("a=2:2:3", False, "the range is empty"),
        ("a=1:2", False, "how many values?"),
        ("a=0:1:3:log", False, "needs numbers above 0"),
        ("a=1:2:x", False, "a range is lo:hi:n"),
        ("a=1e999:2:3", False, "must be finite"),
        ("a=1 2", False, "not TOML"),
        ("a=1:2:3", True, "values are drawn (--sample)"),
        ("a=2:2", True, "the range is empty"),
    ],
)
def test_refusals_are_one_line_that_names_the_key(text, sampled, said):
    with pytest.raises(InputError) as caught:
        parse_axis(text, sampled=sampled)
    assert said in str(caught.value)
    assert str(caught.value).startswith("--vary")
    assert "\n" not in str(caught.value)


def test_values_of_a_grid_are_read_back_as_the_same_numbers():
    axis = parse_axis("a=1e-5:3e-3:17:log", sampled=False)
    read = [parse_override(f"a={text}")[1] for text in axis.values]
    np.testing.assert_allclose(read, np.geomspace(1e-5, 3e-3, 17), rtol=1e-11)


def test_python_values_become_the_same_text():
    assert axis_text("a", [1, 2.5, True, "paper80"]) == 'a=1,2.5,true,"paper80"'
    assert axis_text("a", np.array([0.5, 1.0])) == "a=0.5,1.0"
    assert axis_text("a", "1:2:3") == "a=1:2:3"
    assert axis_text("a", [[0, 1], [2, 3]]) == "a=[ 0, 1, ],[ 2, 3, ]"
    with pytest.raises(InputError, match="names no value"):
        axis_text("a", [])
    with pytest.raises(InputError, match="must be a list"):
        axis_text("a", 3)


def test_a_grid_has_all_combinations_and_the_last_key_varies_fastest():
    axes = [parse_axis("a=1,2", sampled=False), parse_axis("b=x,y,z", sampled=False)]
    points = grid_points(axes)
    assert len(set(points)) == 6
    assert points[:3] == [(("a", "1"), ("b", "x")), (("a", "1"), ("b", "y")), (("a", "1"), ("b", "z"))]


@pytest.mark.parametrize("method", METHODS)
def test_samples_fill_the_ranges_and_are_the_same_every_time(method):
    axes = [
        parse_axis("a=1e-6:1e-2:log", sampled=True),
        parse_axis("b=2:3", sampled=True),
        parse_axis("c=u,v", sampled=True),
    ]
    points = sample_points(axes, 64, method)
    assert points == sample_points(axes, 64, method)
    a, b = (np.array([float(point[k][1]) for point in points]) for k in (0, 1))
    assert 1e-6 <= a.min() < 1e-5
    assert 1e-3 < a.max() <= 1e-2
    assert (np.log10(a) < -4).sum() == pytest.approx(32, abs=0 if method != "random" else 12), "even in the logarithm"
    assert 2.0 <= b.min() < 2.1
    assert 2.9 < b.max() <= 3.0
    assert {point[2][1] for point in points} == {"u", "v"}


def test_bad_samples():
    axes = [parse_axis("a=1:2", sampled=True)]
    for count, method, said in (
        (0, "sobol", "at least one"),
        (4, "halton", "must be one of"),
        (10**7, "lhs", "more than"),
    ):
        with pytest.raises(InputError, match=said):
            sample_points(axes, count, method)
    with pytest.raises(InputError, match="at least one --vary"):
        sample_points([], 4, "sobol")
