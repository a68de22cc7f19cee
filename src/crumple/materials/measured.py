"""Measured fabrics: ARCSim's material files, converted to crumple's conventions.

A file is a JSON object (// comments allowed) with `density` [kg/m²], `stretching` (6×4: C11, C12, C22, C33 at
zero strain, then at strain 1/6 with the largest stretch at 0, 22.5, 45, 67.5, 90° from the warp) and `bending`
(3×5: edge direction 0, 45, 90°; curvature 0 … 20 1/m) [Wang2011].

Two constants differ there and are **converted, not copied**: stretching entries count double, and a bending
entry k_b is the energy (k_b/8) l²/(A1+A2) θ² [Jiang2016, eq. 4], that is B = k_b/4. Rows of `bending` name the
direction of the *edge*; crumple's name the direction of the *curvature*, across the edge, so rows are reversed.
A table whose entries do not depend on strain, curvature and direction becomes a constant material.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from crumple.materials.material import Material
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

STRETCHING_FACTOR = 2.0
BENDING_FACTOR = 0.25

DEFAULT_THICKNESS = 1e-4
"""Thickness [m] of a material whose file has none, as ARCSim's do."""

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
"""Strings and comments, also those that do not end: looking for an end that is not there would take quadratic time."""


def strip_comments(text: str) -> str:
    """JSON text without its // and /* */ comments; strings are left alone."""
    return _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)


def parse_arcsim_material(
    data: str | Mapping[str, Any],
    name: str,
    *,
    density_mult: float = 1.0,
    stretching_mult: float = 1.0,
    bending_mult: float = 1.0,
    thicken: float = 1.0,
    **others: Any,
) -> Material:
    """The material of an ARCSim material file, given as its text or as the object in it.

    The multipliers are ARCSim's (`thicken` multiplies all three); `others` as in `Material`: thickness,
    damping, yield_curvature, weakening. `name` is used in errors; give the file's name.
    """
    record = _object(data, name)
    for key, factor in (
        ("density_mult", density_mult),
        ("stretching_mult", stretching_mult),
        ("bending_mult", bending_mult),
        ("thicken", thicken),
    ):
        if not _is_positive(factor):
            raise InputError(f"{name}: {key}", "must be a number > 0", factor)
    density = record.get("density")
    if not _is_positive(density):
        raise InputError(f"{name}: density", "must be a number > 0, in kg/m²", density)
    stretching = _rows(record, "stretching", (6, 4), name) * (STRETCHING_FACTOR * stretching_mult * thicken)
    bending = _rows(record, "bending", (3, 5), name)[::-1] * (BENDING_FACTOR * bending_mult * thicken)
    return Material(
        name,
        others.pop("thickness", DEFAULT_THICKNESS),
        float(density) * density_mult * thicken,
        stretching[0] if _is_usable_constant(stretching) else stretching,
        bending[:, 0] if (bending == bending[:1, :1]).all() else bending,
        **others,
    )


def _is_usable_constant(stretching: Floats) -> bool:
    """Whether all rows agree and make an energy that is positive for every strain."""
    c11, c12, c22, c33 = stretching[0]
    return bool((stretching == stretching[0]).all()) and min(c11, c22, c33) > 0.0 and c12 * c12 <= c11 * c22


def _object(data: str | Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The JSON object in `data`."""
    if isinstance(data, str):
        try:
            data = json.loads(strip_comments(data))
        except (ValueError, RecursionError) as error:
            raise InputError(name, f"must be JSON with a material, {error}") from None
    if not isinstance(data, Mapping):
        raise InputError(name, "must be a JSON object with density, stretching, bending", data)
    return data


def _rows(record: Mapping[str, Any], key: str, shape: tuple[int, int], name: str) -> Floats:
    """The table under `key`, of the right shape and finite."""
    value = record.get(key)
    wanted = f"must be {shape[0]} rows of {shape[1]} numbers"
    try:
        table = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: {key}", wanted, value) from None
    if table.shape != shape or not np.isfinite(table).all():
        raise InputError(f"{name}: {key}", wanted, value)
    return table


def _is_positive(value: Any) -> TypeGuard[float]:
    """Whether `value` is a finite number above zero."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 < value < float("inf")
