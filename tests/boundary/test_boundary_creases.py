"""Creases of a model: their angles over time, their hinges and ridges."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.boundary.crease_chains import find_ridges
from crumple.boundary.creases import Crease, Press, crease_hinges, loose_hinges, pressed_hinges
from crumple.plasticity import insert_polyline
from crumple.runtime.errors import InputError
from crumple.shapes import rectangle


def creased(points, label=7):
    mesh, _ = rectangle(0.1, 0.1, 0.02, kind="equilateral")
    return insert_polyline(mesh, np.array(points), label=label).mesh


def crease(labels=(7,), times=(0.0,), angles=((0.5,),), **more):
    return Crease("c", 0, np.array(labels, np.int32), np.array(times), np.array(angles), **more)


def test_angles_over_time_are_linear_and_stay_outside():
    one = crease(times=(1.0, 2.0), angles=((0.0,), (1.0,)))
    assert [float(one.angle_at(t)[0]) for t in (0.0, 1.0, 1.25, 2.0, 9.0)] == [0.0, 0.0, 0.25, 1.0, 1.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"times": (1.0, 1.0), "angles": ((0.0,), (1.0,))},
        {"angles": ((4.0,),)},
        {"angles": ((np.nan,),)},
        {"drive": "soft"},
        {"strength": 0.0},
        {"strength": np.inf},
        {"yield_moment": 0.0},
    ],
)
def test_nonsense_is_refused(wrong):
    with pytest.raises(InputError, match="crease"):
        crease(**wrong)
    with pytest.raises(InputError, match="press"):
        Press(engage=0.0)


def test_hinges_belong_to_the_last_crease_with_their_label():
    mesh = creased([[0.05, 0], [0.05, 0.1]])
    label = mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]]
    creases = (crease((3, 7), angles=((0.1, 0.2),)), crease((7,), drive="set", press=Press(engage=0.3)))
    owner, column = crease_hinges(mesh, creases)
    np.testing.assert_array_equal(owner, np.where(label == 7, 1, -1))
    assert not column[owner == 1].any()
    assert not loose_hinges(mesh, creases).any()
    np.testing.assert_array_equal(pressed_hinges(mesh, creases), label == 7)
    np.testing.assert_array_equal(crease_hinges(mesh, creases[:1])[1][label == 7], 1)


def test_ridges_run_along_the_line_and_end_at_corners():
    mesh = creased([[0.0, 0.02], [0.05, 0.05], [0.05, 0.1]])
    label = mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]]
    hinges = np.flatnonzero(label == 7).astype(np.int32)
    ridges = find_ridges(mesh, hinges, np.zeros(len(hinges), np.int32))
    assert len(ridges.nodes) == len(hinges) - 2  # one fewer on each of the two parts
    at = mesh.node_rest[ridges.nodes][..., :2]
    first, second = at[:, 1] - at[:, 0], at[:, 2] - at[:, 1]
    assert np.all(np.einsum("ni,ni->n", first, second) > 0)
    assert np.all((first[:, 0] > 1e-9) | ((np.abs(first[:, 0]) < 1e-6) & (first[:, 1] > 0)))  # ascending
    np.testing.assert_allclose(ridges.place, at[:, 1], atol=1e-12)
    for apex, sign in ((ridges.left, 1.0), (ridges.right, -1.0)):
        for k, way in ((0, first), (1, second)):
            off = mesh.node_rest[apex[:, k], :2] - at[:, 1]
            assert np.all(sign * (way[:, 0] * off[:, 1] - way[:, 1] * off[:, 0]) > 0)
