"""Inertia in a step of implicit Euler: ½ m/dt² |x − x̂|² per node, x̂ = x_previous + dt v_previous."""

from __future__ import annotations

import numpy as np

from crumple.contract.energy import Example, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.nodal import NodalQuadratic, all_nodes, make_nodal
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats, Ints


def make_inertia(mass: Floats, predicted: Floats, step: float, *, nodes: Ints | None = None) -> NodalQuadratic:
    """The inertia of `nodes` (the first len(mass) ones by default).

    `mass` (n,) [kg], `predicted` (n, 3) positions x̂ without forces [m], `step` dt [s].
    """
    return make_nodal(all_nodes(len(mass)) if nodes is None else nodes, predicted, mass / step**2)


def node_masses(mesh: SheetMesh, materials: tuple[Material, ...]) -> Floats:
    """Lumped mass of each node, a third of each face around it [kg], (node_count,)."""
    density = np.array([material.density for material in materials])
    share = np.repeat(np.abs(mesh.face_area) * density[mesh.face_material] / 3.0, 3)
    return np.bincount(mesh.face_nodes.ravel(), share, mesh.node_count).astype(np.float64)


@register("inertia")
def example(rng: np.random.Generator) -> Example:
    """The sample patch on its way at 1 m/s, in a step of 10 ms."""
    poses = patch_poses(rng)
    predicted = poses["flat"] + 0.01 * rng.standard_normal((PATCH.node_count, 3))
    energy = make_inertia(rng.uniform(1e-4, 1e-3, PATCH.node_count), predicted, 0.01)
    return Example(energy, poses, rest=predicted, convex=tuple(poses))
