"""The one contract of every energy: value, gradient and Hessian per element, in joules.

An energy is a batch of elements that name k nodes each. Its Hessian is returned as upper node blocks in
the order (0,0), (0,1) … (0,k−1), (1,1) …, see `block_pairs`. Elements are summed by the assembler.

`project` says where the element Hessian must be positive semi-definite: everywhere (True), nowhere (False:
exact second derivatives) or in the elements of a mask (element_count,).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from crumple.typing import Bools, Floats, Ints

Projection: TypeAlias = bool | Bools

VALUE, GRADIENT, HESSIAN = 0, 1, 2
"""How many derivatives a kernel is asked for."""


class Energy(ABC):
    """What the solver asks of elastic, external and contact energies alike: all comes from one `evaluate`, usually one
    compiled kernel.

    `stencil` (n, k), k in 1..4: the nodes of each element.
    `x` (node_count, 3) world positions [m], C-contiguous float64; sheet nodes first, then obstacle nodes.
    """

    has_turns: ClassVar[bool] = False
    stencil: Ints
    keeps_stress: ClassVar[bool] = False
    """Whether not projecting this energy, where the sum stays definite, makes Newton's method faster."""

    @abstractmethod
    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        """Fill `value` (n,) [J] if the order is 0, `gradient` (n, k, 3) [N] if it is 1 or 2, and `hessian`
        (n, k(k+1)/2, 3, 3) [N/m] if it is 2. What is not asked for may be empty, or be filled as well if it is not."""

    def value(self, x: Floats) -> Floats:
        """Energy of each element [J], (n,)."""
        value = np.empty(len(self.stencil))
        self.evaluate(x, VALUE, True, value, _NO_GRADIENT, _NO_HESSIAN)
        return value

    def gradient(self, x: Floats) -> Floats:
        """Derivative of each element's energy [N], (n, k, 3)."""
        value, gradient = np.empty(len(self.stencil)), np.empty((*self.stencil.shape, 3))
        self.evaluate(x, GRADIENT, True, value, gradient, _NO_HESSIAN)
        return gradient

    def hessian(self, x: Floats, project: Projection = True) -> Floats:
        """Upper node blocks of each element's second derivative [N/m], (n, k(k+1)/2, 3, 3)."""
        return self.gradient_hessian(x, project)[1]

    def gradient_hessian(self, x: Floats, project: Projection = True) -> tuple[Floats, Floats]:
        """Gradient and Hessian in one pass."""
        n, k = self.stencil.shape
        value, gradient, hessian = np.empty(n), np.empty((n, k, 3)), np.empty((n, k * (k + 1) // 2, 3, 3))
        self.evaluate(x, HESSIAN, project, value, gradient, hessian)
        return gradient, hessian

    def step_limit(self, x: Floats, direction: Floats) -> float:
        """The share of the `direction` (node_count, 3) that may be taken from x: 1 unless the energy is a barrier."""
        return 1.0

    def restricted(self, free: Bools, number: Ints) -> Self:
        """The elements with a free node, their nodes renamed; `free`, `number` (node_count,).

        All fields of an energy have one row per element.
        """
        kept = free[self.stencil].any(axis=1)
        rows = {name: np.ascontiguousarray(value[kept]) for name, value in vars(self).items()}
        return replace(self, **(rows | {"stencil": number[rows["stencil"]]}))  # type: ignore[type-var]


class EdgeDerivatives(NamedTuple):
    """Derivatives of n elements by their k nodes and m turns.

    `vectors` (n, k, 3) [N], `moments` (n, m) [N m]: gradient by nodes and turns;
    `blocks` (n, k(k+1)/2, 3, 3) upper node blocks [N/m];  `mixed` (n, k, m, 3) [N]: row of node a and turn e;
    `own` (n, m(m+1)/2) [N m]: upper triangle of the turns.
    """

    vectors: Floats
    moments: Floats
    blocks: Floats
    mixed: Floats
    own: Floats


class EdgeEnergy(ABC):
    """An energy whose elements have unknown turns of edges beside their nodes; its Hessian is always semi-definite.

    `stencil` (n, k) nodes;  `edges` (n, m) edges of each element. The state of an edge is its half turn [rad], see
    `geometry.directors`; derivatives are by nodes and turns, and `half_direction` says what a turn does to the state.
    """

    has_turns: ClassVar[bool] = True
    owns_turns: ClassVar[bool] = False
    """Whether it says what a turn does to the state: that is for the bending energy alone, of which there is one."""
    stencil: Ints
    edges: Ints

    @abstractmethod
    def value(self, x: Floats, half_turn: Floats) -> Floats:
        """Energy of each element [J], (n,), at positions x (node_count, 3) [m] and half turns (edge_count,) [rad]."""

    @abstractmethod
    def gradient(self, x: Floats, half_turn: Floats) -> tuple[Floats, Floats]:
        """Derivatives by nodes (n, k, 3) [N] and by turns (n, m) [N m]."""

    @abstractmethod
    def gradient_hessian(self, x: Floats, half_turn: Floats) -> EdgeDerivatives:
        """All derivatives in one pass."""

    @abstractmethod
    def half_direction(self, x: Floats, direction: Floats, turn: Floats) -> Floats:
        """The change of the half turns (edge_count,) that goes with a direction (node_count, 3) [m] of the nodes and
        the `turn` (edge_count,) [rad] of the edges."""

    @abstractmethod
    def restricted_to(self, free: Bools, number: Ints, edge_number: Ints) -> EdgeEnergy:
        """The elements with a free node, nodes and edges renamed; `free`, `number` (node_count,), `edge_number`
        (edge_count,)."""


@dataclass(frozen=True)
class Example:
    """An energy with poses to test it in; every registered energy supplies one, see `register`.

    `poses`: name → x.  `rest`: a pose without force, if the energy has one.  `invariant`: rigid motions change
    nothing.  `convex`: poses whose exact element Hessians are semi-definite, so that projection changes nothing.
    """

    energy: Energy
    poses: dict[str, Floats]
    rest: Floats | None = None
    invariant: bool = False
    convex: tuple[str, ...] = ()


MakeExample: TypeAlias = Callable[[np.random.Generator], Example]

ENERGIES: dict[str, MakeExample] = {}
"""Every registered energy by name, with what makes its example. The test suite examines all of them."""


def register(name: str) -> Callable[[MakeExample], MakeExample]:
    """Decorates the function that makes the example of an energy, so that the energy is tested under `name`."""

    def registered(make: MakeExample) -> MakeExample:
        if name in ENERGIES and ENERGIES[name].__qualname__ != make.__qualname__:
            raise ValueError(f"an energy of the name {name!r} is registered already")
        ENERGIES[name] = make
        return make

    return registered


def block_pairs(k: int) -> Ints:
    """Local node pairs (a, b), a ≤ b, of the upper blocks of a k-node element in order, (k(k+1)/2, 2)."""
    return np.array([(a, b) for a in range(k) for b in range(a, k)], np.int32)


def projection_mask(project: Projection, element_count: int) -> Bools:
    """`project` as a mask with one entry per element."""
    if isinstance(project, (bool, np.bool_)):
        return np.full(element_count, bool(project))
    return np.ascontiguousarray(project, np.bool_)


def element_values(energy: Energy | EdgeEnergy, x: Floats, half_turn: Floats) -> Floats:
    """Energy of each element [J], (n,), at positions x (node_count, 3) [m] and half turns (edge_count,) [rad]."""
    return energy.value(x, half_turn) if isinstance(energy, EdgeEnergy) else energy.value(x)


def total_value(energies: Sequence[Energy | EdgeEnergy], x: Floats, half_turn: Floats) -> float:
    """The sum over all elements of all energies [J]."""
    return sum(float(np.sum(element_values(energy, x, half_turn))) for energy in energies)


_NO_GRADIENT = np.empty((0, 0, 3))
_NO_HESSIAN = np.empty((1, 0, 3, 3))
