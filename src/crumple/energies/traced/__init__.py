"""Formulas that are written down once in Python and differentiated by crumple: see `crumple.energy`.

A function is called once with *traced* values instead of numbers; what it does with them is kept as a graph of
operations, from which first and second derivatives and compiled code are made. The functions here are those that a
traced value understands; they work on numbers as well.
"""

from crumple.energies.traced.functions import atan, atan2, cos, exp, log, maximum, minimum, sin, sqrt, tan, tanh, where
from crumple.energies.traced.graph import Condition, Scalar
from crumple.energies.traced.vector import Vector, cross, dihedral, dot, norm, unit, vector

__all__ = [
    "Condition",
    "Scalar",
    "Vector",
    "atan",
    "atan2",
    "cos",
    "cross",
    "dihedral",
    "dot",
    "exp",
    "log",
    "maximum",
    "minimum",
    "norm",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "unit",
    "vector",
    "where",
]
