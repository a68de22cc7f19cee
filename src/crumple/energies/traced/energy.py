"""The energies that traced functions make: nodes and parameters of elements, evaluated by the compiled kernels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from crumple.contract.energy import HESSIAN, Energy, Projection, projection_mask
from crumple.energies.definite import project_elements
from crumple.energies.elastic_energy import ElasticEnergy
from crumple.runtime.typing import Floats, Ints

if TYPE_CHECKING:
    from crumple.energies.traced.declaration import EnergyFunction


@dataclass(frozen=True)
class TracedEnergy(Energy):
    """The energy of elements by a traced function, `law`: each such function has a class of its own.

    `stencil` (n, k) nodes;  `parameters` (n, m): the numbers of all parameters of each element, then the time.
    """

    keeps_stress: ClassVar[bool] = True

    stencil: Ints
    parameters: Floats

    @property
    @abstractmethod
    def law(self) -> EnergyFunction:
        """The function."""

    def __reduce__(self) -> tuple[Any, ...]:
        """The class is made by the law, so the law is what is pickled."""
        return _restored, (self.law, self.stencil, self.parameters)

    def at(self, time: float) -> TracedEnergy:
        """The same at another `time` [s]; itself when the function does not ask for it."""
        column = self.law.time_column
        if column is None:
            return self
        parameters = self.parameters.copy()
        parameters[:, column] = time
        return replace(self, parameters=parameters)

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        mask = projection_mask(project, len(self.stencil))
        formula = self.law.formula
        formula.kernels.evaluate(x, self.stencil, self.parameters, order, mask, value, gradient, hessian)
        if order == HESSIAN and not formula.residuals:
            project_elements(hessian, mask, self.stencil.shape[1])


@dataclass(frozen=True)
class TracedResiduals(TracedEnergy, ElasticEnergy):
    """A traced ½ Σ w (C − s)², with the weight w and the shifts s in the last columns of the parameters."""

    keeps_stress: ClassVar[bool] = True

    def deformation(self, x: Floats) -> Floats:
        """C of each element, (n, m)."""
        out = np.empty((len(self.stencil), self.law.residual_count))
        self.law.formula.kernels.deformations(x, self.stencil, self.parameters, out)
        return out

    def damped(self, before: Floats, ratio: Floats) -> Sequence[Energy]:
        column, start = np.reshape(ratio, (-1, 1)), self.law.scale_column
        parameters = self.parameters.copy()
        parameters[:, start] *= 1.0 + column[:, 0]
        parameters[:, start + 1 :] = (parameters[:, start + 1 :] + column * before) / (1.0 + column)
        return [replace(self, parameters=parameters)]

    def dissipation(self, before: Floats, ratio: Floats) -> Energy:
        start = self.law.scale_column
        parameters = self.parameters.copy()
        parameters[:, start] *= ratio
        parameters[:, start + 1 :] = before
        return replace(self, parameters=parameters)


def _restored(law: EnergyFunction, stencil: Ints, parameters: Floats) -> TracedEnergy:
    """What was pickled."""
    return law.kind(stencil, parameters)
