"""Damping of all motion, in proportion to mass: the simplest there is, and it slows falling sheets as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.contract import Energy, MountedTerm, Stage, Term
from crumple.contract.energy import total_value
from crumple.energies.inertia import node_masses
from crumple.energies.nodal import all_nodes, make_nodal
from crumple.materials.material import Material
from crumple.runtime.typing import Floats, Ints
from crumple.state import State


@dataclass(frozen=True)
class VelocityDamping(Term):
    """The force −γ m v on every node, γ = `rate` [1/s]: free motion dies away as exp(−γ t)."""

    materials: tuple[Material, ...]
    rate: float
    name = "velocity damping"
    column = "velocity_damping"

    def mount(self, state: State) -> MountedTerm:
        mass = node_masses(state.mesh, self.materials)
        return MountedVelocityDamping(all_nodes(len(mass)), self.rate * mass)


@dataclass(frozen=True)
class MountedVelocityDamping(MountedTerm):
    """The damping of `nodes` (n, 1) with the `drag` (n,) [kg/s]."""

    nodes: Ints
    drag: Floats

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return []

    def over(self, stage: Stage) -> Sequence[Energy]:
        if stage.is_static:
            return []
        return [make_nodal(self.nodes, np.ascontiguousarray(stage.past(lambda x: x)), self.drag / stage.span)]

    def drained(self, stage: Stage, x: Floats, half_turn: Floats) -> float:
        return 2.0 * total_value(self.over(stage), x, half_turn) / stage.span
