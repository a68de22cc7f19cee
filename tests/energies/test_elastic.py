"""Building elastic energies from materials, damping, threads."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from crumple.energies import make_elastic, node_masses
from crumple.energies.bending_hinge import BendingHinge
from crumple.energies.bending_measured import BendingMeasured
from crumple.energies.damping import fold_damping, make_damping
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


def total(energies, x) -> float:
    return sum(energy.value(x).sum() for energy in energies)


def test_every_face_and_hinge_has_one_energy():
    elastic = make_elastic(MIXED, (preset("paper80"), KNIT))
    kinds = [type(energy) for energy in elastic.energies]
    assert kinds == [MembraneStvk, MembraneMeasured, BendingHinge, BendingMeasured]
    counts = [len(energy.stencil) for energy in elastic.energies]
    assert counts[:2] == [3, 3]
    assert sum(counts[2:]) == len(MIXED.hinges.nodes)
    assert [len(damping) for damping in elastic.damping] == counts


def test_flat_sheet_is_at_rest_and_update_keeps_stencils():
    elastic = make_elastic(MIXED, (preset("paper80-md"), KNIT))
    assert total(elastic.energies, POSES["flat"]) < 1e-20
    updated = elastic.update(POSES["random"])
    assert all(a.stencil is b.stencil for a, b in zip(elastic.energies, updated.energies, strict=True))
    assert total(updated.energies, POSES["random"]) != total(elastic.energies, POSES["random"])


def test_rest_angle_moves_the_rest_shape():
    angle = np.linspace(-1, 1, len(PATCH.hinges.nodes))
    _, bending = make_elastic(PATCH, (preset("mylar"),), rest_angle=angle).energies
    assert np.isclose(bending.value(POSES["flat"]).sum(), 0.5 * (bending.stiffness * angle**2).sum())


@pytest.mark.parametrize("index", [0, 1])
def test_folded_damping_is_elastic_plus_dissipation(index):
    """Same gradient; values differ by a constant."""
    elastic = make_elastic(PATCH, (preset("cotton"),)).energies[index]
    start, ratio = POSES["random"], np.linspace(0.1, 2.0, len(elastic.stencil))
    dissipation, folded = make_damping(elastic, start, ratio), fold_damping(elastic, start, ratio)
    offsets = []
    for name in ("flat", "random", "compressed", "folded +60°"):
        x = POSES[name]
        expected = elastic.gradient(x) + dissipation.gradient(x)
        np.testing.assert_allclose(folded.gradient(x), expected, atol=1e-12 * np.abs(expected).max())
        offsets.append(elastic.value(x) + dissipation.value(x) - folded.value(x))
    np.testing.assert_allclose(offsets, np.broadcast_to(offsets[0], np.shape(offsets)), atol=1e-12)


def test_damping_does_not_resist_rigid_motion():
    """Turned and moved after the start of the step, a damped sheet feels its elastic force only."""
    elastic = make_elastic(MIXED, (preset("paper80"), KNIT))
    turn = random_rotation(np.random.default_rng(3))
    x = np.ascontiguousarray(POSES["random"] @ turn.T + [0.1, 0.2, 0.3])
    damped = elastic.damped(POSES["random"], 0.01)
    forces = [np.zeros((MIXED.node_count, 3)) for _ in range(2)]
    for force, energies in zip(forces, (elastic.energies, damped), strict=True):
        for energy in energies:
            np.add.at(force, energy.stencil, energy.gradient(x))
    np.testing.assert_allclose(forces[1], forces[0], atol=1e-9 * np.abs(forces[0]).max())
    assert len(damped) == 5  # measured bending has its dissipation beside it


def test_damping_opposes_motion():
    """The dissipation potential has its minimum, zero, at the start and pulls back from anywhere else."""
    elastic = make_elastic(PATCH, (preset("paper80"),))
    start = POSES["random"]
    for energy, damping in zip(elastic.energies, elastic.damping, strict=True):
        dissipation = make_damping(energy, start, damping / 0.01)
        assert np.abs(dissipation.value(start)).max() < 1e-20
        for x in POSES.values():
            assert dissipation.value(x).min() >= 0.0


def test_elastic_material_without_damping_stays_as_it_is():
    plain = Material.from_stiffness("plain", stretch=1e3, bend=1e-3, thickness=1e-4, density=0.1)
    elastic = make_elastic(PATCH, (plain,))
    assert elastic.damped(POSES["random"], 0.01) == elastic.energies


def test_masses_add_up():
    mass = node_masses(MIXED, (preset("paper80"), KNIT))
    expected = (MIXED.face_area * np.array([0.08, 0.2])[MIXED.face_material]).sum()
    assert np.isclose(mass.sum(), expected)
    assert mass.min() > 0.0


def test_results_do_not_depend_on_the_number_of_threads():
    elastic = make_elastic(MIXED, (preset("paper80"), KNIT))
    x = POSES["random"]
    many = [energy.gradient_hessian(x, True) for energy in elastic.energies]
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        one = [energy.gradient_hessian(x, True) for energy in elastic.energies]
    finally:
        numba.set_num_threads(threads)
    for (g1, h1), (g2, h2) in zip(many, one, strict=True):
        np.testing.assert_array_equal(g1, g2)
        np.testing.assert_array_equal(h1, h2)
