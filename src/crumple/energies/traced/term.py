"""A traced energy as a term of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from crumple.contract.energy import Energy
from crumple.contract.term import MountedTerm, Stage, Term
from crumple.energies.elastic_energy import drained_power
from crumple.energies.traced.energy import TracedEnergy, TracedResiduals
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.state import State

if TYPE_CHECKING:
    from crumple.energies.traced.declaration import EnergyFunction

Parameters: TypeAlias = Mapping[str, Any]
"""Values of parameters by name, one for all elements or one row for each."""


class TracedTerm(Term):
    """A traced energy as a term of a model, see `EnergyFunction.term`."""

    def __init__(
        self,
        function: EnergyFunction,
        parameters: Callable[[SheetMesh], Parameters] | Parameters,
        damping: float,
        is_projected: bool,
    ) -> None:
        self.name = function.name  # type: ignore[misc]
        self.is_projected = is_projected  # type: ignore[misc]
        self.function, self.parameters, self.damping = function, parameters, damping

    def mount(self, state: State) -> MountedTerm:
        given = self.parameters(state.mesh) if callable(self.parameters) else self.parameters
        if not isinstance(given, Mapping):
            remedy = "the function of the mesh must return a dictionary: name → values"
            raise InputError(f"{self.function.place}: parameters", remedy, given)
        return MountedTraced(self.function.on(state.mesh, given), self.damping)


@dataclass(frozen=True)
class MountedTraced(MountedTerm):
    """A traced energy on one mesh; `damping` is its time [s]."""

    energy: TracedEnergy
    damping: float

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return [self.energy.at(time)] if len(self.energy.stencil) else []

    def over(self, stage: Stage) -> Sequence[Energy]:
        if not self.damping or stage.is_static or not isinstance(self.energy, TracedResiduals):
            return self.stored(stage.state, stage.time)
        now = self.energy.at(stage.time)
        assert isinstance(now, TracedResiduals)
        return now.damped(stage.past(now.deformation), np.full(len(now.stencil), self.damping / stage.span))

    def drained(self, stage: Stage, x: Floats, half_turn: Floats) -> float:
        if not self.damping or stage.is_static or not isinstance(self.energy, TracedResiduals):
            return 0.0
        now = self.energy.at(stage.time)
        assert isinstance(now, TracedResiduals)
        return drained_power(now, np.full(len(now.stencil), self.damping), stage, x)

    def begin(self, state: State, step: float) -> State:
        """The same state; the energy must be finite where the step begins, or Newton's method could not tell why."""
        self.energy.law.complain(self.energy.at(state.time), state.x)
        return state
