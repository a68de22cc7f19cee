"""Energies of one's own: a scalar function of an element's nodes in Python becomes a compiled energy.

    @crumple.energy(elements="hinges", parameters={"k": (), "rest": ()})
    def fold(x0, x1, x2, x3, k, rest):
        return 0.5 * k * (dihedral(x0, x1, x2, x3) - rest) ** 2

    model = model.with_energy(fold, lambda mesh: {"k": 1e-4, "rest": 0.3})

The function is traced once (see `crumple.energies.traced`); gradient and exact Hessian are derived from the trace by
reverse mode, twice, and compiled as straight-line code. Where Newton's method asks for a semi-definite Hessian, it is
projected (`definite`); with `residuals=True` the function returns one or several C, the energy is ½ Σ C², and the
Hessian there is Σ ∇C ∇Cᵀ (Gauss–Newton), which needs no projection."""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from crumple.contract.energy import HESSIAN
from crumple.contract.term import Term
from crumple.energies.traced.energy import TracedEnergy, TracedResiduals
from crumple.energies.traced.functions import sqrt
from crumple.energies.traced.generated import Formula
from crumple.energies.traced.graph import Graph, TracingError, Value
from crumple.energies.traced.source import first_not_finite
from crumple.energies.traced.term import Parameters, TracedTerm
from crumple.energies.traced.vector import Vector
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Floats, Ints

NODES = {"nodes": 1, "edges": 2, "faces": 3, "hinges": 4}
"""How many nodes an element of each kind has."""
TIME = "time"
"""The parameter that is the simulated time [s]."""

LONGEST_NAME = 64
"""Letters of the name of an energy or a parameter; they become names of files and variables."""
MOST_NUMBERS = 256
"""Numbers that the parameters of one element have together."""
_INSIDE = ".__wrapped__"

Shape: TypeAlias = tuple[int, ...]


def energy(
    *, elements: str, parameters: Mapping[str, Shape] | None = None, residuals: bool = False
) -> Callable[[Callable[..., Any]], EnergyFunction]:
    """Decorates a function of the nodes' positions and of parameters that returns the energy of one element [J].

    `elements`: "nodes", "edges", "faces" or "hinges", which have 1, 2, 3 and 4 nodes; those of a hinge are the ends of
    its edge and the corners opposite to it, as in `SheetMesh.hinges`.
    `parameters`: name → shape of each parameter after the positions, () for a number, (3,) for a vector, (3, 2) for a
    matrix. A further parameter of the name `time` is the simulated time [s].
    `residuals`: the function returns one or several C, and the energy is ½ Σ C²; it then can be damped.
    """

    def decorate(function: Callable[..., Any]) -> EnergyFunction:
        return EnergyFunction(function, elements, dict(parameters or {}), residuals)

    return decorate


class EnergyFunction:
    """A function that `crumple.energy` decorates: it can be called as before, and makes energies and terms."""

    def __init__(
        self, function: Callable[..., Any], elements: str, parameters: dict[str, Shape], residuals: bool
    ) -> None:
        if not inspect.isfunction(function):
            raise InputError("crumple.energy", "must decorate a function that is written in Python", function)
        self.__wrapped__, self.__doc__ = function, function.__doc__
        self.name = function.__name__ if function.__name__.isidentifier() else "energy"
        self.elements, self.parameters, self.has_residuals = elements, parameters, residuals
        code = function.__code__
        self._file, self._line = code.co_filename, code.co_firstlineno
        if elements not in NODES:
            raise InputError(f"{self.place}: elements", f"must be one of {', '.join(NODES)}", elements)
        self._has_time = self._check_signature()
        self._formula = self._traced()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by the name of the function, for processes that can import it; cloudpickle, which Dask and Gymnasium
        use, sends functions along that are in scripts or in other functions. Formula and kernels are made anew."""
        if _named(self.__wrapped__) is self:  # then this is where the function itself is to be found
            self.__wrapped__.__qualname__ += _INSIDE
        return _restored, (self.__wrapped__, self.elements, self.parameters, self.has_residuals)

    @property
    def place(self) -> str:
        """File, line and name of the function, for messages."""
        return f"{self._file}:{self._line}: {self.name}"

    @cached_property
    def kind(self) -> type[TracedEnergy]:
        """The energy of this function: a class whose objects hold nodes and parameters of elements."""
        base = TracedResiduals if self.has_residuals else TracedEnergy
        return type(self.name, (base,), {"law": self, "__module__": self.__wrapped__.__module__})

    @property
    def formula(self) -> Formula:
        return self._formula

    def on(self, mesh: SheetMesh, parameters: Parameters, *, time: float = 0.0) -> TracedEnergy:
        """The energy of all such elements of a mesh, with the parameters of each.

        Every parameter is one value for all, or an array with one row per element (n, …).
        """
        return self.of(element_nodes(mesh, self.elements), parameters, time=time)

    def of(self, stencil: Ints, parameters: Parameters, *, time: float = 0.0) -> TracedEnergy:
        """The energy of elements with the nodes `stencil` (n, k)."""
        count = len(stencil)
        missing = [name for name in self.parameters if name not in parameters]
        unknown = [name for name in parameters if name not in self.parameters]
        if missing or unknown:
            told = f"lacks {', '.join(missing)}" if missing else f"has unknown {', '.join(unknown)}"
            wanted = ", ".join(self.parameters) or "none"
            raise InputError(f"{self.place}: parameters", f"{told}; wanted are {wanted}")
        columns = [self._columns(name, parameters[name], count) for name in self.parameters]
        if self._has_time:
            columns.append(np.full((count, 1), time))
        if self.has_residuals:
            columns += [np.ones((count, 1)), np.zeros((count, self.residual_count))]
        table = np.concatenate(columns, axis=1) if columns else np.zeros((count, 0))
        return self.kind(stencil, np.ascontiguousarray(table))

    def term(
        self,
        parameters: Callable[[SheetMesh], Parameters] | Parameters | None = None,
        *,
        damping: float = 0.0,
        is_projected: bool | None = None,
    ) -> Term:
        """The term for a model: `parameters` is a function of the mesh that is called again whenever the mesh changes,
        or values that fit any mesh.

        `damping`: the time β [s] of k β Ċ beside k C, for functions that return residuals;
        `is_projected`: see `Term`; by default only residuals of elements that have an extent.
        """
        if damping < 0.0 or not np.isfinite(damping):
            raise InputError(f"{self.place}: damping", "must be >= 0, in s", damping)
        if damping and not self.has_residuals:
            remedy = "only functions with residuals=True can be damped: a rate needs something that it is the rate of"
            raise InputError(f"{self.place}: damping", remedy, damping)
        kept = self.has_residuals and self.elements != "nodes" if is_projected is None else is_projected
        return TracedTerm(self, parameters or {}, damping, kept)

    @property
    def residual_count(self) -> int:
        return len(self._formula.residuals)

    @property
    def scale_column(self) -> int:
        """The column with the weight of the squares; their shifts follow."""
        return len(self._formula.columns) - 1 - self.residual_count

    @property
    def time_column(self) -> int | None:
        """The column with the time, if the function asks for it."""
        return self._formula.columns.index(f"p_{TIME}") if self._has_time else None

    def complain(self, one: TracedEnergy, x: Floats) -> None:
        """Raise SimulationError with file and line if value, gradient or Hessian are not finite at x."""
        n, k = one.stencil.shape
        value, gradient, hessian = np.empty(n), np.empty((n, k, 3)), np.empty((n, k * (k + 1) // 2, 3, 3))
        one.evaluate(x, HESSIAN, False, value, gradient, hessian)
        sums = value + gradient.sum(axis=(1, 2)) + hessian.sum(axis=(1, 2, 3))
        if np.isfinite(sums).all():
            return
        e = int(np.flatnonzero(~np.isfinite(sums))[0])
        formula = self._formula
        names = [value.args[0] for value in formula.variables]
        numbers = dict(zip(names, x[one.stencil[e]].ravel(), strict=True))
        numbers |= dict(zip(formula.columns, one.parameters[e], strict=True))
        for what, outputs in (
            ("its value is", [formula.value]),
            ("its gradient is", formula.gradient),
            ("its Hessian is", [entry for row in formula.hessian for entry in row]),
        ):
            culprit = first_not_finite(outputs, numbers)
            if culprit is not None:
                nodes = ", ".join(f"({', '.join(f'{c:.6g}' for c in point)})" for point in x[one.stencil[e]])
                shown = [name for name in formula.columns if name.startswith("p_")]
                given = ", ".join(f"{name[2:]} = {numbers[name]:.6g}" for name in shown)
                raise SimulationError(
                    f"{self._shown(culprit.line)}: {what} not finite in element {e} of the {self.elements}, with nodes "
                    f"at {nodes}{' and ' + given if given else ''}"
                )

    def _shown(self, line: int) -> str:
        """A line of the user's file with its text."""
        text = linecache.getline(self._file, line).strip()
        return f"{self._file}:{line or self._line}: {self.name}{f': `{text}`' if text else ''}"

    def _columns(self, name: str, given: Any, count: int) -> Floats:
        """The values of a parameter, one row per element."""
        shape = self.parameters[name]
        try:
            values = np.asarray(given, np.float64)
            table = np.broadcast_to(values, (count, *shape)) if values.shape in (shape, (count, *shape)) else None
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{self.place}: parameter {name!r}", "must be numbers", given) from None
        if table is None:
            remedy = (
                f"has the shape {values.shape}, must have {shape} or, for {count} {self.elements}, {(count, *shape)}"
            )
            raise InputError(f"{self.place}: parameter {name!r}", remedy)
        if not np.isfinite(table).all():
            raise InputError(f"{self.place}: parameter {name!r}", "must be finite", values)
        return table.reshape(count, -1)

    def _check_signature(self) -> bool:
        """Whether the function asks for the time; InputError when its arguments are not nodes and parameters."""
        names = list(inspect.signature(self.__wrapped__).parameters)
        count = NODES[self.elements]
        has_time = TIME in names and TIME not in self.parameters
        wanted = [*self.parameters, *([TIME] if has_time else [])]
        if len(names) < count or sorted(names[count:]) != sorted(wanted):
            remedy = f"must take the positions of {count} nodes and then {', '.join(wanted) or 'nothing'}"
            raise InputError(self.place, f"{remedy}, not ({', '.join(names)})")
        for name, shape in self.parameters.items():
            if not isinstance(shape, tuple) or not all(isinstance(size, int) and size > 0 for size in shape):
                raise InputError(
                    f"{self.place}: parameter {name!r}", "its shape must be like (), (3,) or (3, 2)", shape
                )
        for name in (self.name, *self.parameters):
            if len(name) > LONGEST_NAME:
                raise InputError(self.place, f"names may have {LONGEST_NAME} letters", name)
        numbers = sum(prod(shape) for shape in self.parameters.values())
        if numbers > MOST_NUMBERS:
            remedy = f"an element may have {MOST_NUMBERS} numbers as parameters, each of which is traced by itself"
            raise InputError(f"{self.place}: parameters", remedy, numbers)
        return has_time

    def _traced(self) -> Formula:
        """The formula that the function computes."""
        graph = Graph(self._file)
        nodes = tuple(
            (graph.variable(f"x{k}_0"), graph.variable(f"x{k}_1"), graph.variable(f"x{k}_2"))
            for k in range(NODES[self.elements])
        )
        columns: list[str] = []
        shapes = self.parameters | ({TIME: ()} if self._has_time else {})
        given = {name: _parameter(graph, f"p_{name}", shape, columns) for name, shape in shapes.items()}
        if len(set(columns)) < len(columns):
            raise InputError(f"{self.place}: parameters", "these names are too much alike", list(shapes))
        returned = self._call([Vector(node) for node in nodes], given)
        if not self.has_residuals:
            return Formula(self.name, self._scalar(graph, returned), nodes, tuple(columns))
        items = list(returned) if isinstance(returned, (tuple, list, Vector)) else [returned]
        if not items:
            raise InputError(self.place, "must return at least one number")
        residuals = tuple(self._scalar(graph, item) for item in items)
        scale = _parameter(graph, "_scale", (), columns)
        shifts = [_parameter(graph, f"_shift{k}", (), columns) for k in range(len(residuals))]
        root = sqrt(scale)
        total: Any = graph.constant(0.0)
        for one, shift in zip(residuals, shifts, strict=True):
            total = total + (one - shift) * (one - shift)
        shifted = tuple((one - shift) * root for one, shift in zip(residuals, shifts, strict=True))
        return Formula(self.name, total * scale * 0.5, nodes, tuple(columns), residuals, shifted)

    def _call(self, nodes: list[Vector], given: dict[str, Any]) -> Any:
        """What the function returns for traced values; its errors as InputError with file and line."""
        try:
            return self.__wrapped__(*nodes, **given)
        except (TracingError, TypeError, AttributeError, ValueError, IndexError, NameError, ArithmeticError) as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self._file]
            line = (frames[-1].lineno if frames else None) or self._line
            hint = "" if isinstance(error, TracingError) else _hint(error)
            raise InputError(self._shown(line), f"{error}{hint}") from (
                None if isinstance(error, TracingError) else error
            )

    def _scalar(self, graph: Graph, returned: Any) -> Value:
        if isinstance(returned, Value):
            return returned
        if isinstance(returned, (int, float)) and not isinstance(returned, bool):
            try:
                return graph.constant(returned)
            except OverflowError:
                raise InputError(self.place, "must return numbers that a float can hold") from None
        remedy = "must return one number, the energy of an element" if not self.has_residuals else "must return numbers"
        raise InputError(self.place, f"{remedy}, not {type(returned).__name__}")


def _restored(
    function: Callable[..., Any], elements: str, parameters: dict[str, Shape], residuals: bool
) -> EnergyFunction:
    """What was pickled: the object that the module of the function has under its name, or else a new one."""
    found = _named(function, _INSIDE)
    if isinstance(found, EnergyFunction) and found.__wrapped__ is function:
        return found
    return EnergyFunction(function, elements, parameters, residuals)


def _named(function: Callable[..., Any], inside: str = "") -> Any:
    """What the module of a function has under the function's name, without the part `inside`; None if nothing."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.removesuffix(inside).split("."):
        found = getattr(found, name, None)
    return found


def _hint(error: Exception) -> str:
    """What to do about an error that Python or numpy raise on traced values."""
    if "ufunc" in str(error) or "numpy" in str(error):
        return "; use the functions of crumple.energies.traced instead of numpy's"
    return ""


def _parameter(graph: Graph, name: str, shape: Shape, columns: list[str]) -> Any:
    """The traced parameter of a shape; the names of its numbers are added to `columns`."""
    if not shape:
        columns.append(name)
        return graph.variable(name)
    return Vector([_parameter(graph, f"{name}_{k}", shape[1:], columns) for k in range(shape[0])])


def element_nodes(mesh: SheetMesh, elements: str) -> Ints:
    """The nodes of the "nodes", "edges", "faces" or "hinges" of a mesh, (n, k)."""
    if elements == "nodes":
        return np.arange(mesh.node_count, dtype=np.int32).reshape(-1, 1)
    if elements == "edges":
        return np.ascontiguousarray(mesh.edges, np.int32)
    return mesh.face_nodes if elements == "faces" else mesh.hinges.nodes
