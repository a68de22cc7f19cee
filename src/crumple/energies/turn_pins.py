"""Springs ½ k (φ − φ₀)² that hold the turns of chosen edges: a clamp along a line of nodes.

A handle that holds whole faces needs none: their bending stiffness is raised (`bending_midedge.face_stiffness`), and
the directors at their rim follow their normals. A handle that holds only a row of nodes leaves the sheet free to turn
about it, unless it holds the directors of the row, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.energies.bending_midedge import BendingMidedge
from crumple.geometry.directors import Directors, EdgeLinks
from crumple.typing import Floats, Ints

STIFFNESS = 1e4
"""Of the springs, over the mean stiffness of all turns."""


@dataclass(frozen=True)
class TurnPins:
    """`nodes` (n, 0) none;  `scalars` (n, 1) edges;  `target` (n,) φ₀ [rad];  `stiffness` (n,) k [N m]."""

    nodes: Ints
    scalars: Ints
    target: Floats
    stiffness: Floats

    def value(self, turn: Floats) -> Floats:
        """Energy of each spring [J], (n,), for the turns φ (edge_count,) [rad]."""
        return 0.5 * self.stiffness * (turn[self.scalars[:, 0]] - self.target) ** 2

    def gradient(self, turn: Floats) -> Floats:
        """Derivative by the turn [N m], (n, 1)."""
        return (self.stiffness * (turn[self.scalars[:, 0]] - self.target))[:, None]

    def hessian(self) -> Floats:
        """Second derivative by the turn [N m], (n, 1)."""
        return self.stiffness[:, None]


def make_turn_pins(edges: Ints, target: Floats, energy: BendingMidedge) -> TurnPins:
    """Springs at `edges` (n,) towards the turns `target` (n,) [rad], hard beside the bending `energy`."""
    diagonal = np.trace(energy.stiffness, axis1=1, axis2=2) / 3.0
    return TurnPins(
        nodes=np.zeros((len(edges), 0), np.int32),
        scalars=np.ascontiguousarray(edges, np.int32).reshape(-1, 1),
        target=np.ascontiguousarray(target, np.float64),
        stiffness=np.full(len(edges), STIFFNESS * float(diagonal.mean())),
    )


def turns_to(start: Directors, links: EdgeLinks, edges: Ints, tangent: Floats, director: Floats) -> Floats:
    """The turns φ₀ (n,) [rad] that bring the directors of `edges` (n,) from the `start` of a step to `director` (n, 3).

    `tangent` (n, 3): unit vectors of the edges then, as `SheetMesh.edges` runs them. A handle that turns by the
    rotation R during the step wants R t̂₀ and R d̂₀.
    """
    corner = np.full(links.edge_count, -1)
    corner[links.face_edge.ravel()[::-1]] = np.arange(links.face_edge.size)[::-1]  # the first face that has the edge
    old_t = start.tangent.reshape(-1, 3)[corner[edges]]
    old_d = start.director.reshape(-1, 3)[corner[edges]]
    along = np.einsum("ei,ei->e", old_d, tangent) / (1.0 + np.einsum("ei,ei->e", old_t, tangent))
    carried = old_d - along[:, None] * (old_t + tangent)
    across = np.einsum("ei,ei->e", np.cross(carried, director), tangent)
    return np.arctan2(across, np.einsum("ei,ei->e", carried, director))
