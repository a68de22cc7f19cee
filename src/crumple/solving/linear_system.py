"""What Newton's method asks of a linear system: `system.NewtonSystem`, or `compact.system.CompactSystem`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from crumple.runtime.typing import Floats, Ints
from crumple.solving.system import TurnTerm


class LinearSystem(Protocol):
    """Assembles and solves H d = b for nodes and turns of edges."""

    @property
    def solver_name(self) -> str:
        """What factorises the matrix."""
        ...

    def thin(self) -> None:
        """Let the next assembly forget blocks of past contacts, if there are too many."""
        ...

    def newton_direction(
        self,
        terms: Sequence[tuple[Ints, Floats]],
        turn_terms: Sequence[TurnTerm],
        force: Floats,
        moment: Floats,
        *,
        is_convex: bool,
        is_direct: bool = False,
    ) -> tuple[Floats, Floats] | None:
        """Displacements (node_count, 3) and turns under the `force` (node_count, 3) and the `moment` (turn_count,).

        None when the matrix is not positive definite.  `is_convex`: it is known to be definite, so that the direction
        may be found by iterations;  `is_direct`: with a factorisation, which then serves `respond` too.
        """
        ...

    def respond(self, force: Floats, moment: Floats) -> tuple[Floats, Floats]:
        """Displacements (node_count, 3) and turns (turn_count,) under a `force` (node_count, 3) and a `moment`
        (turn_count,), with the last factorisation."""
        ...

    def solve_forces(self, force: Floats) -> Floats:
        """The displacements (node_count, 3) under the `force` (node_count, 3), with the last factorisation."""
        ...
