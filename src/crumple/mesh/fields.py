"""Quantities attached to a mesh: each says once how it follows an edit of the topology.

`interpolate`  new nodes and vertices take the linear value along the split edge (positions, velocities);
`copy`         new elements take the value of the nearest old one (tags);
`conserve`     faces: averages weighted by overlap in the pattern, so area integrals are kept and bounds hold;
`discard`      new and changed elements become zero (caches that must be recomputed);
`custom`       by a function of its own, see `crumple.state`.

`crumple.state` applies these rules to whole changes of a mesh; the compiled edits apply them to what they carry along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

Place = Literal["node", "vertex", "edge", "face", "hinge"]
Rule = Literal["interpolate", "copy", "conserve", "discard", "custom"]
PLACES: tuple[Place, ...] = ("node", "vertex", "edge", "face", "hinge")

INTERPOLATE, COPY, CONSERVE, DISCARD = 0, 1, 2, 3
"""Codes of the rules in the `*_rule` arrays of the buffers."""

_CODE: dict[str, int] = {"interpolate": INTERPOLATE, "copy": COPY, "conserve": CONSERVE, "discard": DISCARD}
_ALLOWED: dict[str, tuple[str, ...]] = {
    "node": ("interpolate", "copy", "discard", "custom"),
    "vertex": ("interpolate", "copy", "discard", "custom"),
    "edge": ("copy", "discard", "custom"),
    "hinge": ("copy", "discard", "custom"),
    "face": ("conserve", "copy", "discard", "custom"),
}


@dataclass(frozen=True)
class Field:
    """A named quantity of `width` numbers per element of a kind, and the rule by which it follows edits."""

    name: str
    where: Place
    width: int
    rule: Rule

    def __post_init__(self) -> None:
        if self.where not in _ALLOWED or self.rule not in _ALLOWED[self.where]:
            possible = ", ".join(_ALLOWED.get(self.where, PLACES))
            raise InputError(f"field {self.name!r}", f"not possible on a {self.where}, choose {possible}", self.rule)
        if self.width < 1:
            raise InputError(f"field {self.name!r}: width", "must be at least 1", self.width)

    def shape(self, count: int) -> tuple[int, ...]:
        """The shape of its values on `count` elements."""
        return (count,) if self.width == 1 else (count, self.width)


def field_columns(fields: Sequence[Field], where: Place) -> dict[str, slice]:
    """Columns of each field in the stacked array of `where` (`node_data`, `vertex_data`, `face_data`)."""
    columns, start = {}, 0
    for field in fields:
        if field.where == where:
            columns[field.name] = slice(start, start + field.width)
            start += field.width
    return columns


def field_rules(fields: Sequence[Field], where: Place) -> np.ndarray:
    """Rule code of every column of the stacked array of `where`, int8."""
    return np.array([_CODE[f.rule] for f in fields if f.where == where for _ in range(f.width)], np.int8)


def stack_fields(
    fields: Sequence[Field], values: Mapping[str, np.ndarray], where: Place, count: int, capacity: int
) -> Floats:
    """The values of all fields of `where` side by side, (capacity, columns), rows beyond `count` are zero.

    A value may be (count,) when the field's width is 1, else (count, width).
    """
    columns = field_columns(fields, where)
    stacked = np.zeros((capacity, sum(c.stop - c.start for c in columns.values())))
    for name, column in columns.items():
        value = np.asarray(values[name], np.float64).reshape(count, -1)
        if value.shape[1] != column.stop - column.start:
            raise ValueError(f"field {name}: values of width {value.shape[1]}, declared {column.stop - column.start}")
        stacked[:count, column] = value
    return stacked


def unstack_fields(fields: Sequence[Field], where: Place, stacked: Floats) -> dict[str, Floats]:
    """The inverse of `stack_fields`: name → (count, width), or (count,) for width 1."""
    values = {}
    for name, column in field_columns(fields, where).items():
        value = np.ascontiguousarray(stacked[:, column])
        values[name] = value.ravel() if value.shape[1] == 1 else value
    return values
