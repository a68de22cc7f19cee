"""Traced formulas: their numbers, their derivatives, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crumple.energies.traced import (
    atan,
    atan2,
    cos,
    cross,
    dot,
    exp,
    log,
    maximum,
    minimum,
    norm,
    sin,
    sqrt,
    tan,
    tanh,
    unit,
    vector,
    where,
)
from crumple.energies.traced.derivatives import gradient, hessian
from crumple.energies.traced.graph import Graph, TracingError, Value
from crumple.energies.traced.source import FUNCTIONS, first_not_finite, straight_line

FORMULAS = {
    "sums": lambda a, b, c: a + 2 - b - (3 - c) + (-a) * -1.0,
    "products": lambda a, b, c: a * b * c * 2 / (b + 1) + 1 / c,
    "powers": lambda a, b, c: a**3 + b**-2 + c**0.5 + a**1.7 + 2**b + a**c,
    "circles": lambda a, b, c: sin(a) * cos(b) + tan(0.3 * c) + atan(a) + atan2(a, b),
    "growth": lambda a, b, c: exp(-a) * log(b) + tanh(c) + sqrt(a * b),
    "branches": lambda a, b, c: (
        where((a < b) & ~(c > 5.0), a * a * b, c) + minimum(a, c) * maximum(b, 2.0) + abs(b - c)
    ),
    "vectors": lambda a, b, c: (
        dot(cross(vector([a, b, c]), [1, 2, 3.5]), unit(vector([b, 1, a])))
        + norm(np.array([1.0, 2.0, 3.0]) - vector([c, b, a]) / 2) * (vector([[a, b], [c, 1]]) @ [b, c])[0]
    ),
    "numbers of numpy": lambda a, b, c: np.float64(2.0) * a + b * np.float64(3.0) - np.array(4.0) * c,
}


def evaluate(outputs, values):
    """The numbers of traced outputs, by the code that is made of them."""
    lines, texts = straight_line(outputs)
    names = {name: getattr(math, name) for name in FUNCTIONS} | dict(values)
    exec("\n".join(lines), names)
    return np.array([eval(text, names) for text in texts])


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("place", [(0.7, 1.3, 2.1), (1.9, 0.4, 0.8)])
def test_derivatives_are_those_of_the_formula(name, place):
    formula = FORMULAS[name]
    graph = Graph()
    a, b, c = variables = [graph.variable(one) for one in "abc"]
    value = formula(a, b, c)
    first = gradient(value, variables)
    second = hessian(first, variables)

    def number(point):
        return evaluate([value], dict(zip("abc", point, strict=True)))[0]

    def slopes(point):
        return evaluate(first, dict(zip("abc", point, strict=True)))

    if name not in ("vectors", "branches"):  # those do not take plain numbers everywhere
        assert number(place) == pytest.approx(float(formula(*place)), rel=1e-14)
    for k, step in enumerate(1e-6 * np.eye(3)):
        ahead, behind = np.array(place) + step, np.array(place) - step
        assert slopes(place)[k] == pytest.approx((number(ahead) - number(behind)) / 2e-6, rel=1e-7, abs=1e-8)
        row = (slopes(ahead) - slopes(behind)) / 2e-6
        found = evaluate([second[min(k, j)][abs(k - j)] for j in range(3)], dict(zip("abc", place, strict=True)))
        np.testing.assert_allclose(found, row, rtol=1e-6, atol=1e-7)


def test_equal_operations_are_one_node():
    graph = Graph()
    a, b = graph.variable("a"), graph.variable("b")
    assert (a * b + b * a).index == ((b * a) + (a * b)).index
    assert a - a is graph.constant(0.0)
    assert sum([vector([a, b]), vector([b, a])])[0] is a + b
    negative = -a
    assert -negative is a


def test_the_branch_not_taken_does_not_spoil_derivatives():
    """√x has an infinite slope at 0, and log x none below: neither may show where another branch counts."""
    graph = Graph()
    a = graph.variable("a")
    for formula in (where(a > 1.0, sqrt(a), a * a), where(a > 1.0, log(a) * a, -3.0 * a)):
        first = gradient(formula, [a])
        second = hessian(first, [a])
        assert first_not_finite([*first, *second[0]], {"a": 0.0}) is None
        assert first_not_finite([gradient(sqrt(a), [a])[0]], {"a": 0.0}) is not None


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda a: 1.0 if a > 0.0 else 2.0, "where"),
        (lambda a: min(a, 2.0), "minimum"),
        (lambda a: math.sin(a), "crumple.energies.traced"),
        (lambda a: a == 2.0, "compared"),
        (lambda a: a / 0.0, "division by zero"),
        (lambda a: vector([a, a]) + vector([a, a, a]), "2 and 3"),
        (lambda a: vector([a, a]) * vector([a, a]), "dot or cross"),
        (lambda a: vector([a, a]) + 1.0, "scalar"),
        (lambda a: cross([a, a], [a, a]), "three"),
        (lambda a: np.linalg.norm(vector([a, a, a])), "numpy"),
        (lambda a: sin(vector([a])), "one number"),
        (lambda a: where(a > 0.0, vector([a]), vector([a])), "chooses between numbers"),
    ],
)
def test_what_cannot_be_traced_is_told(wrong, told):
    with pytest.raises(TracingError, match=told):
        wrong(Graph().variable("a"))


def test_numbers_stay_numbers():
    assert sqrt(4.0) == 2.0
    assert where(True, 1.0, 2.0) == 1.0
    assert minimum(1.0, 2.0) == 1.0
    assert atan2(0.0, -1.0) == math.pi
    assert not isinstance(norm([3.0, 4.0]), Value)
