"""Springs that hold the directors of chosen edges: a clamp along a line of nodes.

    E = ½ k (ψ − ψ_r)²

with ψ and ψ_r the angles about the edge from the normal of its first face to its director and to the wanted one. A
handle that holds whole faces needs none: their bending stiffness is raised (`bending_midedge.face_stiffness`), and the
directors at their rim follow their normals. A handle that holds only a row of nodes leaves the sheet free to turn about
it, unless it holds the directors of the row, too.

The derivative is by the turn alone: the nodes of such an edge are held, and the wanted director is normal to it there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.energies.bending_midedge import BendingMidedge
from crumple.geometry.directors import EdgeLinks, edge_directors
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.typing import Floats, Ints

STIFFNESS = 1e4
"""Of the springs, over the mean stiffness of all turns."""


@dataclass(frozen=True)
class TurnPins:
    """Directors held at `edges` (n,) to `target` (n, 3), unit vectors, with `stiffness` (n,) [N m].

    `nodes` (n, 0) and `scalars` (n, 1) are their stencil in a mixed system.
    """

    mesh: SheetMesh
    links: EdgeLinks
    edges: Ints
    target: Floats
    stiffness: Floats
    nodes: Ints
    scalars: Ints

    def value(self, x: Floats, half_turn: Floats) -> Floats:
        """Energy of each spring [J], (n,)."""
        return 0.5 * self.stiffness * self.offsets(x, half_turn) ** 2

    def gradient(self, x: Floats, half_turn: Floats) -> Floats:
        """Derivative by the turn [N m], (n, 1)."""
        return (self.stiffness * self.offsets(x, half_turn))[:, None]

    def hessian(self) -> Floats:
        """Second derivative by the turn [N m], (n, 1)."""
        return self.stiffness[:, None]

    def offsets(self, x: Floats, half_turn: Floats) -> Floats:
        """How far the directors are turned from their targets [rad], (n,)."""
        if not len(self.edges):
            return np.zeros(0)
        return turned_from(self.mesh, self.links, x, half_turn, self.edges, self.target)


def make_turn_pins(mesh: SheetMesh, links: EdgeLinks, edges: Ints, target: Floats, energy: BendingMidedge) -> TurnPins:
    """Springs at `edges` (n,) towards the directors `target` (n, 3), hard beside the bending `energy`.

    A handle that turns by a rotation R from where it gripped wants R times the `edge_directors` of then.
    """
    diagonal = np.trace(energy.stiffness, axis1=1, axis2=2) / 3.0
    return TurnPins(
        mesh=mesh,
        links=links,
        edges=np.ascontiguousarray(edges, np.int32),
        target=np.ascontiguousarray(target, np.float64).reshape(-1, 3),
        stiffness=np.full(len(edges), STIFFNESS * float(diagonal.mean())),
        nodes=np.zeros((len(edges), 0), np.int32),
        scalars=np.ascontiguousarray(edges, np.int32).reshape(-1, 1),
    )


def turned_from(mesh: SheetMesh, links: EdgeLinks, x: Floats, half_turn: Floats, edges: Ints, target: Floats) -> Floats:
    """Angles about the `edges` (n,), as `SheetMesh.edges` runs them, from `target` (n, 3) to their directors [rad]."""
    director = edge_directors(mesh, links, x, half_turn)[edges]
    tangent = x[mesh.edges[edges, 1]] - x[mesh.edges[edges, 0]]
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    across = np.einsum("ei,ei->e", np.cross(target, director), tangent)
    along = np.einsum("ei,ei->e", target, director)
    along -= np.einsum("ei,ei->e", target, tangent) * np.einsum("ei,ei->e", director, tangent)
    return np.arctan2(across, along)
