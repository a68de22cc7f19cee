"""The points of a sweep: all combinations of a grid, or a sample of a box."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.studies.sweeping.axes import Axis

METHODS = ("sobol", "lhs", "random")
MOST_RUNS = 1_000_000
Point = tuple[tuple[str, str], ...]
"""Keys and the texts of their values."""


def grid_points(axes: Sequence[Axis]) -> list[Point]:
    """All combinations; the last axis varies fastest."""
    check_count(prod(len(axis.values) for axis in axes))
    return [
        tuple((axis.key, value) for axis, value in zip(axes, values, strict=True))
        for values in product(*(axis.values for axis in axes))
    ]


def sample_points(axes: Sequence[Axis], count: int, method: str) -> list[Point]:
    """`count` points drawn by `method`, the same ones every time; a list of values is drawn from evenly."""
    if method not in METHODS:
        raise InputError("--sample", f"the method must be one of {', '.join(METHODS)}", method)
    if count < 1:
        raise InputError("--sample", "needs at least one point", count)
    if not axes:
        raise InputError("--sample", "draws from ranges; give at least one --vary key=lo:hi")
    check_count(count)
    shares = _shares(method, len(axes), count)
    return [tuple((axis.key, axis.at(float(s))) for axis, s in zip(axes, row, strict=True)) for row in shares]


def check_count(count: int) -> None:
    """`InputError` when a sweep is too large to be meant."""
    if count > MOST_RUNS:
        raise InputError("--vary", f"this gives {count} runs, more than {MOST_RUNS}")


def _shares(method: str, dimensions: int, count: int) -> Floats:
    """Points of the unit box, (count, dimensions), in [0, 1)."""
    if method == "random":
        return np.random.default_rng(0).random((count, dimensions))
    from scipy.stats import qmc

    kind: Any = qmc.Sobol if method == "sobol" else qmc.LatinHypercube
    name = "rng" if "rng" in inspect.signature(kind.__init__).parameters else "seed"  # before SciPy 1.15
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # numbers that are no powers of two are balanced a little less
        return np.minimum(kind(dimensions, **{name: 0}).random(count), 1.0 - 1e-12)
