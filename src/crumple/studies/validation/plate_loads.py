"""Plates in the simulator: supports, forces and couples as terms of the model, and how a plate is brought to rest.

Handles hold all three coordinates of a node. A simply supported plate is held in its height only, so supports are a
term of their own; so are couples along the rim, which act on the directors of its edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.contract import Derivatives, Energy, MountedTerm, Projection, Term, TurningEnergy
from crumple.energies.nodal import make_nodal
from crumple.geometry.directors import EdgeLinks, edge_directors, edge_links
from crumple.materials.material import Material
from crumple.mesh import SheetMesh
from crumple.mesh.sheet_mesh import BOUNDARY
from crumple.model.model import Model
from crumple.options.solver import BendingElement, SolverOptions
from crumple.runtime.errors import SimulationError
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.session.simulation import Simulation
from crumple.state import State, initial_state
from crumple.studies.validation.strip import NO_CONTACT


@dataclass(frozen=True)
class Fixed(MountedTerm):
    """Energies that do not change."""

    energies: tuple[Energy, ...]

    def stored(self, state: State, time: float) -> tuple[Energy, ...]:
        return self.energies


@dataclass(frozen=True, eq=False)
class Support(Term):
    """Springs that keep the height z = 0 of `nodes` (m,), of `stiffness` [N/m] each; in plane they are free."""

    nodes: Ints
    stiffness: float
    name = "support"

    def mount(self, state: State) -> MountedTerm:
        stiffness = np.zeros((len(self.nodes), 3, 3))
        stiffness[:, 2, 2] = self.stiffness
        return Fixed((make_nodal(self.nodes, np.zeros((len(self.nodes), 3)), stiffness),))


@dataclass(frozen=True, eq=False)
class Forces(Term):
    """Constant forces (m, 3) [N] on `nodes` (m,)."""

    nodes: Ints
    force: Floats
    name = "forces"

    def mount(self, state: State) -> MountedTerm:
        count = len(self.nodes)
        return Fixed((make_nodal(self.nodes, np.zeros((count, 3)), np.zeros((count, 3, 3)), self.force),))


@dataclass(frozen=True)
class RimCouples(TurningEnergy):
    """Couples on the directors of free edges: E = −m α, α the angle about the edge from e_z to its director.

    `edges` (n, 1), `stencil` (n, 2) their nodes, `moment` m (n,) [N m]. The edges must stay about where they point:
    α is then changed by their turns alone.
    """

    mesh: SheetMesh
    links: EdgeLinks
    stencil: Ints
    edges: Ints
    moment: Floats

    def evaluate_turned(
        self, x: Floats, half_turn: Floats, order: int, project: Projection, value: Floats, out: Derivatives
    ) -> None:
        upwards = np.tile([0.0, 0.0, 1.0], (len(self.edges), 1))
        value[:] = -self.moment * turned_from(self.mesh, self.links, x, half_turn, self.edges[:, 0], upwards)
        for part in out:
            part[:] = 0.0
        if order > 0:
            out.moments[:] = -self.moment[:, None]

    def restricted(self, free: Bools, number: Ints, edge_number: Ints) -> RimCouples:
        raise SimulationError("couples on edges are for meshes that stay as they are")


@dataclass(frozen=True, eq=False)
class Couples(Term):
    """A bending moment [N] per length on the free edges that are `chosen` (edge_count,)."""

    chosen: Bools
    moment: float
    name = "couples"
    is_projected = False

    def mount(self, state: State) -> MountedTerm:
        mesh = state.mesh
        edges = np.flatnonzero(self.chosen & rim_edges(mesh)).astype(np.int32)
        ends = mesh.node_rest[mesh.edges[edges]]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        stencil = np.ascontiguousarray(mesh.edges[edges])
        return Fixed((RimCouples(mesh, edge_links(mesh), stencil, edges[:, None], self.moment * length),))


def turned_from(mesh: SheetMesh, links: EdgeLinks, x: Floats, half_turn: Floats, edges: Ints, target: Floats) -> Floats:
    """Angles about the `edges` (n,), as `SheetMesh.edges` runs them, from `target` (n, 3) to their directors [rad]."""
    director = edge_directors(mesh, links, x, half_turn)[edges]
    tangent = x[mesh.edges[edges, 1]] - x[mesh.edges[edges, 0]]
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    across = np.einsum("ei,ei->e", np.cross(target, director), tangent)
    along = np.einsum("ei,ei->e", target, director)
    along -= np.einsum("ei,ei->e", target, tangent) * np.einsum("ei,ei->e", director, tangent)
    return np.arctan2(across, along)


def rim_edges(mesh: SheetMesh) -> Bools:
    """Edges with one face, (edge_count,)."""
    return np.asarray(mesh.twin[mesh.edge_corners] == BOUNDARY)


def settle_plate(
    mesh: SheetMesh, material: Material, terms: tuple[Term, ...], *, gravity: float = 0.0, x: Floats | None = None,
    frames: int = 2, bending: BendingElement = "midedge",
) -> tuple[Model, State]:  # fmt: skip
    """The plate at rest under `gravity` [m/s²] and the `terms`, from flat or x, with default settings of statics."""
    model = Model(
        (material,),
        gravity=(0.0, 0.0, -gravity),
        contact=NO_CONTACT,
        solver=SolverOptions(mode="static", bending=bending),
        own_terms=terms,
    )
    start = np.ascontiguousarray(mesh.node_rest) if x is None else x
    return model, Simulation(model=model, state=initial_state(mesh, start)).run(frames)


def fitted_curvatures(mesh: SheetMesh, x: Floats, *, middle: float = 1.0, angle: float = 0.0) -> Floats:
    """Curvatures (xx, yy, xy) [1/m] of the parabola through the heights of the nodes, on axes at `angle` [rad] from u.

    `middle`: the fraction of the sheet's length along the first axis that counts. From positions alone, not from S.
    """
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    flat = mesh.node_rest[:, :2] @ turn
    flat = flat - 0.5 * (flat.min(axis=0) + flat.max(axis=0))
    inside = np.abs(flat[:, 0]) <= 0.5 * middle * np.ptp(flat[:, 0])
    s, t = flat[inside].T
    columns = np.stack([np.ones_like(s), s, t, 0.5 * s * s, 0.5 * t * t, s * t], axis=1)
    scale = np.abs(columns).max(axis=0)
    found = np.linalg.lstsq(columns / scale, x[inside, 2], rcond=None)[0] / scale
    return np.asarray(found[3:], np.float64)
