"""The linear system of Newton's method with 3-vectors at nodes and one scalar per edge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crumple.linalg import CholeskySolver
from crumple.linalg.mixed_matrix import (
    MixedBlocks,
    add_rows,
    find_mixed_slots,
    make_coupling,
    multiply_mixed,
)
from crumple.linalg.mixed_solver import MixedSolver
from crumple.solving.system import NewtonSystem
from crumple.timing import PhaseTimer
from crumple.typing import Floats, Ints


class ScalarTerm(NamedTuple):
    """The part of element Hessians that belongs to scalars.

    `nodes` (n, k), k may be 0;  `scalars` (n, m);  `mixed` (n, k, m, 3) row of node a and scalar e;
    `own` (n, m(m+1)/2) upper triangle of the scalars.
    """

    nodes: Ints
    scalars: Ints
    mixed: Floats
    own: Floats


class MixedSystem(NewtonSystem):
    """A `NewtonSystem` of nodes and scalars; vectors are flat, (3 node_count + scalar_count,).

    `anchor` (scalar_count, 2): the nodes of each scalar's edge. `couplings`: (nodes, scalars) stencils of all terms
    that have scalars; as arrays they are known again by identity. Their node blocks are terms like all others.
    Without scalars use `NewtonSystem`.
    """

    def __init__(
        self,
        node_count: int,
        anchor: Ints,
        stencils: Sequence[Ints],
        couplings: Sequence[tuple[Ints, Ints]],
        solver: CholeskySolver,
        timer: PhaseTimer,
    ) -> None:
        self.coupling = make_coupling(node_count, anchor, couplings)
        self._couplings = list(couplings)  # keeps the ids alive
        self._scalar_slots = {
            (id(nodes), id(scalars)): find_mixed_slots(self.coupling, nodes, scalars) for nodes, scalars in couplings
        }
        super().__init__(node_count, stencils, MixedSolver(solver, self.coupling), timer)  # type: ignore[arg-type]

    def assemble_mixed(self, terms: Sequence[tuple[Ints, Floats]], scalar_terms: Sequence[ScalarTerm]) -> MixedBlocks:
        """The matrix of the node blocks of `terms` and the scalar parts of `scalar_terms`."""
        blocks = self.assemble(terms)
        mixed, own = np.zeros((len(self.coupling.node), 3)), np.zeros(len(self.coupling.scalar))
        with self._timer("assembly"):
            for term in scalar_terms:
                mixed_slots, own_slots = self._scalar_slots[id(term.nodes), id(term.scalars)]
                add_rows(mixed_slots, term.mixed.reshape(*mixed_slots.shape, 3), 1.0, mixed)
                add_rows(own_slots, term.own[..., None], 1.0, own[:, None])
        return MixedBlocks(blocks, mixed, own)

    def split(self, vector: Floats) -> tuple[Floats, Floats]:
        """The part of a flat vector at nodes (node_count, 3), and its scalars (scalar_count,)."""
        nodes = 3 * self.coupling.node_count
        return vector[:nodes].reshape(-1, 3), vector[nodes:]

    def _multiply(self, blocks: MixedBlocks, x: Floats) -> Floats:  # type: ignore[override]
        return multiply_mixed(self._pattern, self.coupling, blocks, x)
