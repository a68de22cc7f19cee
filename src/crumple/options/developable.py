"""What the user decides about developable sheets [Schreck2015]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from crumple.options.options import Options
from crumple.options.quantities import Quantity, Whole


@dataclass(frozen=True)
class DevelopableOptions(Options):
    """The geometry of developable sheets: how fine, and when they bend and crumple."""

    section: ClassVar[str] = "developable"

    spacing: Annotated[float, Quantity("m", above=0, most=1), "Of vertices on the border, and of rulings."] = 1e-2 / 1.2
    ghost_spacing: Annotated[float, Quantity("m", above=0, most=1), "Of nodes inside flat regions."] = 1.58e-2
    compression: Annotated[
        float, Quantity(above=0, most=0.5), "Shortening of a flat region at which it becomes curved."
    ] = 2e-3
    scatter: Annotated[
        float,
        Quantity("m", least=0, most=1),
        "σ of the random place of a singular point, whose distance d from the likely ruling has the density"
        " exp(−d²/σ²): 1e-4 m for paper of 70 g/m², 1e-3 m for 90 g/m².",
    ] = 1e-3
    flat_angle: Annotated[
        float, Quantity("rad", above=0, most=1), "θ_low: a ruling at the end of a curved region that bends less goes."
    ] = 2e-4
    curved_angle: Annotated[
        float,
        Quantity("rad", above=0, most=1),
        "θ_high: a ruling at the end of a curved region that bends more gets a next one.",
    ] = 2e-2
    singular_angle: Annotated[
        float, Quantity("rad", above=0, most=1), "θ₀: a ruling that bends more can hold a singular point."
    ] = 1e-2
    cone_error: Annotated[
        float, Quantity("m", above=0, most=1), "ε_B: how far tangent planes may miss the apex of a fitted cone."
    ] = 5e-4
    whole_ruling: Annotated[
        bool, "Whether singular points may be anywhere along a ruling, not only where the compressed band meets it."
    ] = False
    remembered_curvature: Annotated[
        float, Quantity("1/m", above=0, most=1e9), "κ_y: folds at singular points remember what bends them beyond it."
    ] = 300.0
    strength: Annotated[
        float,
        Quantity("N/m", above=0, or_infinite=True),
        "Largest principal tension at the border, or at the end of a slit, beyond which the sheet tears; inf: it does"
        " not. Hands pull with 4 N at most.",
    ] = float("inf")
    most_singular: Annotated[int, Whole(0, 10**4), "Singular points that a sheet may have."] = 64
    seed: Annotated[int, Whole(0, 2**32 - 1), "Of all random places."] = 0

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if self.flat_angle >= self.curved_angle:
            yield "flat_angle", f"must be < curved_angle = {self.curved_angle:g}, in rad"
