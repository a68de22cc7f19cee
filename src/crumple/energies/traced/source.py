"""From a graph to straight-line code, and to numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from crumple.energies.traced.derivatives import sorted_nodes
from crumple.energies.traced.graph import Node

FUNCTIONS = ("sqrt", "sin", "cos", "tan", "exp", "log", "atan", "tanh", "atan2")
"""Names that the code takes from `math`."""

_FORMS = {
    "+": "({} + {})",
    "-": "({} - {})",
    "*": "({} * {})",
    "neg": "(-{})",
    "inv": "(1.0 / {})",
    "pow": "({} ** {})",
    "<": "({} < {})",
    "<=": "({} <= {})",
    "and": "({} and {})",
    "or": "({} or {})",
    "not": "(not {})",
    "where": "({1} if {0} else {2})",
    **{name: f"{name}({{}})" for name in FUNCTIONS if name != "atan2"},
    "atan2": "atan2({}, {})",
}

_LONGEST = 160
"""Characters beyond which an expression gets a name although it is used once."""


def straight_line(outputs: Sequence[Node]) -> tuple[list[str], list[str]]:
    """Assignments that compute what the outputs share, and an expression for each output."""
    nodes = sorted_nodes(outputs)
    uses = Counter(argument.index for node in nodes for argument in node.args if isinstance(argument, Node))
    uses.update(output.index for output in outputs)
    text: dict[int, str] = {}
    lines: list[str] = []
    for node in nodes:
        if node.op == "variable":
            text[node.index] = node.args[0]
        elif node.op == "constant":
            text[node.index] = repr(node.args[0])
        else:
            formula = _FORMS[node.op].format(*(text[argument.index] for argument in node.args))
            if uses[node.index] > 1 or len(formula) > _LONGEST:
                text[node.index] = f"t{node.index}"
                lines.append(f"t{node.index} = {formula}")
            else:
                text[node.index] = formula
    return lines, [text[output.index] for output in outputs]


def first_not_finite(outputs: Sequence[Node], values: Mapping[str, float]) -> Node | None:
    """The node where numbers stop being finite when the outputs are computed for the `values` of the variables."""
    known: dict[int, float] = {}
    needed = _taken(outputs, values)
    with np.errstate(all="ignore"):
        for node in sorted_nodes(outputs):
            known[node.index] = _number(node, known, values)
            if node.index in needed and not math.isfinite(known[node.index]):
                return node
    return None


def _taken(outputs: Sequence[Node], values: Mapping[str, float]) -> set[int]:
    """The nodes that count: those of branches that are not taken do not."""
    known: dict[int, float] = {}
    with np.errstate(all="ignore"):
        for node in sorted_nodes(outputs):
            known[node.index] = _number(node, known, values)
    found: set[int] = set()
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.index in found:
            continue
        found.add(node.index)
        arguments = [argument for argument in node.args if isinstance(argument, Node)]
        if node.op == "where":
            arguments = [arguments[0], arguments[1] if known[arguments[0].index] else arguments[2]]
        stack.extend(arguments)
    return found


def _number(node: Node, known: Mapping[int, float], values: Mapping[str, float]) -> float:
    if node.op == "variable":
        return float(values[node.args[0]])
    if node.op == "constant":
        return float(node.args[0])
    arguments = [np.float64(known[argument.index]) for argument in node.args]
    return float(_NUMBERS[node.op](*arguments))


_NUMBERS: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "neg": np.negative,
    "inv": lambda a: np.divide(1.0, a),
    "pow": np.power,
    "<": np.less,
    "<=": np.less_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "where": np.where,
    "atan2": np.arctan2,
    "atan": np.arctan,
    **{name: getattr(np, name) for name in ("sqrt", "sin", "cos", "tan", "exp", "log", "tanh")},
}
