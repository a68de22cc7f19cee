"""Equilibrium of a sheet with mid-edge bending: Newton's method on nodes and turns, as simple as can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.contract import TurningEnergy
from crumple.energies.bending_midedge import make_bending_midedge
from crumple.energies.membrane_stvk import make_membrane_stvk
from crumple.energies.nodal import make_nodal
from crumple.geometry.directors import EdgeLinks, edge_links
from crumple.linalg import add_vectors, make_solver
from crumple.linalg.mixed_matrix import add_scalars
from crumple.materials.material import isotropic_membrane
from crumple.mesh import SheetMesh
from crumple.runtime.timing import PhaseTimer
from crumple.solving.system import NewtonSystem, TurnTerm
from crumple.studies.validation.plate_loads import turned_from

STIFFNESS = 1e4
"""Of the springs that hold directors, over the mean stiffness of all turns."""


@dataclass(frozen=True)
class DirectorSprings(TurningEnergy):
    """E = ½ k α² of `edges` (n, 1), α the angle from `target` (n, 3) to their directors, k the `stiffness` [N m].

    By the turn alone: the nodes of such an edge are held, `stencil` (n, 0).
    """

    mesh: SheetMesh
    links: EdgeLinks
    stencil: np.ndarray
    edges: np.ndarray
    target: np.ndarray
    stiffness: float

    def evaluate_turned(self, x, half_turn, order, project, value, out):
        offset = np.zeros(0)
        if len(self.edges):
            offset = turned_from(self.mesh, self.links, x, half_turn, self.edges[:, 0], self.target)
        value[:] = 0.5 * self.stiffness * offset**2
        if order > 0:
            out.moments[:, 0] = self.stiffness * offset
        if order > 1:
            out.own[:] = self.stiffness


def hold_directors(mesh, links, edges, target, bending):
    """Springs at `edges` (n,) towards the directors `target` (n, 3), hard beside the `bending`."""
    edges = np.ascontiguousarray(edges, np.int32).reshape(-1, 1)
    stiffness = STIFFNESS * float(np.mean(np.trace(bending.stiffness, axis1=1, axis2=2) / 3.0))
    nodes = np.zeros((len(edges), 0), np.int32)
    return DirectorSprings(mesh, links, nodes, edges, np.asarray(target, float).reshape(-1, 3), stiffness)


class StaticSheet:
    """A sheet with B = 1 under `force` (node_count, 3) that holds nodes and the directors of edges."""

    def __init__(self, mesh, *, plate, stretch, poisson=0.0, held_nodes, held_edges, force, solver="auto"):
        self.mesh, self.links, self.plate = mesh, edge_links(mesh), plate
        self.membrane = make_membrane_stvk(mesh.u[mesh.faces], mesh.face_nodes, isotropic_membrane(stretch, poisson))
        self.force, self.held_nodes, self.held_edges = force, held_nodes, held_edges
        self.half_turn = np.zeros(self.links.edge_count)
        self.nodes = np.arange(mesh.node_count, dtype=np.int32).reshape(-1, 1)
        self.solver = solver
        self.iterations = 0

    def settle(self, x, target, director, *, tolerance=1e-9, least=1e-6, most=300, plastic=None, longest=0.3):
        """The equilibrium with the held nodes at `target` (m, 3) and the directors of the held edges at `director`.

        It stops when the decrement is below `tolerance` times the energy, or times `least` if that is more.
        """
        mesh, half_turn = self.mesh, self.half_turn
        bending = make_bending_midedge(mesh, self.links, self.plate, plastic_curvature=plastic)
        pins = hold_directors(mesh, self.links, self.held_edges, director, bending)
        stiff = np.full(mesh.node_count, 1e-9)
        stiff[self.held_nodes] = 1e3 * self.membrane.coefficients[0, 0]
        center = x.copy()
        center[self.held_nodes] = target
        hold = make_nodal(self.nodes, center, stiff, self.force)
        system = NewtonSystem(
            mesh.node_count,
            [self.nodes, bending.stencil],
            make_solver(self.solver),
            PhaseTimer(),
            anchor=mesh.edges,
            couplings=[(energy.stencil, energy.turns) for energy in (bending, pins)],
        )

        def value(x, half_turn):
            parts = (self.membrane.value(x), hold.value(x), bending.value(x, half_turn), pins.value(x, half_turn))
            return float(sum(part.sum() for part in parts))

        for _ in range(most):
            self.iterations += 1
            at_nodes, at_edges = np.zeros_like(x), np.zeros(len(half_turn))
            terms, turn_terms = [], []
            for energy, stencil in ((bending, bending.stencil), (self.membrane, bending.stencil), (hold, self.nodes)):
                found = energy.derivatives(x, half_turn)
                add_vectors(stencil, found.vectors, 1.0, at_nodes)
                terms.append((stencil, found.blocks))
            for energy in (bending, pins):
                found = energy.derivatives(x, half_turn)
                add_scalars(energy.edges, found.moments, 1.0, at_edges)
                turn_terms.append(TurnTerm(energy.stencil, energy.edges, found.mixed, found.own))
            matrix = system.assemble(terms, turn_terms)
            gradient = np.concatenate([at_nodes.ravel(), at_edges])
            solution = system.direction(matrix, -gradient, is_convex=False)
            assert solution is not None
            decrement = -float(gradient @ solution)
            step, turn = system.split(solution)
            half_step = bending.half_direction(x, np.ascontiguousarray(step), turn)
            start, length = value(x, half_turn), min(1.0, longest / np.abs(step).max())
            goal = start + 1e-13 * abs(start)
            while value(x + length * step, half_turn + length * half_step) > goal - 1e-4 * length * decrement:
                length *= 0.5
                assert length > 1e-9, "no descent"
            x, half_turn = x + length * step, half_turn + length * half_step
            if decrement < tolerance * max(abs(start), least):
                break
        else:
            raise AssertionError("not converged")
        self.half_turn = half_turn
        return x
