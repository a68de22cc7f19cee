"""Linear plates: what the mid-edge element makes of a load, a moment, a twist, a cylinder.

Small deflections w of the nodes and turns φ of the edges, with the stiffness that the element has when flat. Units are
1: side of the plate, bending stiffness B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from crumple.energies.bending_midedge import BendingMidedge, make_bending_midedge, relax_turns
from crumple.geometry.directors import EdgeLinks, edge_links
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Bools, Floats
from crumple.studies.validation.bending_meshes import navier_deflection

LIGHT = 1e-6
"""Scale of deflections at which rotations are small."""


def isotropic_plate(poisson: float) -> Floats:
    """D (3, 3) of an isotropic plate with B = 1."""
    return np.array([[1.0, poisson, 0.0], [poisson, 1.0, 0.0], [0.0, 0.0, 2.0 * (1.0 - poisson)]])


@dataclass(frozen=True)
class Plate:
    """A flat plate: unknowns are w of the nodes, then φ of the edges; `stiffness` is their matrix."""

    mesh: SheetMesh
    links: EdgeLinks
    energy: BendingMidedge
    stiffness: sp.csr_matrix

    def solve(self, load: Floats, fixed: Bools) -> Floats:
        """The unknowns under a load (node_count + edge_count,), those that are `fixed` being 0."""
        free = np.flatnonzero(~fixed)
        found = np.zeros(len(load))
        found[free] = spsolve(self.stiffness[free][:, free].tocsc(), load[free])
        return found

    def curvature(self, unknowns: Floats) -> Floats:
        """S (face_count, 3) for small unknowns."""
        x = self.mesh.node_rest.copy()
        move = np.zeros_like(x)
        move[:, 2] = LIGHT * unknowns[: len(x)]
        half_turn = self.energy.half_direction(x, move, LIGHT * unknowns[len(x) :])
        return self.energy.curvature(x + move, half_turn) / LIGHT


def make_plate(mesh: SheetMesh, stiffness: Floats) -> Plate:
    """A flat plate with D = `stiffness` (3, 3)."""
    links = edge_links(mesh)
    energy = make_bending_midedge(mesh, links, stiffness)
    found = energy.derivatives(mesh.node_rest, np.zeros(links.edge_count))
    element = np.empty((mesh.face_count, 6, 6))
    pairs = [(a, b) for a in range(3) for b in range(a, 3)]
    for q, (a, b) in enumerate(pairs):
        element[:, a, b] = element[:, b, a] = found.blocks[:, q, 2, 2]
        element[:, 3 + a, 3 + b] = element[:, 3 + b, 3 + a] = found.own[:, q]
    element[:, :3, 3:] = found.mixed[..., 2]
    element[:, 3:, :3] = found.mixed[..., 2].transpose(0, 2, 1)
    unknown = np.concatenate([mesh.face_nodes, mesh.node_count + links.face_edge], axis=1)
    row, column = np.repeat(unknown, 6, axis=1).ravel(), np.tile(unknown, (1, 6)).ravel()
    size = mesh.node_count + links.edge_count
    return Plate(mesh, links, energy, sp.csr_matrix((element.ravel(), (row, column)), shape=(size, size)))


def supported_deflection(mesh: SheetMesh, poisson: float = 0.3) -> float:
    """Largest deflection of a simply supported rectangle under a uniform load over that of Navier's series."""
    plate = make_plate(mesh, isotropic_plate(poisson))
    load = np.concatenate([mesh.node_area, np.zeros(plate.links.edge_count)])
    fixed = np.concatenate([mesh.boundary_nodes, np.zeros(plate.links.edge_count, bool)])
    width, height = np.ptp(mesh.u, axis=0)
    return float(plate.solve(load, fixed)[: mesh.node_count].max()) / navier_deflection(width, height)


def moment_curvatures(mesh: SheetMesh, stiffness: Floats, axis: int) -> Floats:
    """S (face_count, 3) of a free rectangle under a unit moment on its two sides across `axis` (0: u, 1: v)."""
    plate = make_plate(mesh, stiffness)
    nodes, edges = mesh.node_count, mesh.edges
    load = np.zeros(nodes + len(edges))
    low, high = mesh.u[:, axis].min(), mesh.u[:, axis].max()
    for border in (low, high):
        on = (np.abs(mesh.node_rest[edges, axis] - border) < 1e-9).all(axis=1)
        ends = mesh.node_rest[edges[on]]
        # ψ of the only face is side · φ with side 1: a moment that bends the normals apart
        load[nodes + np.flatnonzero(on)] = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    fixed = np.zeros(len(load), bool)
    corner = [np.argmin(mesh.u @ [1.0, 1.0]), np.argmax(mesh.u @ [1.0, -1.0]), np.argmax(mesh.u @ [-1.0, 1.0])]
    fixed[corner] = True
    return plate.curvature(plate.solve(load, fixed))


def shape_energy(
    mesh: SheetMesh, poisson: float, height: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]
) -> float:
    """Bending energy of the surface w(u) = `height` with relaxed directors inside, and those of the surface at the rim.

    `slope`: gradient of w (n, 2). B = 1.
    """
    plate = make_plate(mesh, isotropic_plate(poisson))
    nodes, edges = mesh.node_count, mesh.edges
    unknowns = np.concatenate([height(mesh.u), np.zeros(len(edges))])
    start, end = mesh.node_rest[edges[:, 0], :2], mesh.node_rest[edges[:, 1], :2]
    way = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
    # the normal is (−w_u, −w_v, 1); turned by φ about the edge, the director is e_z + φ (t̂ × e_z)
    across = np.stack([way[:, 1], -way[:, 0]], axis=1)
    exact = -np.einsum("ei,ei->e", slope(0.5 * (start + end)), across)
    rim = np.bincount(plate.links.face_edge.ravel()) == 1
    unknowns[nodes:][rim] = exact[rim]
    free = nodes + np.flatnonzero(~rim)
    right = -(plate.stiffness @ unknowns)[free]
    unknowns[free] = spsolve(plate.stiffness[free][:, free].tocsc(), right)
    return 0.5 * float(unknowns @ (plate.stiffness @ unknowns))


def cylinder_curvatures(mesh: SheetMesh, curvature: float, direction: float, poisson: float = 0.3) -> Floats:
    """S (face_count, 3) of the sheet rolled to a cylinder along `direction` [rad] from u, directors relaxed."""
    along = mesh.u @ [np.cos(direction), np.sin(direction)]
    across = mesh.u @ [-np.sin(direction), np.cos(direction)]
    x = np.stack([np.sin(curvature * along), curvature * across, np.cos(curvature * along)], axis=1) / curvature
    links = edge_links(mesh)
    x = np.ascontiguousarray(x)
    energy = make_bending_midedge(mesh, links, isotropic_plate(poisson))
    return energy.curvature(x, relax_turns(energy, x, np.zeros(links.edge_count)))
