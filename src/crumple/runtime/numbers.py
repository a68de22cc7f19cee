"""What is a number, whatever a user may give instead."""

from __future__ import annotations

import math
from typing import TypeGuard

import numpy as np


def is_finite_number(value: object) -> TypeGuard[float]:
    """Whether `value` is a real number that a float can hold: neither "a" nor nan, neither None nor True nor
    10**400."""
    try:
        is_real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        return is_real and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False
