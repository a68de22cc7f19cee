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


def clamp(values):
    """The rule of `scalar_clamp` on ascending eigenvalues, within [1, 9] and with the aspect 0.5."""
    low, high = np.clip(values, 1.0, 9.0).T
    return np.stack([np.maximum(low, 0.25 * high), high], axis=1)


@pytest.mark.parametrize(
    ("ours", "function", "accuracy"),
    [
        (metric.scalar_positive_part, lambda value: np.maximum(value, 0), 1e-13),
        (metric.scalar_square, np.square, 1e-13),
        (metric.scalar_signed_root, lambda value: np.sign(value) * np.sqrt(np.abs(value)), 3e-7),
        (lambda *entries: metric.scalar_clamp(*entries, 1.0, 9.0, 0.5), clamp, 1e-13),
    ],
)
@given(tensor=TENSORS)
@settings(deadline=None, max_examples=30)
def test_functions_of_eigenvalues(ours, function, accuracy, tensor):
    found = np.array([ours(*row) for row in tensor])
    # those of large tensors are rounded in proportion to the largest eigenvalue, before or after the function
    scale = max(np.abs(function(np.full((1, 2), np.abs(tensor).max()))).max(), np.abs(tensor).max(), 1e-300)
    np.testing.assert_allclose(found, through_eigh(tensor, function), atol=accuracy * scale + 1e-14)


@given(tensor=TENSORS)
@settings(deadline=None, max_examples=30)
def test_eigen_and_back(tensor):
    values, axis = metric.tensor_eigen(tensor)
    scale = np.abs(tensor).max() + 1e-300
    assert np.all(values[:, 0] >= values[:, 1])
    np.testing.assert_allclose(np.linalg.norm(axis, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(metric.tensor_from_eigen(values, axis), tensor, atol=1e-14 * scale)
    np.testing.assert_allclose(metric.tensor_form(tensor, axis), values[:, 0], atol=1e-13 * scale)


def test_form_and_norm():
    rng = np.random.default_rng(3)
    tensor, w = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    full = metric.tensor_matrix(tensor)
    form = np.einsum("ni,nij,nj->n", w, full, w)
    np.testing.assert_allclose(metric.tensor_form(tensor, w), form)
    np.testing.assert_allclose([metric.scalar_form(*m, *v) for m, v in zip(tensor, w, strict=True)], form)
    np.testing.assert_allclose(metric.tensor_norm(tensor), np.linalg.norm(full, axis=(1, 2)))
