"""The signed dihedral angle: sign, range, symmetry, finite numbers in collapsed faces."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.geometry.hinge import add_dihedral_hessian, dihedral_angle, dihedral_angles, dihedral_gradient


def folded(angle: float) -> np.ndarray:
    """Edge along x; face A in the plane z = 0 on the left (y > 0); B turned by `angle` about the edge."""
    b = [0.6, -np.cos(angle), -np.sin(angle)]
    return np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 1.0, 0.0], b])


@settings(deadline=None, max_examples=50)
@given(st.floats(-3.1, 3.1))
def test_angle_is_the_turn_of_b_about_the_edge(angle):
    """θ > 0 when B's normal is turned counter-clockwise about the edge from A's."""
    assert np.isclose(dihedral_angle(folded(angle), 0, 1, 2, 3), angle, atol=1e-12)


def test_angle_does_not_depend_on_which_face_is_first():
    x = np.random.default_rng(1).standard_normal((4, 3))
    assert np.isclose(dihedral_angle(x, 0, 1, 2, 3), dihedral_angle(x, 1, 0, 3, 2), atol=1e-14)


def test_angle_changes_sign_when_mirrored():
    x = np.random.default_rng(2).standard_normal((4, 3))
    assert np.isclose(dihedral_angle(x, 0, 1, 2, 3), -dihedral_angle(x * [1, 1, -1], 0, 1, 2, 3), atol=1e-14)


def test_many_angles_at_once():
    x = np.concatenate([folded(0.5), folded(-2.0)])
    nodes = np.arange(8, dtype=np.int32).reshape(2, 4)
    np.testing.assert_allclose(dihedral_angles(x, nodes), [0.5, -2.0], atol=1e-12)


def test_gradient_does_not_see_rigid_motion():
    """No angle changes under translation and rotation: Σ g = 0 and Σ x × g = 0."""
    x = np.random.default_rng(3).standard_normal((4, 3))
    g = np.empty((4, 3))
    dihedral_gradient(x, 0, 1, 2, 3, g)
    np.testing.assert_allclose(g.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cross(x, g).sum(axis=0), 0.0, atol=1e-12)


def test_collapsed_faces_give_finite_numbers():
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    g, blocks = np.empty((4, 3)), np.zeros((10, 3, 3))
    assert np.isfinite(dihedral_gradient(x, 0, 1, 2, 3, g))
    add_dihedral_hessian(x, 0, 1, 2, 3, 1.0, blocks)
    assert np.isfinite(g).all()
    assert np.isfinite(blocks).all()
