"""The one contract of every energy: value, gradient and Hessian per element, in joules.

An energy is a batch of elements that name k nodes each. Its Hessian is returned as upper node blocks in
the order (0,0), (0,1) … (0,k−1), (1,1) …, see `block_pairs`. Elements are summed by the assembler.

`project` says where the element Hessian must be positive semi-definite: everywhere (True), nowhere (False:
exact second derivatives) or in the elements of a mask (element_count,).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self, TypeAlias

import numpy as np

from crumple.typing import Bools, Floats, Ints

Projection: TypeAlias = bool | Bools

VALUE, GRADIENT, HESSIAN = 0, 1, 2
"""How many derivatives a kernel is asked for."""


class Energy(Protocol):
    """What the solver asks of elastic, external and contact terms alike.

    `x` (node_count, 3) world positions [m], C-contiguous float64; sheet nodes first, then obstacle nodes.
    """

    @property
    def stencil(self) -> Ints:
        """Nodes of each element, (n, k), k in 1..4."""
        ...

    def value(self, x: Floats) -> Floats:
        """Energy of each element [J], (n,)."""
        ...

    def gradient(self, x: Floats) -> Floats:
        """Derivative of each element's energy [N], (n, k, 3)."""
        ...

    def hessian(self, x: Floats, project: bool) -> Floats:
        """Upper node blocks of each element's second derivative [N/m], (n, k(k+1)/2, 3, 3)."""
        ...

    def gradient_hessian(self, x: Floats, project: bool) -> tuple[Floats, Floats]:
        """Gradient and Hessian in one pass."""
        ...


class BatchEnergy(ABC):
    """Base of the energies: all derivatives come from one `evaluate`, usually one compiled kernel."""

    stencil: Ints
    keeps_stress: ClassVar[bool] = False
    """Whether not projecting this energy, where the sum stays definite, makes Newton's method faster."""

    @abstractmethod
    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        """Fill `value`, then `gradient` if order ≥ 1, then `hessian` if order = 2; the others are not touched."""

    def value(self, x: Floats) -> Floats:
        """Energy of each element [J], (n,)."""
        value = np.empty(len(self.stencil))
        self.evaluate(x, VALUE, True, value, _NO_GRADIENT, _NO_HESSIAN)
        return value

    def value_gradient(self, x: Floats) -> tuple[Floats, Floats]:
        """Energy of each element and its derivative in one pass."""
        value, gradient = np.empty(len(self.stencil)), np.empty((*self.stencil.shape, 3))
        self.evaluate(x, GRADIENT, True, value, gradient, _NO_HESSIAN)
        return value, gradient

    def gradient(self, x: Floats) -> Floats:
        """Derivative of each element's energy [N], (n, k, 3)."""
        return self.value_gradient(x)[1]

    def hessian(self, x: Floats, project: Projection = True) -> Floats:
        """Upper node blocks of each element's second derivative [N/m], (n, k(k+1)/2, 3, 3)."""
        return self.gradient_hessian(x, project)[1]

    def gradient_hessian(self, x: Floats, project: Projection = True) -> tuple[Floats, Floats]:
        """Gradient and Hessian in one pass."""
        n, k = self.stencil.shape
        value, gradient, hessian = np.empty(n), np.empty((n, k, 3)), np.empty((n, k * (k + 1) // 2, 3, 3))
        self.evaluate(x, HESSIAN, project, value, gradient, hessian)
        return gradient, hessian

    def restricted(self, free: Bools, number: Ints) -> Self:
        """The elements with a free node, their nodes renamed; `free`, `number` (node_count,).

        All fields of an energy have one row per element.
        """
        kept = free[self.stencil].any(axis=1)
        rows = {name: np.ascontiguousarray(value[kept]) for name, value in vars(self).items()}
        return replace(self, **(rows | {"stencil": number[rows["stencil"]]}))  # type: ignore[type-var]


@dataclass(frozen=True)
class Example:
    """An energy with poses to test it in; every registered energy supplies one, see `registry`.

    `poses`: name → x.  `rest`: a pose without force, if the energy has one.  `invariant`: rigid motions change
    nothing.  `convex`: poses whose exact element Hessians are semi-definite, so that projection changes nothing.
    """

    energy: BatchEnergy
    poses: dict[str, Floats]
    rest: Floats | None = None
    invariant: bool = False
    convex: tuple[str, ...] = ()


def block_pairs(k: int) -> Ints:
    """Local node pairs (a, b), a ≤ b, of the upper blocks of a k-node element in order, (k(k+1)/2, 2)."""
    return np.array([(a, b) for a in range(k) for b in range(a, k)], np.int32)


def projection_mask(project: Projection, element_count: int) -> Bools:
    """`project` as a mask with one entry per element."""
    if isinstance(project, (bool, np.bool_)):
        return np.full(element_count, bool(project))
    return np.ascontiguousarray(project, np.bool_)


_NO_GRADIENT = np.empty((0, 0, 3))
_NO_HESSIAN = np.empty((0, 0, 3, 3))
