"""What counts as a number."""

import numpy as np
import pytest

from crumple.runtime.numbers import is_finite_number


@pytest.mark.parametrize("value", [0, -3, 2.5, np.float32(1.0), np.int64(7)])
def test_numbers_are_numbers(value):
    assert is_finite_number(value)


@pytest.mark.parametrize("value", [None, "1", True, False, np.True_, float("nan"), float("inf"), 10**400, 1j, [1.0]])
def test_nothing_else_is(value):
    assert not is_finite_number(value)
