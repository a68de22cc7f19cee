"""Traced values: the operations of a formula as a graph in which equal operations are one node.

Every node remembers the line of the user's function that asked for it, so that whatever goes wrong later can be told
with that line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias

from crumple.runtime.errors import CrumpleError

Scalar: TypeAlias = "Value | float"


class TracingError(CrumpleError):
    """Something that cannot be traced; whoever called the function adds its file and line."""


class Graph:
    """All nodes of one formula, in the order in which they were made: arguments come before what is made of them."""

    def __init__(self, source: str = "") -> None:
        """`source`: the file of the user's function, whose lines the nodes remember."""
        self.nodes: list[Node] = []
        self._known: dict[tuple[Any, ...], Node] = {}
        self._source = source
        self._line: int | None = None

    def variable(self, name: str) -> Value:
        """The value that the generated code calls `name`."""
        return self._value("variable", name)

    def constant(self, number: float) -> Value:
        """A number."""
        return self._value("constant", float(number))

    def value(self, op: str, *args: Node) -> Value:
        """The value of an operation on other nodes."""
        return self._value(op, *args)

    def condition(self, op: str, *args: Node) -> Condition:
        """A comparison, or what "and", "or" and "not" make of others."""
        found = self._make(Condition, op, args)
        assert isinstance(found, Condition)
        return found

    @contextmanager
    def at_line(self, line: int) -> Iterator[None]:
        """What is made meanwhile counts as made by this line: derivatives belong to the line of what they derive."""
        before, self._line = self._line, line
        try:
            yield
        finally:
            self._line = before

    def _value(self, op: str, *args: Any) -> Value:
        found = self._make(Value, op, args)
        assert isinstance(found, Value)
        return found

    def _make(self, kind: type[Node], op: str, args: tuple[Any, ...]) -> Node:
        key = (op, *((arg.index,) if isinstance(arg, Node) else repr(arg) for arg in args))
        found = self._known.get(key)
        if found is None:
            found = kind(self, len(self.nodes), op, args, self._present_line())
            self._known[key] = found
            self.nodes.append(found)
        return found

    def _present_line(self) -> int:
        """The line of the user's file that is being run, 0 when there is none."""
        if self._line is not None:
            return self._line
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self._source:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return 0


class Node:
    """An operation `op` on `args` (nodes, or the name of a variable, or a number), asked for in `line`."""

    __slots__ = ("args", "graph", "index", "line", "op")
    __array_ufunc__ = None  # numpy leaves operations with its own numbers and arrays to us

    def __init__(self, graph: Graph, index: int, op: str, args: tuple[Any, ...], line: int) -> None:
        self.graph, self.index, self.op, self.args, self.line = graph, index, op, args, line

    def __bool__(self) -> bool:
        raise TracingError(
            "`if`, `and`, `or`, `not`, min() and max() need to know which way to go, but the function is traced once "
            "for all elements: use where(condition, a, b), minimum and maximum of crumple.energies.traced, "
            "and & | ~ between conditions"
        )

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TracingError("numpy cannot compute with traced values: use the functions of crumple.energies.traced")


class Condition(Node):
    """Whether something holds; to be used with `where`."""

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        return self.graph.condition("and", self, other)

    def __or__(self, other: Condition) -> Condition:
        return self.graph.condition("or", self, other)

    def __invert__(self) -> Condition:
        return self.graph.condition("not", self)


class Value(Node):
    """A traced number. Sums, products and the like are simplified where that is free of doubt."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __float__(self) -> float:
        raise TracingError(
            "a traced value is no number yet, so functions of math and numpy do not take it: "
            "use those of the same name in crumple.energies.traced"
        )

    def __eq__(self, other: object) -> bool:
        raise TracingError(
            "traced values cannot be compared with == and !=: use < or > in crumple.energies.traced.where"
        )

    def __lt__(self, other: Scalar) -> Condition:
        return self.graph.condition("<", self, self._with(other))

    def __gt__(self, other: Scalar) -> Condition:
        return self.graph.condition("<", self._with(other), self)

    def __le__(self, other: Scalar) -> Condition:
        return self.graph.condition("<=", self, self._with(other))

    def __ge__(self, other: Scalar) -> Condition:
        return self.graph.condition("<=", self._with(other), self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return choose(self < 0.0, -self, self)

    def __add__(self, other: Scalar) -> Value:
        if not is_scalar(other):
            return NotImplemented
        other = self._with(other)
        if is_constant(self) and is_constant(other):
            return self.graph.constant(self.args[0] + other.args[0])
        if is_constant(self, 0.0):
            return other
        if is_constant(other, 0.0):
            return self
        if other.op == "neg":
            return self - other.args[0]
        if self.op == "neg":
            return other - self.args[0]
        if self.op == other.op == "where" and self.args[0] is other.args[0]:
            return choose(self.args[0], self.args[1] + other.args[1], self.args[2] + other.args[2])
        first, second = (self, other) if self.index <= other.index else (other, self)
        return self.graph.value("+", first, second)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Value:
        if not is_scalar(other):
            return NotImplemented
        other = self._with(other)
        if is_constant(self) and is_constant(other):
            return self.graph.constant(self.args[0] - other.args[0])
        if is_constant(other, 0.0):
            return self
        if is_constant(self, 0.0):
            return -other
        if self is other:
            return self.graph.constant(0.0)
        if other.op == "neg":
            return self + other.args[0]
        return self.graph.value("-", self, other)

    def __rsub__(self, other: Scalar) -> Value:
        return self._with(other) - self if is_scalar(other) else NotImplemented

    def __neg__(self) -> Value:
        if is_constant(self):
            return self.graph.constant(-self.args[0])
        if self.op == "neg":
            found: Value = self.args[0]
            return found
        if self.op == "-":
            return self.args[1] - self.args[0]  # type: ignore[no-any-return]
        if has_zero_branch(self):
            return choose(self.args[0], -self.args[1], -self.args[2])
        return self.graph.value("neg", self)

    def __mul__(self, other: Scalar) -> Value:
        if not is_scalar(other):
            return NotImplemented
        other = self._with(other)
        if is_constant(self) and is_constant(other):
            return self.graph.constant(self.args[0] * other.args[0])
        for first, second in ((self, other), (other, self)):
            if is_constant(first, 0.0):
                return first
            if is_constant(first, 1.0):
                return second
            if is_constant(first, -1.0):
                return -second
            if first.op == "neg":
                return -(first.args[0] * second)
        for first, second in ((self, other), (other, self)):
            # 0 · ∞ must not come from the branch that is not taken, so the product goes inside
            if has_zero_branch(first):
                return choose(first.args[0], first.args[1] * second, first.args[2] * second)
        first, second = (self, other) if self.index <= other.index else (other, self)
        return self.graph.value("*", first, second)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Value:
        if not is_scalar(other):
            return NotImplemented
        other = self._with(other)
        if is_constant(other):
            if other.args[0] == 0.0:
                raise TracingError("division by zero")
            return self * (1.0 / other.args[0])
        return self * self.graph.value("inv", other)

    def __rtruediv__(self, other: Scalar) -> Value:
        return self._with(other) / self if is_scalar(other) else NotImplemented

    def __pow__(self, power: Scalar) -> Value:
        if not is_scalar(power):
            return NotImplemented
        if isinstance(power, Value) and not is_constant(power):
            return self.graph.value("exp", power * self.graph.value("log", self))
        number = float(power.args[0] if isinstance(power, Value) else power)
        if number == 0.5:
            return self.graph.value("sqrt", self)
        if number.is_integer() and abs(number) <= 64:
            return self._repeated(int(number))
        return self.graph.value("pow", self, self.graph.constant(number))

    def __rpow__(self, base: Scalar) -> Value:
        return self._with(base) ** self if is_scalar(base) else NotImplemented

    def _repeated(self, power: int) -> Value:
        """An integer power by repeated squaring."""
        if power < 0:
            return self.graph.value("inv", self._repeated(-power))
        if power == 0:
            return self.graph.constant(1.0)
        half = self._repeated(power // 2)
        square = half * half
        return square * self if power % 2 else square

    def _with(self, other: Scalar) -> Value:
        """A number as a node of the same graph."""
        return other if isinstance(other, Value) else self.graph.constant(other)


def is_scalar(other: object) -> bool:
    """Whether `other` is a traced value or a plain number."""
    if isinstance(other, (Value, bool, int, float)):
        return True
    return getattr(other, "ndim", None) == 0 and getattr(getattr(other, "dtype", None), "kind", "") in "fiu"


def is_constant(value: Node, number: float | None = None) -> bool:
    """Whether a node is a constant, and this one if a number is given."""
    return value.op == "constant" and (number is None or value.args[0] == number)


def has_zero_branch(value: Node) -> bool:
    """Whether a value is zero on one side of a condition."""
    return value.op == "where" and any(is_constant(branch, 0.0) for branch in value.args[1:])


def choose(condition: Condition, first: Value, second: Value) -> Value:
    """`first` where the condition holds, else `second`."""
    if first is second:
        return first
    return condition.graph.value("where", condition, first, second)
