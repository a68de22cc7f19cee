"""Checks of what sessions are given by hand: each returns the value, or raises an `InputError` that says why not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.numbers import is_finite_number
from crumple.runtime.typing import Floats

WORDS = {2: "two", 3: "three"}


def vector(place: str, values: Sequence[float] | Floats, count: int = 3) -> Floats:
    """`count` finite numbers as an array."""
    remedy = f"must be {WORDS[count]} finite numbers"
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(place, remedy, str(values)[:40]) from None
    if array.shape != (count,) or not np.isfinite(array).all():
        raise InputError(place, remedy, list(np.ravel(array)))
    return array


def positive(place: str, value: float, unit: str) -> float:
    """A finite number > 0."""
    if is_finite_number(value) and value > 0.0:
        return float(value)
    raise InputError(place, f"must be > 0, in {unit}", value)


def whole(place: str, value: int) -> int:
    """A whole number ≥ 0."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
        return int(value)
    raise InputError(place, "must be a whole number >= 0", value)
