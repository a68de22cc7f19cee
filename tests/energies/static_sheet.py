"""Equilibrium of a sheet with mid-edge bending: Newton's method on nodes and turns, as simple as can be."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from crumple.contract.energy import EdgeDerivatives
from crumple.energies.bending_midedge import make_bending_midedge
from crumple.energies.membrane_stvk import make_membrane_stvk
from crumple.energies.nodal import make_nodal
from crumple.energies.turn_pins import make_turn_pins
from crumple.geometry.directors import edge_links
from crumple.linalg import add_vectors, make_solver
from crumple.linalg.mixed_matrix import add_scalars
from crumple.materials.material import isotropic_membrane
from crumple.solving.mixed_system import MixedSystem
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

    def settle(self, x, target, director, *, tolerance=1e-9, least=1e-6, most=300, plastic=None, longest=0.3):
        """The equilibrium with the held nodes at `target` (m, 3) and the directors of the held edges at `director`.

        It stops when the decrement is below `tolerance` times the energy, or times `least` if that is more.
        """
        mesh, half_turn = self.mesh, self.half_turn
        bending = make_bending_midedge(mesh, self.links, self.plate, plastic_curvature=plastic)
        pins = make_turn_pins(mesh, self.links, self.held_edges, director, bending)
        stiff = np.full(mesh.node_count, 1e-9)
        stiff[self.held_nodes] = 1e3 * self.membrane.coefficients[0, 0]
        center = x.copy()
        center[self.held_nodes] = target
        hold = make_nodal(self.nodes, center, stiff, self.force)
        held = SimpleNamespace(stencil=pins.nodes, edges=pins.scalars)
        couplings = [(bending.stencil, bending.edges), (pins.nodes, pins.scalars)]
        system = MixedSystem(
            mesh.node_count,
            mesh.edges,
            [self.nodes, bending.stencil],
            couplings,
            make_solver(self.solver),
            PhaseTimer(),
        )

        def value(x, half_turn):
            parts = (self.membrane.value(x), hold.value(x), bending.value(x, half_turn), pins.value(x, half_turn))
            return float(sum(part.sum() for part in parts))

        for _ in range(most):
            self.iterations += 1
            at_nodes, at_edges = np.zeros_like(x), np.zeros(len(half_turn))
            found = bending.gradient_hessian(x, half_turn)
            terms = [(bending.stencil, found.blocks)]
            add_vectors(bending.stencil, found.vectors, 1.0, at_nodes)
            add_scalars(bending.edges, found.moments, 1.0, at_edges)
            add_scalars(pins.scalars, pins.gradient(x, half_turn), 1.0, at_edges)
            for energy, stencil in ((self.membrane, bending.stencil), (hold, self.nodes)):
                vectors, blocks = energy.gradient_hessian(x, True)
                add_vectors(stencil, vectors, 1.0, at_nodes)
                terms.append((stencil, blocks))
            springs = EdgeDerivatives(None, None, None, np.zeros((len(pins.scalars), 0, 1, 3)), pins.hessian())
            matrix = system.assemble_mixed(terms, [(bending, found), (held, springs)])
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
