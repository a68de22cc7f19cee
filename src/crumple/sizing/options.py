"""What the user decides about resolution."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from crumple.errors import InputError


@dataclass(frozen=True, kw_only=True)
class SizingOptions:
    """Bounds that an edge of the mesh has to respect ([Narain2013] eq. 7); `math.inf` turns a bound off.

    `refine_angle` Δn [rad]: turn of the normal along an edge.
    `refine_velocity` Δv [m/s]: difference of velocity along an edge.
    `refine_compression` c [m]: an edge along which the sheet is compressed by the strain ε may be c/√ε long. A sheet
    of bending stiffness B and membrane stiffness Y wrinkles at that scale when c = √(B/Y); larger values resolve
    only coarser wrinkles.
    `refine_obstacle`: whether an edge may not be longer than the distance to the obstacle it points at (eq. 6).
    `refine_damage` Δδ: difference of damage along an edge (off: the paper only suggests it).
    `rib_stiffening`: whether curvature across the compression suppresses anticipated wrinkles (eq. 9).
    `size_min`, `size_max` [m]: smallest and largest edge length.
    `aspect_min`: smallest ratio of the short to the long side that the field may ask for, in (0, 1].
    `combine`: "disk", the smallest tensor that dominates all criteria (§4.2), or "sum".
    """

    refine_angle: float = 0.3
    refine_velocity: float = 0.5
    refine_compression: float = 1e-4
    refine_obstacle: bool = True
    refine_damage: float = math.inf
    rib_stiffening: bool = True
    size_min: float = 3e-3
    size_max: float = 0.1
    aspect_min: float = 0.2
    combine: str = "disk"

    def __post_init__(self) -> None:
        units = {
            "refine_angle": "rad",
            "refine_velocity": "m/s",
            "refine_compression": "m",
            "refine_damage": "no unit",
            "size_min": "m",
            "size_max": "m",
        }
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in units and not (_is_number(value) and value > 0.0):
                raise InputError(f"remeshing.{field.name}", f"must be > 0, in {units[field.name]}", value)
        for name in ("size_min", "size_max"):
            if not math.isfinite(getattr(self, name)):
                raise InputError(f"remeshing.{name}", "must be finite, in m", getattr(self, name))
        if self.size_min > self.size_max:
            raise InputError("remeshing.size_min", f"must be ≤ size_max = {self.size_max}", self.size_min)
        if not (_is_number(self.aspect_min) and 0.0 < self.aspect_min <= 1.0):
            raise InputError("remeshing.aspect_min", "must be in (0, 1]", self.aspect_min)
        for name in ("refine_obstacle", "rib_stiffening"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"remeshing.{name}", "must be true or false", getattr(self, name))
        if self.combine not in ("disk", "sum"):
            raise InputError("remeshing.combine", 'must be "disk" or "sum"', self.combine)


def _is_number(value: object) -> bool:
    """Whether `value` is a real number and not NaN."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
