"""How a sheet deforms for good; the strengths themselves (κ_y, γ) belong to the material."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from crumple.options.options import Options
from crumple.options.quantities import Quantity

Rule = Literal["curvature", "rest-angle", "none"]


@dataclass(frozen=True)
class PlasticityOptions(Options):
    """Which plastic rule a run follows, and its extensions (all off by default).

    "curvature" is that of [Narain2013] eq. 2-3, see `yielding`; "rest-angle" is in `rest_angle_rule`.
    """

    section: ClassVar[str] = "plasticity"

    rule: Annotated[Rule, "Yielding by curvature with damage, rest angles that follow, or none."] = "curvature"
    hardening: Annotated[float, Quantity(least=0, most=1e6), "H: a face with damage δ yields at κ_y (1 + H δ)."] = 0.0
    crease_radius: Annotated[
        float, Quantity("m", least=0, most=1), "No crease is plastically tighter than this radius."
    ] = 0.0
    crease_strength: Annotated[
        float,
        Quantity(least=0, most=1),
        "ρ: the moment at which a weakened crease yields falls to this fraction of that of the new sheet; 0: as in "
        "[Narain2013], where it depends on the mesh.",
    ] = 0.3
    follow_threshold: Annotated[
        float,
        Quantity("rad", least=0, most=4),
        'Of the rule `"rest-angle"`: how far off an angle may be before its rest angle follows.',
    ] = 0.3
    follow_rate: Annotated[
        float, Quantity("1/s", least=0, most=1e6), 'Of the rule `"rest-angle"`: how fast it follows.'
    ] = 50.0
