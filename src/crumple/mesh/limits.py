"""What a mesh may measure and how many faces it may have."""

from __future__ import annotations

import numpy as np

from crumple.runtime.errors import InputError

FACE_LIMIT = 5_000_000
"""Meshes beyond this many faces are refused: surely a wrong unit."""


def require_positive(place: str, **lengths: float) -> None:
    """Raise `InputError` unless every length is a positive finite number."""
    for name, value in lengths.items():
        if not (isinstance(value, int | float | np.number) and np.isfinite(value) and value > 0.0):
            raise InputError(f"{place}.{name}", "must be > 0 and finite, in m", value)


def limit_faces(place: str, count: float, value: object) -> None:
    """Raise `InputError` if about `count` faces would be made."""
    if not count <= FACE_LIMIT:
        raise InputError(place, f"gives about {count:.2g} faces; at most {FACE_LIMIT} are possible", value)
