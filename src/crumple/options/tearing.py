"""What the user decides about tearing; energies and strengths belong to the material."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from crumple.options.options import Options
from crumple.options.quantities import Quantity, Whole

Criterion = Literal["griffith", "strength"]
CreaseRule = Literal["angle", "jiang"]


@dataclass(frozen=True)
class WeakLine(Options):
    """Edges with the `label` take `factor` η times the energy of the sound sheet to tear: perforations, scores."""

    section: ClassVar[str] = "tearing.lines"

    label: int
    factor: Annotated[float, Quantity(above=0)]


@dataclass(frozen=True)
class TearingSettings(Options):
    """How sheets tear.

    "griffith": a crack runs while it sets free more energy than it takes; "strength": vertices split where the
    separation strength of [Jiang2016] exceeds that of the material. Along creases the energy is G_c/m, with
    m = 1 + (m∞−1)(1−exp(−φ/φ₀)) for a fold bent by φ in all ("angle") or m = (1 + d (D·n)²)² ("jiang").
    """

    section: ClassVar[str] = "tearing"

    criterion: Annotated[
        Criterion,
        "A crack runs while it sets free more energy than it takes, or vertices split where the stress exceeds the"
        " strength.",
    ] = "griffith"
    tip_size: (
        Annotated[
            float,
            Quantity("m", above=0, most=1e4),
            "Edge length at the tips of cracks; left out, the `size_min` of remeshing.",
        ]
        | None
    ) = None
    refine_fracture: Annotated[
        float, Quantity(above=0, most=1e3), "Fraction of the strength at which the mesh has its smallest size."
    ] = 0.5
    initiation: Annotated[bool, "Whether cracks begin in the sound sheet, not only at cuts."] = True
    crease_rule: Annotated[CreaseRule, "How creases guide cracks: by the angle of the fold, or as in Jiang 2016."] = (
        "angle"
    )
    crease_factor: Annotated[
        float,
        Quantity(least=1, most=1e6),
        "How many times less energy a crack takes along a sharp fold; 1 = creases do not matter.",
    ] = 4.0
    crease_angle: Annotated[
        float,
        Quantity("rad", above=0, most=1e3),
        "Bend of a fold, added up back and forth, at which most of that is reached.",
    ] = 5.0
    planes: Annotated[int, Whole(2, 1000), "Directions that are tried for the separation strength of a vertex."] = 36


@dataclass(frozen=True)
class Tearing(TearingSettings):
    """How the sheets of a model tear; `lines`: labelled edges that are weaker, or tougher, than the sheet."""

    lines: tuple[WeakLine, ...] = ()

    def line_factor(self, label: int) -> float:
        """η of the edges with a `label`; 1 for all that are not named."""
        return next((line.factor for line in self.lines if line.label == label), 1.0)
