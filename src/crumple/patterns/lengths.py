"""How long a drawing is: metres per unit of a file."""

from __future__ import annotations

import math

from crumple.runtime.errors import InputError

DEFAULT_WIDTH = 0.2
"""Longer side of a pattern whose file has no unit [m]."""
LONGEST, SHORTEST = 1e3, 1e-6
"""Patterns with a longer side beyond these are surely in another unit [m]."""


def fitted_scale(place: str, longest: float, unit: float | None, width: float | None) -> float:
    """Metres per unit: `unit`, or what makes the longer side, `longest` units, `width` [m]; checked."""
    for key, value in (("unit", unit), ("width", width)):
        if value is not None and not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{place}: {key}", "must be > 0 and finite, in m", value)
    if not (math.isfinite(longest) and longest > 0.0):
        raise InputError(place, "all points of the pattern are the same")
    scale = unit if width is None and unit is not None else (width or DEFAULT_WIDTH) / longest
    if not SHORTEST <= longest * scale <= LONGEST:
        remedy = f"is {longest * scale:.3g} m long; give its unit (in m) or width (in m)"
        raise InputError(place, remedy)
    return scale
