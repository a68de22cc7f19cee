"""Declarations of energies beyond what can be compiled: refused with a reason, before anything is traced."""

from __future__ import annotations

import numpy as np
import pytest

import crumple
from crumple.runtime.errors import InputError

LONG = "k" * 300


def declared(parameters, body="x0[0] * 1.0", name="own", argument=None):
    space: dict = {}
    exec(f"def {name}(x0, {argument or ', '.join(parameters)}):\n    return {body}", space)
    return crumple.energy(elements="nodes", parameters=parameters)(space[name])


def test_long_names():
    with pytest.raises(InputError, match="64 letters"):
        declared({LONG: ()})
    with pytest.raises(InputError, match="64 letters"):
        declared({"k": ()}, name=LONG)


@pytest.mark.parametrize("shape", [(10**6,), (1000, 1000), (257,), (10**400,)])
def test_large_shapes(shape):
    with pytest.raises(InputError, match="256 numbers"):
        declared({"k": shape})


@pytest.mark.parametrize("body", ["10**400", "x0[0] * 10**400", "x0[0] ** 10**400", "k + 10**400"])
def test_numbers_that_no_float_holds(body):
    with pytest.raises(InputError):
        declared({"k": ()}, body=body)


def test_values_that_no_float_holds():
    own = declared({"k": ()}, body="k * x0[0] ** 2")
    with pytest.raises(InputError, match="must be numbers"):
        own.of(np.zeros((1, 1), np.int32), {"k": 10**400})
