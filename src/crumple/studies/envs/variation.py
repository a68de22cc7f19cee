"""What may differ from episode to episode: friction and stiffnesses of the paper, given or drawn at random."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.numbers import is_finite_number

VARIED: dict[str, tuple[float, float]] = {
    "friction": (0.0, 2.0),
    "bend_factor": (0.01, 100.0),
    "stretch_factor": (0.01, 100.0),
    "density_factor": (0.01, 100.0),
}
"""What can be varied, and within which limits; factors multiply what the material has."""

Range = tuple[float, float]


def ranges(place: str, wishes: Mapping[str, Any] | None) -> dict[str, Range]:
    """The wishes as (low, high), both the same for a single number; `InputError` for what is neither."""
    found: dict[str, Range] = {}
    for name, wish in (wishes or {}).items():
        if name not in VARIED:
            raise InputError(f"{place}: {name}", f"can be varied are {', '.join(VARIED)}")
        found[name] = _range(f"{place}: {name}", wish, VARIED[name])
    return found


def draw(wanted: Mapping[str, Range], rng: np.random.Generator) -> dict[str, float]:
    """A number out of each range: factors evenly by their logarithms, so that ½ is as likely as 2."""
    drawn = {}
    for name in (name for name in VARIED if name in wanted):
        low, high = wanted[name]
        if low == high:
            drawn[name] = low
        elif name.endswith("_factor"):
            drawn[name] = float(np.exp(rng.uniform(np.log(low), np.log(high))))
        else:
            drawn[name] = float(rng.uniform(low, high))
    return drawn


def _range(place: str, wish: Any, limits: Range) -> Range:
    values = tuple(wish) if isinstance(wish, (tuple, list, np.ndarray)) else (wish, wish)
    if len(values) != 2 or not all(is_finite_number(value) for value in values):
        raise InputError(place, "must be a number, or the two ends of a range", wish)
    low, high = float(values[0]), float(values[1])
    if not limits[0] <= low <= high <= limits[1]:
        raise InputError(place, f"must lie within {limits[0]:g} to {limits[1]:g}, the lower end first", wish)
    return low, high
