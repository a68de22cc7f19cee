"""Functions of traced values; numbers are taken as well."""

from __future__ import annotations

import math
from collections.abc import Callable

from crumple.energies.traced.graph import Condition, Scalar, TracingError, Value, choose, is_scalar


def _function(name: str) -> Callable[[Scalar], Scalar]:
    """The function of `math` of this name, for traced values too."""

    def function(a: Scalar) -> Scalar:
        if isinstance(a, Value):
            return a.graph.value(name, a)
        if not is_scalar(a):
            raise TracingError(f"{name} takes one number, not {type(a).__name__}")
        return float(getattr(math, name)(a))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(a)."
    return function


sqrt, sin, cos, tan = map(_function, ("sqrt", "sin", "cos", "tan"))
exp, log, atan, tanh = map(_function, ("exp", "log", "atan", "tanh"))


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y), in [−π, π]."""
    y, x = together(y, x)
    return y.graph.value("atan2", y, x) if isinstance(y, Value) and isinstance(x, Value) else math.atan2(y, x)  # type: ignore[arg-type]


def where(condition: Condition | bool, a: Scalar, b: Scalar) -> Scalar:
    """`a` where the condition holds, else `b`. The other branch may be infinite or undefined there."""
    if not isinstance(condition, Condition):
        return a if condition else b
    if not (is_scalar(a) and is_scalar(b)):
        raise TracingError("where chooses between numbers: take the components of vectors one by one")
    graph = condition.graph
    first, second = (item if isinstance(item, Value) else graph.constant(item) for item in (a, b))
    return choose(condition, first, second)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two values."""
    return where(a < b, a, b)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two values."""
    return where(b < a, a, b)


def together(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """Both as values of one graph, if one of them is."""
    if isinstance(a, Value) and not isinstance(b, Value):
        return a, a.graph.constant(b)
    if isinstance(b, Value) and not isinstance(a, Value):
        return b.graph.constant(a), b
    return a, b
