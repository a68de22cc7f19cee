"""Equilibrium of a sheet with mid-edge bending: Newton's method on nodes and turns, as simple as can be."""

from __future__ import annotations

import numpy as np

from crumple.energies.bending_midedge import finished_half_turns, make_bending_midedge
from crumple.energies.membrane_stvk import make_membrane_stvk
from crumple.energies.nodal import make_nodal
from crumple.energies.turn_pins import make_turn_pins
from crumple.geometry.directors import edge_links
from crumple.linalg import add_vectors, make_solver
from crumple.linalg.mixed_matrix import add_scalars
from crumple.materials.material import isotropic_membrane
from crumple.solving.mixed_system import MixedSystem, ScalarTerm
from crumple.timing import PhaseTimer


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

    def settle(self, x, target, turn_target=None, *, tolerance=1e-9, most=300, rebase=True, plastic=None):
        """The equilibrium with the held nodes at `target` (m, 3) and the held edges turned by `turn_target`."""
        mesh, count = self.mesh, self.links.edge_count
        bending = make_bending_midedge(mesh, self.links, self.plate, x, self.half_turn, plastic_curvature=plastic)
        goal = np.zeros(len(self.held_edges)) if turn_target is None else np.array(turn_target, float)
        pins = make_turn_pins(self.held_edges, goal, bending)
        stiff = np.zeros(mesh.node_count)
        stiff[self.held_nodes] = 1e3 * self.membrane.coefficients[0, 0]
        stiff += 1e-9
        center = x.copy()
        center[self.held_nodes] = target
        hold = make_nodal(self.nodes, center, stiff, self.force)
        couplings = [(bending.stencil, bending.edges), (pins.nodes, pins.scalars)]
        stencils = [self.nodes, bending.stencil]
        system = MixedSystem(mesh.node_count, mesh.edges, stencils, couplings, make_solver(self.solver), PhaseTimer())

        def value(x, turn):
            parts = (self.membrane.value(x), hold.value(x), bending.value(x, turn), pins.value(turn))
            return float(sum(part.sum() for part in parts))

        turn = np.zeros(count)
        for _ in range(most):
            self.iterations += 1
            at_nodes, at_edges = np.zeros_like(x), np.zeros(count)
            found = bending.gradient_hessian(x, turn)
            terms = [(bending.stencil, found.blocks)]
            add_vectors(bending.stencil, found.vectors, 1.0, at_nodes)
            add_scalars(bending.edges, found.moments, 1.0, at_edges)
            add_scalars(pins.scalars, pins.gradient(turn), 1.0, at_edges)
            for energy in (self.membrane, hold):
                vectors, blocks = energy.gradient_hessian(x, True)
                add_vectors(energy.stencil, vectors, 1.0, at_nodes)
                terms.append((bending.stencil if energy is self.membrane else self.nodes, blocks))
            scalars = [
                ScalarTerm(bending.stencil, bending.edges, found.mixed, found.own),
                ScalarTerm(pins.nodes, pins.scalars, np.zeros((len(pins.scalars), 0, 1, 3)), pins.hessian()),
            ]
            matrix = system.assemble_mixed(terms, scalars)
            gradient = np.concatenate([at_nodes.ravel(), at_edges])
            direction = system.direction(matrix, -gradient, is_convex=False)
            assert direction is not None
            decrement = -float(gradient @ direction)
            step_x, step_turn = system.split(direction)
            start, length = value(x, turn), min(1.0, 0.3 / np.abs(step_x).max())
            while value(
                x + length * step_x, turn + length * step_turn
            ) > start - 1e-4 * length * decrement + 1e-13 * abs(start):
                length *= 0.5
                assert length > 1e-9, "no descent"
            x, turn = x + length * step_x, turn + length * step_turn
            if rebase:
                before = turn[self.held_edges]
                bending, turn = bending.rebased(x, turn)
                goal = goal - before
                pins = type(pins)(pins.nodes, pins.scalars, goal, pins.stiffness)
            if decrement < tolerance * max(abs(start), 1e-6):
                break
        else:
            raise AssertionError("not converged")
        self.half_turn = finished_half_turns(bending, self.links, x, turn)
        self.bending, self.turn, self.system, self.matrix = bending, turn, system, matrix
        return x
