"""The separation strength of known stresses."""

import numpy as np
import pytest

from crumple.energies.stress import largest_tension
from crumple.geometry.metric import tensor_matrix
from crumple.shapes.sheets import rectangle
from crumple.tearing.separation import creased_pull, jiang_pull, positive_stress, separation_strength


@pytest.fixture(scope="module")
def mesh():
    return rectangle(0.1, 0.1, 0.02)[0]


def _inner(mesh):
    return np.flatnonzero(~mesh.boundary_nodes)


def _uniform(mesh, xx, yy, xy=0.0):
    return np.tile([float(xx), float(yy), float(xy)], (mesh.face_count, 1))


def test_uniform_tension_gives_twice_the_stress_across_the_line(mesh):
    found = separation_strength(mesh, positive_stress(_uniform(mesh, 0.0, 5e6)))
    inner = _inner(mesh)
    assert np.allclose(found.strength[inner], 1e7, rtol=1e-12)
    assert np.allclose(np.abs(found.direction[inner, 0]), 1.0, atol=1e-12)


def test_any_line_is_as_good_under_equal_tension(mesh):
    found = separation_strength(mesh, positive_stress(_uniform(mesh, 3e6, 3e6)), planes=7)
    assert np.allclose(found.strength[_inner(mesh)], 6e6, rtol=1e-12)


def test_a_line_between_the_axes_is_found_to_the_spacing_of_the_planes(mesh):
    angle = np.radians(33.0)
    normal = np.array([-np.sin(angle), np.cos(angle)])
    stress = 4e6 * np.array([normal[0] ** 2, normal[1] ** 2, normal[0] * normal[1]])
    found = separation_strength(mesh, positive_stress(np.tile(stress, (mesh.face_count, 1))), planes=180)
    inner = _inner(mesh)
    assert np.allclose(found.strength[inner], 8e6, rtol=1e-3)
    line = np.array([np.cos(angle), np.sin(angle)])
    assert np.all(np.abs(found.direction[inner] @ line) > np.cos(np.radians(1.1)))


def test_pressure_tears_nothing(mesh):
    stress = _uniform(mesh, -8e6, -1e6)
    assert not separation_strength(mesh, positive_stress(stress)).strength.any()
    assert not largest_tension(stress).any()


def test_shear_counts_with_its_tensile_part(mesh):
    stress = _uniform(mesh, 0.0, 0.0, 2e6)
    assert np.allclose(positive_stress(stress), [1e6, 1e6, 1e6])
    found = separation_strength(mesh, positive_stress(stress))
    assert np.allclose(found.strength[_inner(mesh)], 4e6, rtol=1e-12)


def test_a_free_edge_is_pulled_apart_by_half(mesh):
    """Along an edge under tension the sheet covers half of the circle, a quarter on each side of the best line."""
    found = separation_strength(mesh, positive_stress(_uniform(mesh, 5e6, 0.0)))
    bottom = np.flatnonzero((mesh.u[:, 1] == mesh.u[:, 1].min()) & (np.abs(mesh.u[:, 0] - 0.05) < 0.04))
    assert len(bottom)
    assert np.allclose(found.strength[bottom], 5e6, rtol=1e-9)
    assert np.allclose(found.direction[bottom, 0], 0.0, atol=1e-9)
    corner = np.argmin(mesh.u.sum(axis=1))
    assert found.strength[corner] < 5e6


def test_creases_weaken_what_pulls_across_them_in_both_forms(mesh):
    stress = _uniform(mesh, 0.0, 1e6)
    across = np.tile([0.0, -300.0, 0.0], (mesh.face_count, 1))  # a valley fold along u
    damage = np.full(mesh.face_count, 3.0)
    jiang = separation_strength(mesh, jiang_pull(stress, damage, across)).strength
    assert np.allclose(jiang[_inner(mesh)], 8e6)
    crease = np.tile([0.0, 3.0, 0.0], (mesh.face_count, 1))
    assert np.allclose(creased_pull(stress, crease), tensor_matrix(_uniform(mesh, 0.0, 4e6)))
    along = np.tile([3.0, 0.0, 0.0], (mesh.face_count, 1))
    assert np.allclose(creased_pull(stress, along), tensor_matrix(stress))


def test_only_the_crease_tensor_turns_a_crack_in_uniaxial_tension(mesh):
    """[Jiang2016]'s factor acts on the pull and leaves the line across the tension, whatever the damage is."""
    stress = _uniform(mesh, 0.0, 1e6)
    tilt = np.radians(30.0)
    normal = np.array([-np.sin(tilt), np.cos(tilt)])
    tensor = np.array([normal[0] ** 2, normal[1] ** 2, normal[0] * normal[1]])
    damage = np.full(mesh.face_count, 5.0)
    plastic = np.tile(300.0 * tensor, (mesh.face_count, 1))
    inner = _inner(mesh)
    jiang = separation_strength(mesh, jiang_pull(stress, damage, plastic), planes=180).direction[inner]
    ours = separation_strength(mesh, creased_pull(stress, np.tile(5.0 * tensor, (mesh.face_count, 1))), planes=180)
    assert np.degrees(np.arccos(np.abs(jiang[:, 0]).min())) < 1.0
    turned = np.degrees(np.arctan2(ours.direction[inner, 1], ours.direction[inner, 0]))
    assert np.all((turned > 10.0) & (turned <= 30.0))
