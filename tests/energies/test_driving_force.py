"""The force on a crack's tip against differences of the energy when the pattern moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crumple.energies.bending_hinge import BendingHinge, hinge_stiffness
from crumple.energies.bending_midedge import face_stiffness, make_bending_midedge
from crumple.energies.driving_force import area_force, hinge_force, membrane_force, midedge_force
from crumple.energies.sheets import make_membranes
from crumple.geometry.directors import edge_links, split_angles
from crumple.materials import Material
from crumple.mesh import SheetMesh
from crumple.runtime.typing import Floats
from crumple.shapes import rectangle

PAPER = Material.orthotropic(
    "paper", young=(5e9, 2e9), poisson=0.3, thickness=1e-4, density=0.08, grain_angle=0.4, weakening=0.5
)
STEP = 1e-8


@pytest.fixture
def bent() -> tuple[SheetMesh, Floats, Floats]:
    """A stretched, bent patch, and weights around its middle."""
    rng = np.random.default_rng(5)
    mesh, x = rectangle(0.05, 0.04, 0.008, kind="delaunay", seed=2)
    x = x + 2e-4 * rng.standard_normal(x.shape)
    x[:, 2] += 0.01 * np.sin(60.0 * x[:, 0] + 20.0 * x[:, 1])
    distance = np.linalg.norm(mesh.u - [0.025, 0.02], axis=1)
    return mesh, x, np.maximum(0.0, 1.0 - distance / 0.018)


def difference(mesh: SheetMesh, weight: Floats, energy: object) -> Floats:
    """−∂E/∂d of a function of the mesh by central differences."""
    force = np.empty(2)
    for axis in range(2):
        values = []
        for sign in (1.0, -1.0):
            u = mesh.u.copy()
            u[:, axis] += sign * STEP * weight[mesh.vertex_node]
            values.append(energy(replace(mesh, u=u)))  # type: ignore[operator]
        force[axis] = -(values[0] - values[1]) / (2.0 * STEP)
    return force


def test_force_of_the_membrane(bent: tuple[SheetMesh, Floats, Floats]) -> None:
    mesh, x, weight = bent
    strain = 0.01 * np.random.default_rng(1).standard_normal((mesh.face_count, 3))

    def energy(moved: SheetMesh) -> float:
        return float(make_membranes(moved, (PAPER,)).at(x, strain)[0][0].value(x).sum())

    parts = make_membranes(mesh, (PAPER,))
    found = membrane_force(mesh, parts.at(x, strain)[0][0], parts.faces[0].astype(np.int32), x, weight)
    np.testing.assert_allclose(found, difference(mesh, weight, energy), rtol=1e-5)


def test_force_of_mid_edge_bending(bent: tuple[SheetMesh, Floats, Floats]) -> None:
    mesh, x, weight = bent
    rng = np.random.default_rng(3)
    links = edge_links(mesh)
    turn, plastic = 0.2 * rng.standard_normal(links.edge_count), 20.0 * rng.standard_normal((mesh.face_count, 3))
    plate = face_stiffness(mesh, (PAPER,), damage=rng.uniform(0.0, 2.0, mesh.face_count))

    def energy(moved: SheetMesh) -> float:
        bending = make_bending_midedge(moved, links, plate, plastic_curvature=plastic)
        return float(bending.value(x, turn).sum())

    found = midedge_force(mesh, split_angles(links, x, turn), plate, plastic, weight)
    np.testing.assert_allclose(found, difference(mesh, weight, energy), rtol=1e-5)


def test_force_of_what_stays_with_the_faces(bent: tuple[SheetMesh, Floats, Floats]) -> None:
    mesh, _, weight = bent
    density = np.random.default_rng(4).uniform(0.0, 5.0, mesh.face_count)

    def energy(moved: SheetMesh) -> float:
        return float(density @ np.abs(moved.face_area))

    np.testing.assert_allclose(area_force(mesh, density, weight), difference(mesh, weight, energy), rtol=1e-5)


def test_force_of_hinges(bent: tuple[SheetMesh, Floats, Floats]) -> None:
    mesh, x, weight = bent

    def hinges(moved: SheetMesh) -> BendingHinge:
        length = moved.corner_length[moved.hinges.corners].mean(axis=1)
        area = np.abs(moved.face_area)[moved.hinges.faces].sum(axis=1)
        bending = np.full(len(length), 1e-4)
        return BendingHinge(moved.hinges.nodes, hinge_stiffness(bending, length, area), np.full(len(length), 0.1))

    found = hinge_force(mesh, hinges(mesh).value(x), weight)
    wanted = difference(mesh, weight, lambda moved: float(hinges(moved).value(x).sum()))
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
