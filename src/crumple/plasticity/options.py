"""How a sheet deforms for good; the strengths themselves (κ_y, γ) belong to the material."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from crumple.errors import InputError

Rule = Literal["curvature", "rest-angle", "none"]
RULES: tuple[Rule, ...] = ("curvature", "rest-angle", "none")


@dataclass(frozen=True)
class PlasticityOptions:
    """Which plastic rule a run follows, and its extensions (all off by default).

    `rule`: "curvature" ([Narain2013] eq. 2-3, see `yielding`), "rest-angle" (see `rest_angle_rule`) or "none";
    `hardening` H: the yield curvature grows to κ_y (1 + H δ);
    `crease_radius` ℓ [m]: no crease bends plastically tighter than this radius, 0 = as tight as the mesh can;
    `follow_threshold` [rad], `follow_rate` [1/s]: of the "rest-angle" rule.
    """

    rule: Rule = "curvature"
    hardening: float = 0.0
    crease_radius: float = 0.0
    follow_threshold: float = 0.3
    follow_rate: float = 50.0

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise InputError("plasticity.rule", f"must be one of {', '.join(RULES)}", self.rule)
        for name in ("hardening", "crease_radius", "follow_threshold", "follow_rate"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0.0):
                raise InputError(f"plasticity.{name}", "must be a number >= 0", value)
