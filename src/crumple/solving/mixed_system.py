"""The linear system of Newton's method with 3-vectors at nodes and one scalar per edge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crumple.contract.energy import EdgeDerivatives, EdgeEnergy
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

GAUGE = 1e-10
"""Share of their mean that is added to the stiffness of all turns: edges of faces without any do not turn."""


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
        self._known_slots = [
            (nodes, scalars, find_mixed_slots(self.coupling, nodes, scalars)) for nodes, scalars in couplings
        ]
        super().__init__(node_count, stencils, MixedSolver(solver, self.coupling), timer)  # type: ignore[arg-type]

    def _newton_direction(
        self,
        terms: Sequence[tuple[Ints, Floats]],
        edge_terms: Sequence[tuple[EdgeEnergy, EdgeDerivatives]],
        force: Floats,
        moment: Floats,
        is_convex: bool,
    ) -> tuple[Floats, Floats] | None:
        values = self.assemble_mixed(terms, edge_terms)
        flat = np.concatenate([force.ravel(), moment])
        found = self.direction(values, flat, is_convex=is_convex)  # type: ignore[arg-type]
        return None if found is None else self.split(found)

    def respond(self, force: Floats, moment: Floats) -> tuple[Floats, Floats]:
        return self.split(self.solve(np.concatenate([force.ravel(), moment])))

    def solve_forces(self, force: Floats) -> Floats:
        return self.respond(force, np.zeros(len(self.coupling.anchor)))[0]

    def assemble_mixed(
        self, terms: Sequence[tuple[Ints, Floats]], edge_terms: Sequence[tuple[EdgeEnergy, EdgeDerivatives]]
    ) -> MixedBlocks:
        """The matrix of the node blocks of `terms` and the parts of `edge_terms` that belong to turns."""
        blocks = self.assemble(terms)
        mixed, own = np.zeros((len(self.coupling.node), 3)), np.zeros(len(self.coupling.scalar))
        with self._timer("assembly"):
            for energy, found in edge_terms:
                mixed_slots, own_slots = self._scalar_slots(energy.stencil, energy.edges)
                add_rows(mixed_slots, found.mixed.reshape(*mixed_slots.shape, 3), 1.0, mixed)
                add_rows(own_slots, found.own[..., None], 1.0, own[:, None])
        diagonal = self.coupling.scalar_start[:-1]
        own[diagonal] += GAUGE * float(np.mean(own[diagonal]))
        return MixedBlocks(blocks, mixed, own)

    def split(self, vector: Floats) -> tuple[Floats, Floats]:
        """The part of a flat vector at nodes (node_count, 3), and its scalars (scalar_count,)."""
        nodes = 3 * self.coupling.node_count
        return vector[:nodes].reshape(-1, 3), vector[nodes:]

    def _scalar_slots(self, nodes: Ints, scalars: Ints) -> tuple[Ints, Ints]:
        """Where the parts of a term with these very stencils go."""
        for known_nodes, known_scalars, slots in self._known_slots:
            if known_nodes is nodes and known_scalars is scalars:
                return slots
        return find_mixed_slots(self.coupling, nodes, scalars)

    def _multiply(self, blocks: MixedBlocks, x: Floats) -> Floats:  # type: ignore[override]
        product = multiply_mixed(self._pattern, self.coupling, blocks, x)
        self._add_loose(self.split(x)[0], self.split(product)[0])
        return product
