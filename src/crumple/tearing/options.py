"""What the user decides about tearing; energies and strengths belong to the material."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from crumple.errors import InputError

Criterion = Literal["griffith", "strength"]
CreaseRule = Literal["angle", "jiang"]
CRITERIA: tuple[Criterion, ...] = ("griffith", "strength")
CREASE_RULES: tuple[CreaseRule, ...] = ("angle", "jiang")


@dataclass(frozen=True)
class WeakLine:
    """Edges with the `label` take `factor` η times the energy of the sound sheet to tear: perforations, scores."""

    label: int
    factor: float

    def __post_init__(self) -> None:
        if not (isfinite(self.factor) and self.factor > 0.0):
            raise InputError("tearing.lines.factor", "must be a number > 0", self.factor)


@dataclass(frozen=True)
class Tearing:
    """How sheets tear.

    `criterion`: "griffith", a crack runs while it sets free more energy than it takes, or "strength", vertices split
    where the separation strength of [Jiang2016] exceeds that of the material;
    `tip_size` ℓ [m]: edge length at the tips of cracks, None = the smallest that remeshing allows;
    `refine_fracture` f: the mesh reaches its smallest size where the stress is f times the strength;
    `initiation`: whether cracks begin in the sound sheet, not only at cuts;
    `crease_rule`: how creases guide cracks, "angle" (m = 1 + (m∞−1)(1−exp(−φ/φ₀)) for a fold bent by φ in
    all) or "jiang" (m = (1 + d (D·n)²)²); the energy along them is G_c/m;
    `crease_factor` m∞ ≥ 1 (1 = creases do not matter), `crease_angle` φ₀ [rad];
    `planes`: directions in which a vertex may split that are tried for the separation strength;
    `lines`: labelled edges that are weaker, or tougher, than the sheet.
    """

    criterion: Criterion = "griffith"
    tip_size: float | None = None
    refine_fracture: float = 0.5
    initiation: bool = True
    crease_rule: CreaseRule = "angle"
    crease_factor: float = 4.0
    crease_angle: float = 5.0
    planes: int = 36
    lines: tuple[WeakLine, ...] = ()

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise InputError("tearing.criterion", f"must be one of {', '.join(CRITERIA)}", self.criterion)
        if self.crease_rule not in CREASE_RULES:
            raise InputError("tearing.crease_rule", f"must be one of {', '.join(CREASE_RULES)}", self.crease_rule)
        for name, unit in (("refine_fracture", ""), ("crease_angle", ", in rad")):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0.0):
                raise InputError(f"tearing.{name}", f"must be > 0{unit}", value)
        if self.tip_size is not None and not (isfinite(self.tip_size) and self.tip_size > 0.0):
            raise InputError("tearing.tip_size", "must be > 0, in m", self.tip_size)
        if not (isfinite(self.crease_factor) and self.crease_factor >= 1.0):
            raise InputError("tearing.crease_factor", "must be ≥ 1", self.crease_factor)
        if not 2 <= self.planes <= 1000:
            raise InputError("tearing.planes", "must be a whole number within 2…1000", self.planes)

    def line_factor(self, label: int) -> float:
        """η of the edges with a `label`; 1 for all that are not named."""
        return next((line.factor for line in self.lines if line.label == label), 1.0)
