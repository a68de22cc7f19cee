"""The rest-angle rule, plastic stretch, and the options."""

from dataclasses import replace

import numpy as np
import pytest
from plastic_shapes import creased, fold, roll, sheet

from crumple.energies.membrane_stvk import make_membrane_stvk
from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.options.plasticity import PlasticityOptions
from crumple.plasticity import follow_angle, follow_curvature, follow_fraction, total_strain, yield_strain
from crumple.runtime.errors import InputError


def test_rest_angle_follows_beyond_the_threshold_only():
    """(1 - α) θ_rest + α θ, exactly unchanged below the threshold."""
    angle, rest = np.array([0.1, 0.5, -1.0, 0.31]), np.array([0.0, 0.1, 0.2, 0.3])
    moved = follow_angle(angle, rest, threshold=0.2, fraction=0.25)
    np.testing.assert_allclose(moved, [0.0, 0.2, -0.1, 0.3])


def test_rate_does_not_depend_on_the_step():
    """Ten steps of a tenth follow as far as one."""
    angle, many, once = np.array([2.0]), np.zeros(1), np.zeros(1)
    for _ in range(10):
        many = follow_angle(angle, many, threshold=0.1, fraction=follow_fraction(3.0, 0.01))
    once = follow_angle(angle, once, threshold=0.1, fraction=follow_fraction(3.0, 0.1))
    np.testing.assert_allclose(many, once)


def test_rule_on_faces_is_the_rule_on_hinges():
    """The state keeps S_p on faces; its rest angles move as the hinge rule says, up to the outline."""
    line = creased("delaunay", 0.008)
    mesh = line.mesh
    stencil = curvature_stencil(mesh)
    angle = dihedral_angles(fold(mesh.u, 1.3), mesh.hinges.nodes)
    plastic, rest = np.zeros((mesh.face_count, 3)), np.zeros(len(angle))
    for _ in range(4):
        plastic = follow_curvature(stencil, angle, plastic, threshold=0.4, fraction=0.3)
        rest = follow_angle(angle, rest, threshold=0.4, fraction=0.3)
    np.testing.assert_allclose(rest_angle(stencil, plastic), rest, atol=1e-9)
    assert rest[line.hinges].min() > 0.8
    below = follow_curvature(stencil, 0.01 * angle, plastic * 0.0, threshold=0.4, fraction=0.3)
    assert not below.any()


def test_stretched_face_keeps_the_excess():
    """Uniform stretch to E: the membrane is free of stress at E - ε_y, and elastic below yield."""
    mesh, x = sheet("equilateral", 0.01)
    stretch = x * [1.2, 1.0, 1.0]
    strain = 0.5 * (1.2**2 - 1.0)
    plastic = yield_strain(total_strain(mesh, stretch), np.zeros((mesh.face_count, 3)), 0.05)
    np.testing.assert_allclose(plastic[:, 0], strain - 0.05, rtol=1e-9)
    np.testing.assert_allclose(plastic[:, 1:], 0.0, atol=1e-12)
    assert not yield_strain(total_strain(mesh, x * [1.02, 1, 1]), plastic * 0.0, 0.05).any()
    assert not yield_strain(total_strain(mesh, stretch), plastic * 0.0, np.inf).any()
    membrane = make_membrane_stvk(mesh.u[mesh.faces], mesh.face_nodes, np.array([2.0, 0.5, 2.0, 1.5]))
    membrane = replace(membrane, rest_strain=plastic)
    released = x * [np.sqrt(1.0 + 2.0 * (strain - 0.05)), 1.0, 1.0]
    assert np.abs(membrane.gradient(released)).max() < 1e-12
    assert np.abs(membrane.gradient(x)).max() > 1e-4


def test_bending_does_not_stretch():
    """A rolled sheet has no strain to speak of."""
    mesh, _ = sheet("equilateral", 0.004)
    strain = total_strain(mesh, roll(mesh.u, 30.0))
    assert not yield_strain(strain, np.zeros_like(strain), 0.01).any()


def test_plastic_compression_stops_before_a_face_vanishes():
    """Squeezed to nothing, the plastic part stays where faces still have a length."""
    squeezed = np.array([[-0.4999, 0.0, 0.0]])
    plastic = np.zeros((1, 3))
    for _ in range(20):
        plastic = yield_strain(squeezed, plastic, 0.01)
    assert plastic.min() >= -0.4


@pytest.mark.parametrize(
    "bad",
    [
        {"rule": "sometimes"},
        {"hardening": -1.0},
        {"crease_radius": float("inf")},
        {"follow_rate": float("nan")},
    ],
)
def test_bad_options_are_refused(bad):
    """The message names the option."""
    with pytest.raises(InputError, match=f"plasticity.{next(iter(bad))}"):
        PlasticityOptions(**bad)
