"""What the user decides about contact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from crumple.options.options import Options
from crumple.options.quantities import Quantity
from crumple.runtime.numbers import is_finite_number
from crumple.runtime.typing import Floats

Stiffness = Annotated[
    float,
    Quantity("Pa", above=0, most=1e15),
    "How hard they do: the pressure scale of the barrier. Without it, what masses, speeds and stiffnesses ask for.",
]


@dataclass(frozen=True)
class ContactSettings(Options):
    """Contact of everything with everything, as far as it is the same for all parts."""

    section: ClassVar[str] = "contact"

    enabled: Annotated[bool, "Whether there is contact at all. Without it, sheets pass through everything."] = True
    activation: Annotated[float, Quantity("m", above=0, most=1), "Gap below which surfaces repel each other."] = 1e-3
    stiffness: Stiffness | None = None
    slip_speed: Annotated[
        float, Quantity("m/s", above=0, most=10), "Speed below which friction holds more and more softly."
    ] = 1e-4
    rebound_speed: Annotated[
        float,
        Quantity("m/s", above=0, most=1e6),
        "Speed beyond which contact does not push surfaces apart: impacts that are faster lose the rest of theirs.",
    ] = 0.005


@dataclass(frozen=True)
class ContactOptions(ContactSettings):
    """Penetration-free contact between the parts of a model.

    `sheet_thickness` (sheet_count,) closest distance of mid-surfaces [m] (0: only the barrier keeps them apart);
    `friction` (part_count, part_count) Coulomb coefficients, parts are the sheets followed by the obstacles.
    """

    stiffness: Stiffness = 1e5
    sheet_thickness: tuple[float, ...] = ()
    friction: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def conflicts(self) -> Iterator[tuple[str, str]]:
        if any(not (is_finite_number(thickness) and thickness >= 0.0) for thickness in self.sheet_thickness):
            yield "sheet_thickness", "must be ≥ 0, in m"
        are_numbers = np.asarray(self.friction).dtype.kind in "fiu"
        if not (are_numbers and np.isfinite(self.friction).all() and (self.friction >= 0.0).all()):
            yield "friction", "must be numbers ≥ 0"
