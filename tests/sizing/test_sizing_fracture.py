"""The mesh where a sheet may tear."""

import numpy as np
import pytest

from crumple.geometry.metric import tensor_eigen
from crumple.mesh import rectangle
from crumple.sizing.fracture import sizing_floor, sizing_fracture
from crumple.sizing.user import sizing_user


def test_edges_shrink_with_the_tension_down_to_those_of_tips():
    tension = np.array([0.0, 3e6, 15e6, 30e6, 90e6, 30e6])
    strength = np.array([30e6, 30e6, 30e6, 30e6, 30e6, np.inf])
    longest = sizing_fracture(tension, strength, 0.5, 2e-3)
    np.testing.assert_allclose(longest, [np.inf, 20e-3, 4e-3, 2e-3, 2e-3, np.inf])
    np.testing.assert_allclose(sizing_fracture(tension, strength, 0.25, 2e-3)[2], 2e-3)


def test_traces_of_rounding_beside_a_kept_field_ask_for_nothing():
    """Weights of interpolation may be −1e-16: such a tensor is not positive, and asks for nothing."""
    mesh, _ = rectangle(0.1, 0.1, 0.05)
    floor = np.zeros((mesh.vertex_count, 3))
    floor[:, :] = -1e-9 * np.array([0.2, 0.8, 0.4])
    floor[0] = [1e4, 0.0, 0.0]
    found = sizing_floor(mesh, floor)
    assert np.all(tensor_eigen(found)[0] >= 0.0)
    assert found.max() == pytest.approx(1e4 / 3.0, rel=1e-6)
    assert np.all(sizing_user(found) == found)
