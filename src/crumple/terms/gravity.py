"""Weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.contract import Energy, MountedTerm, Stage, Term
from crumple.energies.gravity import make_gravity
from crumple.energies.inertia import node_masses
from crumple.materials.material import Material
from crumple.runtime.typing import Floats
from crumple.state import State


@dataclass(frozen=True)
class Gravity(Term):
    """The weight of all sheets under the acceleration `pull` [m/s²]."""

    materials: tuple[Material, ...]
    pull: tuple[float, float, float]
    name = "gravity"
    is_load = True

    def mount(self, state: State) -> MountedTerm:
        return MountedGravity(node_masses(state.mesh, self.materials), np.array(self.pull, np.float64))


@dataclass(frozen=True)
class MountedGravity(MountedTerm):
    """Gravity on nodes of the `mass` (node_count,) [kg]. Moving sheets feel it through their inertia."""

    mass: Floats
    pull: Floats

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return []

    def over(self, stage: Stage) -> Sequence[Energy]:
        return [make_gravity(self.mass, self.pull)] if stage.is_static else []

    def acceleration(self) -> Floats:
        return self.pull

    def measure(self, state: State) -> float:
        return -float(np.sum(self.mass[:, None] * state.x * self.pull))
