"""The one contract of every energy: value, gradient and Hessian per element, in joules.

Unknowns are the positions of nodes and the turns of edges. An energy is a batch of elements that name k nodes each, and
m edges whose turns they feel; nearly all have none. The Hessian by nodes is returned as upper node blocks in the order
(0,0), (0,1) … (0,k−1), (1,1) …, see `block_pairs`. Elements are summed by the assembler.

`project` says where the element Hessian must be positive semi-definite: everywhere (True), nowhere (False:
exact second derivatives) or in the elements of a mask (element_count,).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from crumple.contract.ready import AnyReady, ReadyEnergy
from crumple.runtime.typing import Bools, Floats, Ints

Projection: TypeAlias = bool | Bools

VALUE, GRADIENT, HESSIAN = 0, 1, 2
"""How many derivatives a kernel is asked for."""


class Derivatives(NamedTuple):
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


class Energy(ABC):
    """What the solver asks of elastic, external and contact energies alike: all comes from one `evaluate`, usually one
    compiled kernel. Those that feel turns are a `TurningEnergy`.

    `stencil` (n, k), k in 1..4: the nodes of each element.
    `x` (node_count, 3) world positions [m], C-contiguous float64; sheet nodes first, then obstacle nodes.
    `half_turn` (edge_count,): the state of the edges [rad], see `geometry.directors`; all zero where it is not given.
    """

    stencil: Ints
    keeps_stress: ClassVar[bool] = False
    """Whether not projecting this energy, where the sum stays definite, makes Newton's method faster."""
    is_barrier: ClassVar[bool] = False
    """Whether its `step_limit` is to be asked; all that have one of their own are."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.is_barrier = cls.step_limit is not Energy.step_limit

    @property
    def turns(self) -> Ints:
        """The edges whose turns each element feels, (n, m): none."""
        return np.empty((len(self.stencil), 0), np.int32)

    @abstractmethod
    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        """Fill `value` (n,) [J] if the order is 0, `gradient` (n, k, 3) [N] if it is 1 or 2, and `hessian`
        (n, k(k+1)/2, 3, 3) [N/m] if it is 2. What is not asked for may be empty, or be filled as well if it is not."""

    def evaluate_turned(
        self, x: Floats, half_turn: Floats, order: int, project: Projection, value: Floats, out: Derivatives
    ) -> None:
        """The same with turns of edges among the unknowns."""
        self.evaluate(x, order, project, value, out.vectors, out.blocks)

    def value(self, x: Floats, half_turn: Floats | None = None) -> Floats:
        """Energy of each element [J], (n,)."""
        value = np.empty(len(self.stencil))
        if half_turn is None:
            self.evaluate(x, VALUE, True, value, NOTHING.vectors, NOTHING.blocks)
        else:
            self.evaluate_turned(x, half_turn, VALUE, True, value, NOTHING)
        return value

    def gradient(self, x: Floats, half_turn: Floats | None = None) -> Floats:
        """Derivative of each element's energy by its nodes [N], (n, k, 3)."""
        return self._derive(x, half_turn, GRADIENT, True).vectors

    def moments(self, x: Floats, half_turn: Floats) -> Floats:
        """Derivative of each element's energy by its turns [N m], (n, m)."""
        return self._derive(x, half_turn, GRADIENT, True).moments

    def hessian(self, x: Floats, project: Projection = True) -> Floats:
        """Upper node blocks of each element's second derivative [N/m], (n, k(k+1)/2, 3, 3)."""
        return self._derive(x, None, HESSIAN, project).blocks

    def gradient_hessian(self, x: Floats, project: Projection = True) -> tuple[Floats, Floats]:
        """Gradient and Hessian by the nodes in one pass."""
        found = self._derive(x, None, HESSIAN, project)
        return found.vectors, found.blocks

    def derivatives(self, x: Floats, half_turn: Floats, project: Projection = True) -> Derivatives:
        """All derivatives, by nodes and turns, in one pass."""
        return self._derive(x, half_turn, HESSIAN, project)

    def half_direction(self, x: Floats, direction: Floats, turn: Floats) -> Floats:
        """The change of the half turns (edge_count,) that goes with a direction (node_count, 3) [m] of the nodes and
        the `turn` (edge_count,) [rad] of the edges.

        To say so is for the bending energy alone, of which there is one; all others leave the half turns as they are.
        """
        return np.zeros_like(turn)

    def step_limit(self, x: Floats, direction: Floats) -> float:
        """The fraction of the `direction` (node_count, 3) that may be taken from x: 1 unless the energy is a
        barrier."""
        return 1.0

    def predict(self, x: Floats, before: Floats, project: bool, blocks: Floats) -> None:
        """Add to the Hessian `blocks` at x what it changes to take the stress that was predicted on the way from the
        pose `before` (node_count, 3) instead of the one that is there, where that makes Newton's method faster: nothing
        as a rule."""
        return

    def ready(self) -> ReadyEnergy:
        """The same, made ready for many evaluations in one thread."""
        return AnyReady(self)

    def restricted(self, free: Bools, number: Ints, edge_number: Ints) -> Self:
        """The elements with a free node, their nodes and edges renamed; `free`, `number` (node_count,), `edge_number`
        (edge_count,).

        All fields of an energy have one row per element.
        """
        rows = self._rows(free[self.stencil].any(axis=1))
        return replace(self, **(rows | {"stencil": number[rows["stencil"]]}))  # type: ignore[type-var]

    def _rows(self, kept: Bools | np.bool_) -> dict[str, Any]:
        """The fields of the elements that are `kept` (n,)."""
        return {name: np.ascontiguousarray(value[kept]) for name, value in vars(self).items()}

    def _derive(self, x: Floats, half_turn: Floats | None, order: int, project: Projection) -> Derivatives:
        """The derivatives up to the order, those by turns left as they are where there are no half turns."""
        n, k = self.stencil.shape
        m, value = self.turns.shape[1], np.empty(n)
        out = NOTHING._replace(vectors=np.empty((n, k, 3)), moments=np.empty((n, m)))
        if order == HESSIAN:
            blocks, own = np.empty((n, k * (k + 1) // 2, 3, 3)), np.empty((n, m * (m + 1) // 2))
            out = out._replace(blocks=blocks, mixed=np.empty((n, k, m, 3)), own=own)
        if half_turn is None:
            self.evaluate(x, order, project, value, out.vectors, out.blocks)
        else:
            self.evaluate_turned(x, half_turn, order, project, value, out)
        return out


class TurningEnergy(Energy):
    """An energy whose elements feel the turns of `edges` (n, m) beside their nodes: `evaluate_turned` is its kernel.

    Derivatives are by nodes and turns, and the `half_direction` of the bending says what a turn does to the half turns.
    """

    edges: Ints

    @property
    def turns(self) -> Ints:
        return self.edges

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        """As the contract has it, with half turns of zero."""
        n, m = self.edges.shape
        k = self.stencil.shape[1]
        half_turn = np.zeros(int(self.edges.max(initial=-1)) + 1)
        out = Derivatives(gradient, np.empty((n, m)), hessian, np.empty((n, k, m, 3)), np.empty((n, m * (m + 1) // 2)))
        self.evaluate_turned(x, half_turn, order, project, value, out)

    @abstractmethod
    def evaluate_turned(
        self, x: Floats, half_turn: Floats, order: int, project: Projection, value: Floats, out: Derivatives
    ) -> None:
        """As the contract has it."""

    def restricted(self, free: Bools, number: Ints, edge_number: Ints) -> Self:
        part = super().restricted(free, number, edge_number)
        return replace(part, edges=edge_number[part.edges])  # type: ignore[type-var]


@dataclass(frozen=True)
class Example:
    """An energy with poses to test it in; every registered energy supplies one, see `register`.

    `poses`: name → x.  `rest`: a pose without force, if the energy has one.  `invariant`: rigid motions change
    nothing.  `convex`: poses whose exact element Hessians are semi-definite, so that projection changes nothing.
    `half_turn` (edge_count,) [rad] in all poses but `rest`, for energies that feel turns.
    `is_exact`: a Hessian that is not projected is the second derivative everywhere; else only where there is no force
    (Gauss–Newton), so that it is compared at `rest` alone.
    """

    energy: Energy
    poses: dict[str, Floats]
    rest: Floats | None = None
    invariant: bool = False
    convex: tuple[str, ...] = ()
    half_turn: Floats = field(default_factory=lambda: np.zeros(0))
    is_exact: bool = True


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


def total_value(energies: Sequence[Energy], x: Floats, half_turn: Floats) -> float:
    """The sum over all elements of all energies [J]."""
    return sum(float(np.sum(energy.value(x, half_turn))) for energy in energies)


NOTHING = Derivatives(
    np.empty((0, 0, 3)), np.empty((0, 0)), np.empty((1, 0, 3, 3)), np.empty((0, 0, 0, 3)), np.empty((0, 0))
)
"""What a kernel is given that fills no derivatives."""
