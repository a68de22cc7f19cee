"""Vectors of traced values: positions of nodes, and parameters with several components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from crumple.energies.traced.functions import atan2, sqrt
from crumple.energies.traced.graph import Scalar, TracingError, is_scalar

Item: TypeAlias = "Scalar | Vector"


class Vector:
    """A few values in a row, or vectors in a row: a matrix is a vector of its rows.

    Vectors are added, subtracted, and multiplied and divided by scalars; `@` is the product with a vector or matrix.
    """

    __array_ufunc__ = None
    __hash__ = object.__hash__

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __getitem__(self, index: int | tuple[int, ...]) -> Any:
        if isinstance(index, tuple):
            first, *rest = index
            found = self.items[first]
            return found if not rest else found[tuple(rest)]  # type: ignore[index]
        return Vector(self.items[index]) if isinstance(index, slice) else self.items[index]

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TracingError(
            "numpy cannot compute with traced vectors: use dot, cross, norm … of crumple.energies.traced"
        )

    def __eq__(self, other: object) -> bool:
        raise TracingError("traced vectors cannot be compared")

    def __add__(self, other: Any) -> Vector:
        return Vector([a + b for a, b in self._pairs(other, "+")])

    def __radd__(self, other: Any) -> Vector:
        return self if isinstance(other, int) and other == 0 else self + other  # sum() begins with 0

    def __sub__(self, other: Any) -> Vector:
        return Vector([a - b for a, b in self._pairs(other, "-")])

    def __rsub__(self, other: Any) -> Vector:
        return Vector([b - a for a, b in self._pairs(other, "-")])

    def __neg__(self) -> Vector:
        return Vector([-item for item in self.items])

    def __mul__(self, factor: Any) -> Vector:
        _require_scalar(factor, "* multiplies vectors by scalars; use dot or cross for two vectors")
        return Vector([item * factor for item in self.items])

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Vector:
        _require_scalar(divisor, "/ divides vectors by scalars")
        return Vector([item / divisor for item in self.items])

    def __matmul__(self, other: Any) -> Item:
        """The sum of products: of two vectors, of a matrix and a vector, of a vector and a matrix, of two matrices."""
        if self.items and isinstance(self.items[0], Vector):
            return Vector([row @ other for row in self.items])  # type: ignore[operator]
        return _sum([a * b for a, b in self._pairs(other, "@")])

    def __rmatmul__(self, other: Any) -> Item:
        return vector(other) @ self

    def _pairs(self, other: Any, sign: str) -> list[tuple[Any, Any]]:
        """The items of both vectors, which must be as many."""
        if is_scalar(other):
            raise TracingError(f"{sign} between a vector and a scalar")
        items = vector(other).items
        if len(items) != len(self.items):
            raise TracingError(f"{sign} between vectors of {len(self.items)} and {len(items)} components")
        return list(zip(self.items, items, strict=True))


def vector(items: Any) -> Vector:
    """The vector of a list of values or numbers, or of an array."""
    if isinstance(items, Vector):
        return items
    if isinstance(items, np.ndarray):
        items = items.tolist()
    if not isinstance(items, (list, tuple)):
        raise TracingError(f"a vector is needed, not {type(items).__name__}")
    return Vector([item if is_scalar(item) else vector(item) for item in items])


def dot(a: Any, b: Any) -> Scalar:
    """The scalar product of two vectors."""
    found: Any = vector(a) @ vector(b)
    return found  # type: ignore[no-any-return]


def cross(a: Any, b: Any) -> Vector:
    """The vector product of two vectors with three components."""
    a, b = vector(a), vector(b)
    if len(a) != 3 or len(b) != 3:
        raise TracingError(f"cross of vectors with {len(a)} and {len(b)} components: both must have three")
    (x, y, z), (u, v, w) = a, b
    return Vector([y * w - z * v, z * u - x * w, x * v - y * u])


def norm(a: Any) -> Scalar:
    """The length of a vector. Where it may be 0, its derivative is not finite: add a small square, or use `where`."""
    return sqrt(dot(a, a))


def unit(a: Any) -> Vector:
    """The vector of length 1 in the same direction."""
    return vector(a) / norm(a)


def dihedral(x0: Any, x1: Any, x2: Any, x3: Any) -> Scalar:
    """The signed angle of a hinge [rad]: edge x0→x1, x2 opposite in its first face, x3 in the other; 0 when flat."""
    edge = x1 - x0
    first, second = cross(edge, x2 - x0), cross(x3 - x0, edge)
    return atan2(dot(cross(first, second), edge) / norm(edge), dot(first, second))


def _sum(terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _require_scalar(factor: Any, message: str) -> None:
    if not is_scalar(factor):
        raise TracingError(message)
