"""Symmetric 2×2 tensors against numpy's eigen-decomposition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crumple.geometry import metric

ENTRY = st.floats(-1e6, 1e6).filter(lambda value: value == 0.0 or abs(value) > 1e-6)
TENSORS = arrays(np.float64, (7, 3), elements=ENTRY)


def through_eigh(tensor, function):
    """f(M) by numpy."""
    values, vectors = np.linalg.eigh(metric.tensor_matrix(tensor))
    full = np.einsum("nij,nj,nkj->nik", vectors, function(values), vectors)
    return np.stack([full[:, 0, 0], full[:, 1, 1], full[:, 0, 1]], axis=1)


def limit_aspect(values):
    """The rule of `tensor_limit_aspect` on ascending eigenvalues."""
    return np.stack([np.maximum(values[:, 0], 0.04 * values[:, 1]), values[:, 1]], axis=1)


@pytest.mark.parametrize(
    ("ours", "function"),
    [
        (metric.tensor_absolute, np.abs),
        (metric.tensor_positive_part, lambda value: np.maximum(value, 0)),
        (lambda tensor: metric.tensor_clamp(tensor, -2.0, 5.0), lambda value: np.clip(value, -2.0, 5.0)),
        (lambda tensor: metric.tensor_limit_aspect(tensor, 0.2), limit_aspect),
    ],
)
@given(tensor=TENSORS)
@settings(deadline=None, max_examples=30)
def test_functions_of_eigenvalues(ours, function, tensor):
    scale = np.abs(tensor).max() + 1e-300
    np.testing.assert_allclose(ours(tensor), through_eigh(tensor, function), atol=1e-13 * scale + 1e-14)


@given(tensor=TENSORS)
@settings(deadline=None, max_examples=30)
def test_eigen_and_back(tensor):
    values, axis = metric.tensor_eigen(tensor)
    scale = np.abs(tensor).max() + 1e-300
    assert np.all(values[:, 0] >= values[:, 1])
    np.testing.assert_allclose(np.linalg.norm(axis, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(metric.tensor_from_eigen(values, axis), tensor, atol=1e-14 * scale)
    np.testing.assert_allclose(metric.tensor_form(tensor, axis), values[:, 0], atol=1e-13 * scale)


def test_sqrt_squares_back_and_form_and_norm():
    rng = np.random.default_rng(3)
    a = rng.normal(size=(50, 2, 2))
    full = a @ a.transpose(0, 2, 1)
    tensor = np.stack([full[:, 0, 0], full[:, 1, 1], full[:, 0, 1]], axis=1)
    root = metric.tensor_matrix(metric.tensor_sqrt(tensor))
    np.testing.assert_allclose(root @ root, full, atol=1e-13)
    w = rng.normal(size=(50, 2))
    np.testing.assert_allclose(metric.tensor_form(tensor, w), np.einsum("ni,nij,nj->n", w, full, w))
    np.testing.assert_allclose(metric.tensor_norm(tensor), np.linalg.norm(full, axis=(1, 2)))


@given(tensor=TENSORS)
@settings(deadline=None, max_examples=20)
def test_scalars_agree_with_arrays(tensor):
    scale = np.abs(tensor).max() + 1e-300
    for row in tensor:
        np.testing.assert_allclose(
            metric.scalar_positive_part(*row), metric.tensor_positive_part(row), atol=1e-14 * scale
        )
        full = metric.tensor_matrix(row)
        square = full @ full
        np.testing.assert_allclose(
            metric.scalar_square(*row), [square[0, 0], square[1, 1], square[0, 1]], atol=1e-14 * scale**2
        )
        root = metric.tensor_matrix(np.array(metric.scalar_signed_root(*row)))
        signed = through_eigh(row[None], lambda value: np.sign(value) * np.sqrt(np.abs(value)))[0]
        np.testing.assert_allclose(root, metric.tensor_matrix(signed), atol=3e-7 * np.sqrt(scale))
        clamped = metric.tensor_limit_aspect(metric.tensor_clamp(row, 1.0, 9.0), 0.5)
        np.testing.assert_allclose(metric.scalar_clamp(*row, 1.0, 9.0, 0.5), clamped, atol=1e-12)
        expected = metric.tensor_form(row, np.array([2.0, -3.0]))
        np.testing.assert_allclose(metric.scalar_form(*row, 2.0, -3.0), expected, atol=1e-12 * scale)
