"""What crumpled sheets are known to look like: the bands that statistics are compared with."""

from __future__ import annotations

from dataclasses import dataclass

METAL = 2e10
"""Young's modulus from which on a sheet is one of metal [Pa]: foil has 70 GPa, paper and plastics 1 to 8."""
INNER, OUTER = 0.3, 0.8
"""Between these radii [outer radius] the density of a ball is even; further in there is too little volume to tell."""
EVEN = 0.2
"""How far the density may be from its mean there, as a fraction."""
EDGE_WIDTH = 0.25
"""The density falls from 80 % to 20 % of that mean within this distance [outer radius]."""
ORIENTATION = (0.50, 0.62)
"""Mean of |n · r̂|: between isotropic and a bias towards layers around the centre [Narain2013] figure 8 b."""
FIRST_RADIUS = (7.0, 14.0)
"""Peak of R1 [thickness]; near 10 in [Cambou2011] and [Narain2013]."""
FOIL_FRACTION = (0.062, 0.068)
"""Volume fraction of the foil ball of [Narain2013] §5.1, 6.5 %."""
DENSE_FRACTION = (0.21, 0.23)
"""That of the densest ball of [Cambou2011], 22 %."""
AREA_RATIO = (0.95, 1.01)
"""Area in the world over that of the material: foil and paper bend, they hardly stretch. A bound of ours, which tells a
ball from a squeezed mesh: meshes that are too coarse to fold lose a third and more."""
MASS_SIZE = 0.4
"""Exponent of R ∝ M^a, a fractal dimension of 2.5 [Gomes1987]."""
MILEAGE_C1, MILEAGE_C2 = 52.0, 0.1
"""Of the crease mileage ℓ/L0 = c1 (1 − Δ) ln(1 + c2 n/Δ) of mylar [Gottesman2018]."""


@dataclass(frozen=True)
class Band:
    """A measured number and the range that it should be in; `measured` None: there is nothing to measure."""

    quantity: str
    low: float
    high: float
    measured: float | None

    @property
    def passed(self) -> bool:
        return self.measured is not None and self.low <= self.measured <= self.high
