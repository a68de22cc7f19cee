"""ARCSim material files: conversion of the constants, comments, errors."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crumple.materials import Material, parse_arcsim_material
from crumple.materials.measured import strip_comments
from crumple.runtime.errors import InputError

PAPER = """// thickness: h = 0.1e-3 m
{
    "density": 0.1, // per area
    "stretching": [[0.5e6, 0, 0.5e6, 0.5e6], [0.5e6, 0, 0.5e6, 0.5e6], [0.5e6, 0, 0.5e6, 0.5e6],
                   [0.5e6, 0, 0.5e6, 0.5e6], [0.5e6, 0, 0.5e6, 0.5e6], [0.5e6, 0, 0.5e6, 0.5e6]],
    /* bending */
    "bending": [[0.4e-3, 0.4e-3, 0.4e-3, 0.4e-3, 0.4e-3],
                [0.4e-3, 0.4e-3, 0.4e-3, 0.4e-3, 0.4e-3],
                [0.4e-3, 0.4e-3, 0.4e-3, 0.4e-3, 0.4e-3]]
}"""
KNIT = {
    "density": 0.187,
    "stretching": np.random.default_rng(0).uniform(-30, 400, (6, 4)).tolist(),
    "bending": np.random.default_rng(1).uniform(1e-6, 4e-5, (3, 5)).tolist(),
}


def test_nominal_paper_behaves_as_y_1e6_and_b_1e_4():
    """Stretching entries are doubled, B = k_b/4; constant tables make a constant, isotropic material."""
    material = parse_arcsim_material(PAPER, "paper.json", yield_curvature=200.0, weakening=2.0, damping=1e-3)
    expected = Material.from_stiffness("paper", stretch=1e6, bend=1e-4, thickness=1e-4, density=0.1)
    np.testing.assert_allclose(material.membrane, expected.membrane)
    np.testing.assert_allclose(material.bending, expected.bending)
    assert (material.density, material.yield_curvature, material.weakening) == (0.1, 200.0, 2.0)


def test_tables_are_kept_with_edge_rows_turned_into_curvature_rows():
    """The first row of bending is for edges along u, which curve along v: the last row here."""
    material = parse_arcsim_material(KNIT, "knit.json")
    np.testing.assert_allclose(material.membrane, 2.0 * np.array(KNIT["stretching"]))
    np.testing.assert_allclose(material.bending[2], 0.25 * np.array(KNIT["bending"][0]))
    np.testing.assert_allclose(material.bending[0], 0.25 * np.array(KNIT["bending"][2]))


def test_multipliers():
    plain = parse_arcsim_material(KNIT, "knit.json")
    thick = parse_arcsim_material(
        KNIT, "knit.json", thicken=2.0, density_mult=3.0, stretching_mult=0.5, bending_mult=0.25
    )
    assert np.isclose(thick.density, 6.0 * plain.density)
    np.testing.assert_allclose(thick.membrane, plain.membrane)
    np.testing.assert_allclose(thick.bending, 0.5 * plain.bending)


def test_comments_inside_strings_stay():
    assert json.loads(strip_comments('{"a": "http://x" // y\n}')) == {"a": "http://x"}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"density": None}, "density"),
        ({"density": "heavy"}, "density"),
        ({"density": -1.0}, "density"),
        ({"stretching": [[1.0]]}, "stretching"),
        ({"stretching": [[1.0] * 4] * 5 + [[1.0]]}, "stretching"),
        ({"stretching": "soft"}, "stretching"),
        ({"bending": None}, "bending"),
        ({"bending": [[float("nan")] * 5] * 3}, "bending"),
    ],
)
def test_bad_files_name_the_key(change, place):
    with pytest.raises(InputError, match=f"knit.json: {place} = ") as caught:
        parse_arcsim_material({**KNIT, **change}, "knit.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "\x00\x01", "// nothing", "[" * 100000])
def test_garbage_is_refused_in_one_line(text):
    with pytest.raises(InputError) as caught:
        parse_arcsim_material(text, "garbage.json")
    assert "\n" not in str(caught.value)


def test_bad_multiplier_is_refused():
    with pytest.raises(InputError, match=r"knit\.json: thicken = 0"):
        parse_arcsim_material(KNIT, "knit.json", thicken=0.0)
