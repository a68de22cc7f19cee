"""Shape gradients, Green strain, normals and areas of triangles."""

from __future__ import annotations

import numpy as np

from crumple.geometry.triangle import face_areas, face_normals, green_strain, shape_gradients

RNG = np.random.default_rng(5)
CORNERS = RNG.standard_normal((7, 3, 2))
NODES = np.arange(21, dtype=np.int32).reshape(7, 3)


def test_shape_gradients_reproduce_linear_fields():
    """Σ_a N_a values of p ↦ M p gives back M."""
    field = RNG.standard_normal((3, 2))
    values = CORNERS @ field.T
    gradient = np.einsum("nac,nad->ncd", values, shape_gradients(CORNERS))
    np.testing.assert_allclose(gradient, np.broadcast_to(field, gradient.shape), atol=1e-9)
    np.testing.assert_allclose(shape_gradients(CORNERS).sum(axis=1), 0.0, atol=1e-9)


def test_green_strain_of_a_known_deformation():
    deformation = RNG.standard_normal((3, 2))
    x = np.ascontiguousarray((CORNERS @ deformation.T).reshape(-1, 3))
    expected = 0.5 * (deformation.T @ deformation - np.eye(2))
    strain = green_strain(x, NODES, shape_gradients(CORNERS))
    np.testing.assert_allclose(strain, np.tile([expected[0, 0], expected[1, 1], expected[0, 1]], (7, 1)), atol=1e-8)


def test_normals_and_areas():
    x = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [4.0, 0.0, 0.0]])
    faces = np.array([[0, 1, 2], [0, 2, 1], [0, 1, 3]], np.int32)
    np.testing.assert_allclose(face_normals(x, faces), [[0, 0, 1], [0, 0, -1], [0, 0, 0]])
    np.testing.assert_allclose(face_areas(x, faces), [3, 3, 0])
