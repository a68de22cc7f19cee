"""The compiled kernels of a traced energy: straight-line code for value, gradient and Hessian of one element.

The source is kept in the user's cache under a hash of itself, so that Numba compiles it once and finds its own cache
beside it later.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType

from crumple.energies.traced.derivatives import gradient, hessian
from crumple.energies.traced.graph import Value
from crumple.energies.traced.source import FUNCTIONS, straight_line
from crumple.runtime.caching import cache_folder
from crumple.runtime.reading import read_regular

_HEAD = f"""\
\"\"\"Made by crumple from the energy {{name!r}}; it is made again when it is missing.\"\"\"

from math import {", ".join(FUNCTIONS)}

from numba import njit, prange

"""

_LOOPS = """

@njit(cache=True, parallel=True, error_model="numpy")
def evaluate(x, stencil, p, order, mask, value, gradient, hessian):
    for e in prange(len(stencil)):
        if order == 0:
            value_of(e, x, stencil, p, value)
        elif order == 1:
            gradient_of(e, x, stencil, p, value, gradient)
        elif {projected}:
            gauss_newton_of(e, x, stencil, p, value, gradient, hessian)
        else:
            hessian_of(e, x, stencil, p, value, gradient, hessian)


@njit(cache=True, error_model="numpy")
def deformations(x, stencil, p, out):
    for e in range(len(stencil)):
        deformation_of(e, x, stencil, p, out)
"""


@dataclass(frozen=True)
class Formula:
    """A traced energy with its derivatives.

    `value` of an element [J];  `nodes`: the three coordinates of each of its nodes;  `columns`: what the columns of
    the parameters are called;  `residuals`: C, without shifts, if it is a sum of squares;  `shifted`: C with them,
    times the root of their weight.
    """

    name: str
    value: Value
    nodes: tuple[tuple[Value, Value, Value], ...]
    columns: tuple[str, ...]
    residuals: tuple[Value, ...] = ()
    shifted: tuple[Value, ...] = field(default=())

    @property
    def variables(self) -> list[Value]:
        return [coordinate for node in self.nodes for coordinate in node]

    @cached_property
    def gradient(self) -> list[Value]:
        """By all coordinates."""
        return gradient(self.value, self.variables)

    @cached_property
    def hessian(self) -> list[list[Value]]:
        """Rows of the upper triangle."""
        return hessian(self.gradient, self.variables)

    @cached_property
    def gauss_newton(self) -> list[list[Value]]:
        """Rows of the upper triangle of Σ ∇C ∇Cᵀ."""
        slopes = [gradient(one, self.variables) for one in self.shifted]
        zero = self.value.graph.constant(0.0)
        size = len(self.variables)
        rows = [[zero for _ in range(i, size)] for i in range(size)]
        for slope in slopes:
            for i in range(size):
                for j in range(i, size):
                    rows[i][j - i] = rows[i][j - i] + slope[i] * slope[j]
        return rows

    @cached_property
    def kernels(self) -> ModuleType:
        """The module with the compiled functions `evaluate` and `deformations`."""
        return _load(self.name, self.source())

    def source(self) -> str:
        """The text of that module."""
        heads = ["value[e] = {}"]
        slopes = [*heads, *(f"gradient[e, {i // 3}, {i % 3}] = {{}}" for i in range(len(self.variables)))]
        first = [self.value, *self.gradient]
        parts = [
            self._function("value_of", "value", [self.value], heads),
            self._function("gradient_of", "value, gradient", first, slopes),
            self._hessian_function("hessian_of", first, slopes, self.hessian),
        ]
        if self.shifted:
            parts.append(self._hessian_function("gauss_newton_of", first, slopes, self.gauss_newton))
        else:
            parts.append("gauss_newton_of = hessian_of\n")
        stores = [f"out[e, {i}] = {{}}" for i in range(len(self.residuals))] or ["out[e, 0] = {}"]
        parts.append(self._function("deformation_of", "out", list(self.residuals) or [self.value], stores))
        loops = _LOOPS.format(projected="mask[e]" if self.shifted else "False")
        return _HEAD.format(name=self.name) + "\n\n".join(parts) + loops

    def _hessian_function(
        self, name: str, first: list[Value], slopes: list[str], rows: Sequence[Sequence[Value]]
    ) -> str:
        outputs, stores = [*first], [*slopes]
        block = 0
        for a in range(len(self.nodes)):
            for b in range(a, len(self.nodes)):
                for c in range(3):
                    for d in range(3):
                        i, j = sorted((3 * a + c, 3 * b + d))
                        outputs.append(rows[i][j - i])
                        stores.append(f"hessian[e, {block}, {c}, {d}] = {{}}")
                block += 1
        return self._function(name, "value, gradient, hessian", outputs, stores)

    def _function(self, name: str, results: str, outputs: Sequence[Value], stores: Sequence[str]) -> str:
        lines, expressions = straight_line(outputs)
        loads = [
            f"{coordinate.args[0]} = x[stencil[e, {k}], {c}]"
            for k, node in enumerate(self.nodes)
            for c, coordinate in enumerate(node)
        ]
        loads += [f"{column} = p[e, {k}]" for k, column in enumerate(self.columns)]
        body = [*loads, *lines, *(store.format(text) for store, text in zip(stores, expressions, strict=True))]
        head = f'@njit(error_model="numpy")\ndef {name}(e, x, stencil, p, {results}):\n'
        return head + "".join(f"    {line}\n" for line in body)


def _load(name: str, source: str) -> ModuleType:
    """The module of a source text, from the cache."""
    key = hashlib.blake2b(source.encode(), digest_size=12).hexdigest()
    module_name = f"crumple_energy_{key}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    path = cache_folder("energies") / f"{name}_{key}.py"
    if not path.is_file() or read_regular(path) != source.encode():
        _write(path, source)
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module


def _write(path: Path, text: str) -> None:
    """Write a file at once: other processes see all of it or nothing."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode())
    os.replace(temporary, path)
