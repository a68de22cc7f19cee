"""Derivatives of traced values, as traced values of the same graph: reverse mode, applied twice for Hessians."""

from __future__ import annotations

from collections.abc import Sequence

from crumple.energies.traced.graph import Node, Value, choose, is_constant


def gradient(value: Value, variables: Sequence[Value]) -> list[Value]:
    """∂value/∂variable for each of the `variables`, by one sweep from the value back to them."""
    graph = value.graph
    zero = graph.constant(0.0)
    share: dict[int, Value] = {value.index: graph.constant(1.0)}
    for node in reversed(sorted_nodes([value])):
        known = share.get(node.index)
        if known is None or node.op in ("constant", "variable") or not isinstance(node, Value):
            continue
        with graph.at_line(node.line):
            for argument, part in _parts(node, known):
                if is_constant(argument) or is_constant(part, 0.0):
                    continue
                before = share.get(argument.index)
                share[argument.index] = part if before is None else before + part
    return [share.get(variable.index, zero) for variable in variables]


def hessian(first: Sequence[Value], variables: Sequence[Value]) -> list[list[Value]]:
    """Upper triangle of the second derivatives whose gradient is `first`: row i has the entries i, i + 1 …"""
    return [gradient(entry, variables[i:]) for i, entry in enumerate(first)]


def sorted_nodes(outputs: Sequence[Node]) -> list[Node]:
    """All nodes that the outputs need, arguments first."""
    needed: set[int] = set()
    stack: list[Node] = list(outputs)
    found: list[Node] = []
    while stack:
        node = stack.pop()
        if node.index not in needed:
            needed.add(node.index)
            found.append(node)
            stack.extend(argument for argument in node.args if isinstance(argument, Node))
    return sorted(found, key=lambda node: node.index)


def _parts(node: Value, known: Value) -> list[tuple[Value, Value]]:
    """The arguments of a node, each with what `known` = ∂out/∂node adds to its derivative."""
    args = node.args
    match node.op:
        case "+":
            return [(args[0], known), (args[1], known)]
        case "-":
            return [(args[0], known), (args[1], -known)]
        case "neg":
            return [(args[0], -known)]
        case "*":
            if args[0] is args[1]:
                return [(args[0], known * (2.0 * args[0]))]
            return [(args[0], known * args[1]), (args[1], known * args[0])]
        case "atan2":
            inverse = node.graph.value("inv", args[1] * args[1] + args[0] * args[0])
            return [(args[0], known * (args[1] * inverse)), (args[1], -(known * (args[0] * inverse)))]
        case "where":
            zero = node.graph.constant(0.0)
            return [(args[1], choose(args[0], known, zero)), (args[2], choose(args[0], zero, known))]
        case "pow":
            return [(args[0], known * (args[1] * args[0] ** (args[1].args[0] - 1.0)))]
    return [(args[0], known * _slope(node, args[0]))]


def _slope(node: Value, argument: Value) -> Value:
    """The derivative of a function of one argument; `node` is its value."""
    make = node.graph.value
    match node.op:
        case "inv":
            return -(node * node)
        case "sqrt":
            return 0.5 * make("inv", node)
        case "sin":
            return make("cos", argument)
        case "cos":
            return -make("sin", argument)
        case "tan":
            return 1.0 + node * node
        case "tanh":
            return 1.0 - node * node
        case "exp":
            return node
        case "log":
            return make("inv", argument)
        case "atan":
            return make("inv", 1.0 + argument * argument)
    raise AssertionError(node.op)
