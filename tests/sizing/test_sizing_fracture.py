"""The mesh where a sheet may tear."""

import numpy as np

from crumple.sizing.fracture import sizing_fracture


def test_edges_shrink_with_the_tension_down_to_those_of_tips():
    tension = np.array([0.0, 3e6, 15e6, 30e6, 90e6, 30e6])
    strength = np.array([30e6, 30e6, 30e6, 30e6, 30e6, np.inf])
    longest = sizing_fracture(tension, strength, 0.5, 2e-3)
    np.testing.assert_allclose(longest, [np.inf, 20e-3, 4e-3, 2e-3, 2e-3, np.inf])
    np.testing.assert_allclose(sizing_fracture(tension, strength, 0.25, 2e-3)[2], 2e-3)
