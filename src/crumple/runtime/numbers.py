"""What is a number, whatever a user may give instead."""

from __future__ import annotations

import math

import numpy as np


def is_finite_number(value: object) -> bool:
    """Whether `value` is a real number that a float can hold: neither "a" nor nan, neither None nor 10**400."""
    try:
        return isinstance(value, (int, float, np.integer, np.floating)) and math.isfinite(value)
    except OverflowError:
        return False
