"""What the user decides about resolution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from crumple.options.options import Options
from crumple.options.quantities import Quantity

LARGEST_PART = 0.15
"""Longest edge over the square root of a sheet's area, unless one is given: cantilevers of several widths are then
within 2 % up to Γ = 30; with 0.25 within 4.5 %."""
LARGEST_EDGE = 0.1
"""The same for large sheets [m]."""


@dataclass(frozen=True, kw_only=True)
class SizingOptions(Options):
    """Bounds that an edge of the mesh has to respect ([Narain2013] eq. 7); `math.inf` turns a bound off.

    A sheet of bending stiffness B and membrane stiffness Y wrinkles at the scale c/√ε of `refine_compression` when
    c = √(B/Y); larger values resolve only coarser wrinkles. `refine_obstacle` is eq. 6, `rib_stiffening` eq. 9, and
    "disk", the smallest tensor that dominates all criteria, §4.2 there; the paper only suggests `refine_damage`.
    """

    section: ClassVar[str] = "remeshing"

    refine_angle: Annotated[
        float, Quantity("rad", above=0, most=10, or_infinite=True), "Largest turn of the normal along an edge."
    ] = 0.3
    refine_velocity: Annotated[
        float, Quantity("m/s", above=0, most=1e9, or_infinite=True), "Largest difference of velocity along an edge."
    ] = 0.5
    refine_compression: Annotated[
        float,
        Quantity("m", above=0, most=1e4, or_infinite=True),
        "c: an edge along which the sheet is compressed by the strain ε may be c/√ε long.",
    ] = 1e-4
    refine_obstacle: Annotated[
        bool, "Whether edges become as short as the distance of the obstacle that they point at."
    ] = True
    refine_damage: Annotated[
        float,
        Quantity(above=0, most=1e9, or_infinite=True),
        "Largest difference of damage along an edge; left out, damage does not matter.",
    ] = math.inf
    rib_stiffening: Annotated[
        bool, "Whether curvature across the compression keeps wrinkles from being expected there."
    ] = True
    size_min: Annotated[float, Quantity("m", above=0, most=1e4), "Shortest edge that is asked for."] = 3e-3
    size_max: (
        Annotated[
            float,
            Quantity("m", above=0, most=1e4),
            "Longest edge that is allowed; left out: 0.15 times the square root of the area of the sheet, or 0.1 m "
            "where that is less, so that gentle bends are resolved.",
        ]
        | None
    ) = None
    aspect_min: Annotated[
        float,
        Quantity(above=0, most=1),
        "Smallest ratio of the short to the long side of faces; 1 makes them isotropic.",
    ] = 0.2
    combine: Annotated[
        Literal["disk", "sum"], "How criteria are combined: the smallest tensor that covers all, or their sum."
    ] = "disk"

    def for_area(self, area: float) -> SizingOptions:
        """The options with the longest edge of a sheet with the given area [m²], if none is given."""
        return self if self.size_max is not None else replace(self, size_max=self.longest_edge(area))

    def longest_edge(self, area: float = math.inf) -> float:
        """The longest edge that is allowed in a sheet with the given area [m²], in m."""
        if self.size_max is not None:
            return self.size_max
        return max(self.size_min, min(LARGEST_EDGE, LARGEST_PART * math.sqrt(area)))

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if self.size_max is not None and self.size_min > self.size_max:
            yield "size_min", f"must be ≤ size_max = {self.size_max:g}, in m"
