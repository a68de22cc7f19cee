"""Elastic energies of a mesh with materials, their damping, threads."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import pytest

from crumple.contract import Energy
from crumple.energies import make_hinges, make_membranes, node_masses
from crumple.energies.bending_hinge import BendingHinge
from crumple.energies.bending_measured import BendingMeasured
from crumple.energies.elastic_energy import ElasticEnergy
from crumple.energies.examples import PATCH, patch_poses, random_rotation
from crumple.energies.membrane_measured import MembraneMeasured
from crumple.energies.membrane_stvk import MembraneStvk
from crumple.materials import Material, preset
from crumple.mesh.sheet_mesh import make_sheet_mesh

KNIT = Material(
    "knit",
    1e-3,
    0.2,
    np.random.default_rng(0).uniform(10, 400, (6, 4)),
    np.random.default_rng(1).uniform(1e-6, 4e-5, (3, 5)),
    damping=1e-3,
)
MIXED = make_sheet_mesh(PATCH.u, PATCH.faces, face_material=np.array([0, 1, 1, 0, 0, 1]))
POSES = patch_poses(np.random.default_rng(2))


def elastic(mesh, materials, x=POSES["flat"]) -> list[tuple[ElasticEnergy, np.ndarray]]:
    """Membranes and hinges of a sheet that is flat at rest, with their damping times; sampled at x."""
    membranes = make_membranes(mesh, materials).at(x, np.zeros((mesh.face_count, 3)))
    return [*membranes, *make_hinges(mesh, materials).at(np.zeros(len(mesh.hinges.nodes)))]


def damped(parts, start, step) -> list[Energy]:
    """Elastic energy and dissipation over a step from the pose `start`."""
    return [one for energy, time in parts for one in energy.damped(energy.deformation(start), time / step)]


def total(energies, x) -> float:
    return sum(energy.value(x).sum() for energy in energies)


def test_every_face_and_hinge_has_one_energy():
    parts = elastic(MIXED, (preset("paper80"), KNIT))
    kinds = [type(energy) for energy, _ in parts]
    assert kinds == [MembraneStvk, MembraneMeasured, BendingHinge, BendingMeasured]
    counts = [len(energy.stencil) for energy, _ in parts]
    assert counts[:2] == [3, 3]
    assert sum(counts[2:]) == len(MIXED.hinges.nodes)
    assert [len(damping) for _, damping in parts] == counts


def test_flat_sheet_is_at_rest_and_stencils_stay():
    """The solver reuses the assembly of a stencil that is the same array, also when the sheet is sampled anew."""
    membranes, hinges = (
        make_membranes(MIXED, (preset("paper80-md"), KNIT)),
        make_hinges(MIXED, (preset("paper80"), KNIT)),
    )
    none, flat = np.zeros((MIXED.face_count, 3)), np.zeros(len(MIXED.hinges.nodes))
    before = [energy for energy, _ in [*membranes.at(POSES["flat"], none), *hinges.at(flat)]]
    after = [energy for energy, _ in [*membranes.at(POSES["random"], none + 0.1), *hinges.at(flat + 0.1)]]
    assert total(before, POSES["flat"]) < 1e-20
    assert all(a.stencil is b.stencil for a, b in zip(before, after, strict=True))
    assert total(after, POSES["random"]) != total(before, POSES["random"])


def test_measured_membranes_are_sampled_at_the_pose():
    none = np.zeros((MIXED.face_count, 3))
    membranes = make_membranes(MIXED, (preset("paper80"), KNIT))
    (_, _), (flat, _) = membranes.at(POSES["flat"], none)
    (_, _), (bent, _) = membranes.at(POSES["random"], none)
    assert not np.allclose(flat.value(POSES["random"]), bent.value(POSES["random"]))


def test_rest_angle_moves_the_rest_shape():
    angle = np.linspace(-1, 1, len(PATCH.hinges.nodes))
    ((bending, _),) = make_hinges(PATCH, (preset("mylar"),)).at(angle)
    assert np.isclose(bending.value(POSES["flat"]).sum(), 0.5 * (bending.stiffness * angle**2).sum())


@pytest.mark.parametrize("index", [0, 1])
def test_damped_is_elastic_plus_dissipation(index):
    """Its gradient is that of both, written out; values differ by a constant."""
    energy, _ = elastic(PATCH, (preset("cotton"),))[index]
    start, ratio = POSES["random"], np.linspace(0.1, 2.0, len(energy.stencil))
    before = energy.deformation(start)
    (both,) = energy.damped(before, ratio)
    if index == 0:
        dissipation = replace(energy, coefficients=energy.coefficients * ratio[:, None], rest_strain=before)
    else:
        dissipation = replace(energy, stiffness=energy.stiffness * ratio, rest_angle=before)
    offsets = []
    for name in ("flat", "random", "compressed", "folded +60°"):
        x = POSES[name]
        expected = energy.gradient(x) + dissipation.gradient(x)
        np.testing.assert_allclose(both.gradient(x), expected, atol=1e-12 * np.abs(expected).max())
        offsets.append(energy.value(x) + dissipation.value(x) - both.value(x))
    np.testing.assert_allclose(offsets, np.broadcast_to(offsets[0], np.shape(offsets)), atol=1e-12)


def test_damping_does_not_resist_rigid_motion():
    """Turned and moved after the start of the step, a damped sheet feels its elastic force only."""
    parts = elastic(MIXED, (preset("paper80"), KNIT))
    turn = random_rotation(np.random.default_rng(3))
    x = np.ascontiguousarray(POSES["random"] @ turn.T + [0.1, 0.2, 0.3])
    slowed = damped(parts, POSES["random"], 0.01)
    forces = [np.zeros((MIXED.node_count, 3)) for _ in range(2)]
    for force, energies in zip(forces, ([energy for energy, _ in parts], slowed), strict=True):
        for energy in energies:
            np.add.at(force, energy.stencil, energy.gradient(x))
    np.testing.assert_allclose(forces[1], forces[0], atol=1e-9 * np.abs(forces[0]).max())
    assert len(slowed) == 5  # measured bending has its dissipation beside it


def test_damping_opposes_motion():
    """What damping adds to the energy is least at the start of the step, and grows in every element that deforms."""
    start = POSES["random"]
    for energy, time in elastic(MIXED, (preset("paper80"), KNIT)):
        parts = energy.damped(energy.deformation(start), time / 0.01)

        def added(x, energy=energy, parts=parts):
            return sum(part.value(x) for part in parts) - energy.value(x)

        least = added(start)
        for x in POSES.values():
            scale = energy.value(x) + np.abs(least)
            assert (added(x) >= least - 1e-12 * scale).all()
        assert (added(POSES["compressed"]) > least).any()


def test_masses_add_up():
    mass = node_masses(MIXED, (preset("paper80"), KNIT))
    expected = (MIXED.face_area * np.array([0.08, 0.2])[MIXED.face_material]).sum()
    assert np.isclose(mass.sum(), expected)
    assert mass.min() > 0.0


def test_results_do_not_depend_on_the_number_of_threads():
    energies = [energy for energy, _ in elastic(MIXED, (preset("paper80"), KNIT))]
    x = POSES["random"]
    many = [energy.gradient_hessian(x, True) for energy in energies]
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        one = [energy.gradient_hessian(x, True) for energy in energies]
    finally:
        numba.set_num_threads(threads)
    for (g1, h1), (g2, h2) in zip(many, one, strict=True):
        np.testing.assert_array_equal(g1, g2)
        np.testing.assert_array_equal(h1, h2)
