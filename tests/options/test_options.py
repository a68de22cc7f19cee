"""Options that cannot be are refused with their name."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.options.contact import ContactOptions
from crumple.options.solver import SolverOptions
from crumple.runtime.errors import InputError


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"min_step": 1.0, "max_step": 1e-3}, "solver.min_step"),
        ({"max_step": np.nan}, "solver.max_step"),
        ({"tolerance": 0.0}, "solver.tolerance"),
        ({"path_error": -1.0}, "solver.path_error"),
        ({"fixed_step": np.inf}, "solver.fixed_step"),
        ({"max_iterations": 0}, "solver.max_iterations"),
        ({"mode": "fast"}, "solver.mode"),
        ({"integrator": "leapfrog"}, "solver.integrator"),
        ({"bending": "spline"}, "solver.bending"),
    ],
)
def test_solver(options, place):
    with pytest.raises(InputError, match=place):
        SolverOptions(**options)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"stiffness": np.nan}, "contact.stiffness"),
        ({"activation": 0.0}, "contact.activation"),
        ({"slip_speed": -1e-4}, "contact.slip_speed"),
        ({"sheet_thickness": (1e-4, -1e-4)}, "contact.sheet_thickness"),
        ({"friction": np.array([[0.1, np.nan], [np.nan, 0.1]])}, "contact.friction"),
    ],
)
def test_contact(options, place):
    with pytest.raises(InputError, match=place):
        ContactOptions(**options)


@pytest.mark.parametrize("value", ["a", None, float("nan"), -1.0, 10**400])
def test_thicknesses_and_friction_that_are_no_numbers(value):
    with pytest.raises(InputError, match="sheet_thickness"):
        ContactOptions(sheet_thickness=(value,))
    with pytest.raises(InputError, match="friction"):
        ContactOptions(friction=np.array([[value]]))
