"""Energies of single nodes that are quadratic in the position: the common form of inertia, pins, wind, gravity.

    E = ½ (x − c)ᵀ K (x − c) − f·(x − c)

per node, with a centre c, a symmetric semi-definite 3×3 stiffness K and a force f.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.contract.energy import GRADIENT, HESSIAN, Energy, Projection
from crumple.contract.ready import NO_TURNS, ReadyEnergy
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats, Ints

NO_GRADIENT = np.empty((0, 3))


@dataclass(frozen=True)
class NodalQuadratic(Energy):
    """A quadratic energy per node.

    `stencil` (n, 1) nodes;  `center` (n, 3) [m];  `stiffness` (n, 3, 3) [N/m];  `force` (n, 3) at the centre [N].
    """

    stencil: Ints
    center: Floats
    stiffness: Floats
    force: Floats

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        offset = x[self.stencil[:, 0]] - self.center
        pull = np.einsum("nij,nj->ni", self.stiffness, offset)
        np.einsum("ni,ni->n", 0.5 * pull - self.force, offset, out=value)
        if order >= GRADIENT:
            gradient[:, 0] = pull - self.force
        if order >= HESSIAN:
            hessian[:, 0] = self.stiffness

    def ready(self) -> ReadyEnergy:
        return ReadyNodes(self.stencil, self.center, self.stiffness, self.force)


class ReadyNodes(ReadyEnergy):
    """Quadratic energies of nodes in one thread."""

    def __init__(self, stencil: Ints, center: Floats, stiffness: Floats, force: Floats) -> None:
        """Fields as in `NodalQuadratic`."""
        self.stencil, self.turns = stencil, NO_TURNS
        self.blocks = stiffness[:, None]
        self.mixed, self.own = np.empty((0, 1, 0, 3)), np.empty((0, 0))
        self._fields = stencil, center, stiffness, force

    def joined(self, other: ReadyEnergy) -> ReadyEnergy | None:
        if not isinstance(other, ReadyNodes):
            return None
        center, stiffness, force = (
            np.concatenate(pair) for pair in zip(self._fields[1:], other._fields[1:], strict=True)
        )
        return ReadyNodes(np.concatenate([self.stencil, other.stencil]), center, stiffness, force)

    def value(self, x: Floats, half_turn: Floats) -> float:
        return float(_sum_nodes(x, *self._fields, NO_GRADIENT))

    def expand(self, x: Floats, half_turn: Floats, project: bool, gradient: Floats, moments: Floats) -> None:
        _sum_nodes(x, *self._fields, gradient)


def make_nodal(nodes: Ints, center: Floats, stiffness: Floats, force: Floats | None = None) -> NodalQuadratic:
    """A `NodalQuadratic` of `nodes`, with a `stiffness` (n,) the same in all directions or (n, 3, 3) [N/m].

    `nodes` (n,), or a ready stencil (n, 1), which is kept as the same array so that its assembly can be reused.
    """
    if stiffness.ndim == 1:
        stiffness = stiffness[:, None, None] * np.eye(3)
    return NodalQuadratic(
        stencil=nodes if nodes.ndim == 2 else np.ascontiguousarray(nodes, np.int32).reshape(-1, 1),
        center=np.ascontiguousarray(center, np.float64),
        stiffness=np.ascontiguousarray(stiffness, np.float64),
        force=np.zeros((len(nodes), 3)) if force is None else np.ascontiguousarray(force, np.float64),
    )


def all_nodes(count: int) -> Ints:
    """The stencil of the first `count` nodes, (count, 1)."""
    return np.arange(count, dtype=np.int32).reshape(-1, 1)


@kernel
def _sum_nodes(x, stencil, center, stiffness, force, gradient):
    """The energy of all nodes [J]; its derivative is added to the gradient (free_count, 3)."""
    total, offset = 0.0, np.empty(3)
    for e in range(stencil.shape[0]):
        node = stencil[e, 0]
        for a in range(3):
            offset[a] = x[node, a] - center[e, a]
        for a in range(3):
            pull = stiffness[e, a, 0] * offset[0] + stiffness[e, a, 1] * offset[1] + stiffness[e, a, 2] * offset[2]
            total += (0.5 * pull - force[e, a]) * offset[a]
            if node < gradient.shape[0]:
                gradient[node, a] += pull - force[e, a]
    return total
