"""Checks of what sessions are given by hand: each returns the value, or raises an `InputError` that says why not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crumple.boundary.motions import rotation_matrix
from crumple.runtime.errors import InputError
from crumple.runtime.numbers import is_finite_number
from crumple.runtime.typing import Floats

WORDS = {2: "two", 3: "three"}
NOT_TURNED = 1e-6
"""By how much the lengths and angles of a rotation matrix, or of a quaternion, may be off."""
MOST_POINTS = 10_000
"""Points of the longest line that is taken."""


def vector(place: str, values: Sequence[float] | Floats, count: int = 3) -> Floats:
    """`count` finite numbers as an array."""
    remedy = f"must be {WORDS[count]} finite numbers"
    array = _numbers(place, values, remedy)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise InputError(place, remedy, list(np.ravel(array)))
    return array


def rotation(place: str, values: Sequence[float] | Sequence[Sequence[float]] | Floats) -> Floats:
    """A rotation matrix (3, 3): one, or from a rotation vector (3,) [rad] or a unit quaternion (4,) x, y, z, w."""
    remedy = "must be a rotation vector, a unit quaternion (x, y, z, w) or a rotation matrix"
    array = _numbers(place, values, remedy)
    if array.shape not in ((3,), (4,), (3, 3)) or not np.isfinite(array).all():
        raise InputError(place, remedy, list(np.ravel(array)[:9]))
    if array.shape == (3,):
        return rotation_matrix(array)
    matrix = _quaternion_matrix(array) if array.shape == (4,) else array
    if not np.allclose(matrix @ matrix.T, np.eye(3), rtol=0.0, atol=NOT_TURNED) or np.linalg.det(matrix) < 0.0:
        raise InputError(place, remedy, list(np.ravel(array)))
    return np.ascontiguousarray(matrix)


def points(place: str, values: Sequence[Sequence[float]] | Floats) -> Floats:
    """Two or more different points (n, 2) of a pattern [m], without those that repeat the one before."""
    remedy = "must be two different points (u, v) at least, in m"
    array = _numbers(place, values, remedy)
    if array.ndim != 2 or array.shape[1] != 2 or not np.isfinite(array).all():
        raise InputError(place, remedy, str(array.shape))
    if len(array) > MOST_POINTS:
        raise InputError(place, f"must have {MOST_POINTS} points at most", len(array))
    line = array[np.append(True, np.any(array[1:] != array[:-1], axis=1))] if len(array) else array
    if len(line) < 2:
        raise InputError(place, remedy, len(line))
    return line


def positive(place: str, value: float, unit: str) -> float:
    """A finite number > 0."""
    if is_finite_number(value) and value > 0.0:
        return float(value)
    raise InputError(place, f"must be > 0, in {unit}", value)


def between(place: str, value: float, least: float, most: float, unit: str = "") -> float:
    """A number from `least` to `most`."""
    if is_finite_number(value) and least <= value <= most:
        return float(value)
    raise InputError(place, f"must lie between {least:g} and {most:g}{f', in {unit}' if unit else ''}", value)


def whole(place: str, value: int) -> int:
    """A whole number ≥ 0."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
        return int(value)
    raise InputError(place, "must be a whole number >= 0", value)


def _numbers(place: str, values: object, remedy: str) -> Floats:
    """The values as an array of floats."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(place, remedy, str(values)[:40]) from None


def _quaternion_matrix(quaternion: Floats) -> Floats:
    """The matrix (3, 3) of a quaternion (4,) x, y, z, w: a rotation if that has the length 1."""
    x, y, z, w = quaternion
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) * (w * w + x * x + y * y + z * z) + 2.0 * (w * cross + cross @ cross)
