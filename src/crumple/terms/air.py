"""Air that moves, or through which the sheets move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.contract import Energy, MountedTerm, Stage, Term
from crumple.energies.wind import Wind, make_wind
from crumple.runtime.typing import Floats
from crumple.state import State


@dataclass(frozen=True)
class Air(Term):
    """Pressure and drag of the `wind`."""

    wind: Wind
    name = "air"
    column = "air"

    def mount(self, state: State) -> MountedTerm:
        return MountedAir(self.wind)


@dataclass(frozen=True)
class MountedAir(MountedTerm):
    """The air; it stores nothing."""

    wind: Wind

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return []

    def over(self, stage: Stage) -> Sequence[Energy]:
        faces = stage.state.mesh.face_nodes
        start, velocity, span = stage.start, stage.velocity, stage.span
        return [make_wind(self.wind, faces, start, velocity, span, before=stage.origin, time=stage.time)]

    def drained(self, stage: Stage, x: Floats, half_turn: Floats) -> float:
        (air,) = self.over(stage)
        return float(np.sum(air.gradient(x)[:, 0] * (x - stage.origin))) / stage.span
