"""When Newton's method may stop on a small sheet: the same errors, measured by one call each."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, sqrt

from crumple.energies.nodal import NodalQuadratic
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats
from crumple.solving.newton_options import NewtonOptions


@dataclass(frozen=True)
class CompactOptions(NewtonOptions):
    """See `NewtonOptions`."""

    def spread(self, inertia: NodalQuadratic, x: Floats) -> tuple[float, float]:
        return _spread(x, inertia.stencil, inertia.center, inertia.stiffness, inertia.force)

    def farthest(self, displacement: Floats) -> float:
        return float(_farthest(displacement))


@kernel
def _spread(x, stencil, center, stiffness, force):
    """Energy and largest distance of quadratic energies of nodes."""
    total, largest = 0.0, 0.0
    for e in range(stencil.shape[0]):
        node, square = stencil[e, 0], 0.0
        for a in range(3):
            pull, offset = 0.0, x[node, a] - center[e, a]
            for b in range(3):
                pull += stiffness[e, a, b] * (x[node, b] - center[e, b])
            total += (0.5 * pull - force[e, a]) * offset
            square += offset * offset
        largest = max(largest, square)
    return total, sqrt(largest)


@kernel
def _farthest(displacement):
    largest = 0.0
    for i in range(displacement.shape[0]):
        square = displacement[i, 0] ** 2 + displacement[i, 1] ** 2 + displacement[i, 2] ** 2
        if isnan(square):
            return square
        largest = max(largest, square)
    return sqrt(largest)
