"""What the user decides about resolution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from crumple.options.options import Options
from crumple.options.quantities import Quantity


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
    size_max: Annotated[float, Quantity("m", above=0, most=1e4), "Longest edge that is allowed."] = 0.1
    aspect_min: Annotated[
        float,
        Quantity(above=0, most=1),
        "Smallest ratio of the short to the long side of faces; 1 makes them isotropic.",
    ] = 0.2
    combine: Annotated[
        Literal["disk", "sum"], "How criteria are combined: the smallest tensor that covers all, or their sum."
    ] = "disk"

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if self.size_min > self.size_max:
            yield "size_min", f"must be ≤ size_max = {self.size_max:g}, in m"
