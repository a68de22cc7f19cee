"""Traced energies, and models that have them, go to other processes and are the same there."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import crumple
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.traced import dot
from crumple.energies.traced.examples import traced_spring
from crumple.recording import state_digest
from crumple.scenes import scene_from_tables

cloudpickle = pytest.importorskip("cloudpickle", reason="comes with Dask and Gymnasium")
X = patch_poses(np.random.default_rng(2))["random"]


def plain(x, height):
    return height * dot(x, x)


pull = crumple.energy(elements="nodes", parameters={"height": ()})(plain)


class Laws:
    @crumple.energy(elements="nodes", parameters={"height": ()}, residuals=True)
    def spring(x, height):  # noqa: N805 (no method)
        return x[0] - height


def local(power):
    @crumple.energy(elements="nodes", parameters={"height": ()})
    def inner(x, height):
        return height * dot(x, x) ** power

    return inner


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
@pytest.mark.parametrize("law", [traced_spring, Laws.spring], ids=lambda law: law.name)
def test_what_can_be_imported_is_the_same_object_again(law, dumps):
    for _ in range(2):  # the second time it has another name inside
        assert pickle.loads(dumps(law)) is law


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_a_function_that_was_decorated_under_another_name(dumps):
    again = pickle.loads(dumps(pull))
    assert again.__wrapped__ is plain
    given = {"height": 2.0}
    np.testing.assert_array_equal(again.on(PATCH, given).gradient(X), pull.on(PATCH, given).gradient(X))


def test_a_function_inside_of_another_one_is_sent_along_by_cloudpickle():
    law = local(2)
    energy = law.on(PATCH, {"height": 3.0})
    again = pickle.loads(cloudpickle.dumps(energy))
    assert again.law is not law
    assert again.law.place == law.place
    np.testing.assert_array_equal(again.hessian(X, True), energy.hessian(X, True))


def test_where_a_function_cannot_go_one_is_told_which():
    with pytest.raises((pickle.PicklingError, AttributeError), match=r"local\.<locals>\.inner"):
        pickle.dumps(local(2))


def test_a_model_with_an_energy_of_ones_own_gives_the_same_bits():
    sheet = {"shape": {"kind": "rectangle", "width": 0.06, "height": 0.04, "size": 0.02}, "material": "paper80"}
    model, state, _ = crumple.build(scene_from_tables({"sheets": [sheet]}))
    model = model.with_energy(Laws.spring, {"height": 0.01}, damping=0.01)
    again, start = pickle.loads(pickle.dumps((model, state)))
    assert state_digest(crumple.run(again, start, frames=2)) == state_digest(crumple.run(model, state, frames=2))
