"""The ledger of energy of a run: what has come in, what is there, and where the rest has gone.

    start + handles + obstacles + gravity + air + creases + remeshing
        = kinetic + stored + yielding + overstress + friction + impacts + damping + velocity_damping + tearing
          + integrator

All are sums since the ledger was begun, in joules. Every column but the last is measured by itself; what is left over
is the integrator's: what the finite steps, and the accuracy of their solves, have taken (or, below zero, given).
"""

from __future__ import annotations

from dataclasses import dataclass

INCOMES = ("handles", "obstacles", "gravity", "air", "creases")
"""Columns of work that is done on the sheets."""
LOSSES = ("yielding", "overstress", "friction", "impacts", "damping", "velocity_damping", "tearing")
"""Columns of energy that is dissipated by a known cause."""
COLUMNS = {
    "start": "kinetic and stored energy when the ledger was begun",
    "handles": "work of the handles at their targets",
    "obstacles": "work of moving obstacles, friction included",
    "gravity": "work of gravity and of other loads that have a potential",
    "air": "work of the air, negative where it slows the sheets",
    "creases": "work of the drives that fold creases",
    "remeshing": "energy gained between steps: by remeshing and projection, or by a change from outside",
    "kinetic": "kinetic energy",
    "stored": "energy of all terms and of the contact barrier",
    "yielding": "dissipated by plastic flow and damage, as the yield law has it",
    "overstress": "dissipated because sheets bend beyond where they yield before they do, at the end of a step",
    "friction": "dissipated by friction",
    "impacts": "dissipated by the damping of contact",
    "damping": "dissipated by the damping of materials",
    "velocity_damping": "dissipated by velocity damping",
    "tearing": "work of fracture",
    "integrator": "the remainder: dissipated by finite steps and by solves of finite accuracy",
}
"""What each column holds; all are in joules."""


@dataclass(frozen=True)
class Ledger:
    """The columns of `COLUMNS`, all [J] but the `integrator`, which follows from them.

    `has_begun`: before the first step nothing is known;  `is_current`: `kinetic`, `stored` and `potential`, that of
    the loads [J], are those of the state: not after a remeshing;  `is_pressed`: at the end of the last frame, contact
    stored more than the sheets;  `is_coarse`: the mesh was found too coarse for the shape in some
    frame;  `contact` and `sheets` [J]: what the barrier and the sheets' own terms store;
    `…_power` [W] at the end of the last step.
    """

    has_begun: bool = False
    is_current: bool = False
    is_pressed: bool = False
    is_coarse: bool = False
    start: float = 0.0
    handles: float = 0.0
    obstacles: float = 0.0
    gravity: float = 0.0
    air: float = 0.0
    creases: float = 0.0
    remeshing: float = 0.0
    kinetic: float = 0.0
    stored: float = 0.0
    potential: float = 0.0
    contact: float = 0.0
    sheets: float = 0.0
    yielding: float = 0.0
    overstress: float = 0.0
    friction: float = 0.0
    impacts: float = 0.0
    damping: float = 0.0
    velocity_damping: float = 0.0
    tearing: float = 0.0
    air_power: float = 0.0
    friction_power: float = 0.0
    impact_power: float = 0.0
    damping_power: float = 0.0
    velocity_damping_power: float = 0.0

    @property
    def income(self) -> float:
        """Work done on the sheets by all that acts on them [J]."""
        return float(sum(getattr(self, name) for name in INCOMES))

    @property
    def losses(self) -> float:
        """What is dissipated by known causes [J]."""
        return float(sum(getattr(self, name) for name in LOSSES))

    @property
    def integrator(self) -> float:
        """The remainder [J]."""
        return self.start + self.income + self.remeshing - self.losses - self.kinetic - self.stored

    @property
    def largest(self) -> float:
        """The largest column but the remainder, by its size [J]: what the remainder is small beside, or not."""
        return max(abs(getattr(self, name)) for name in COLUMNS if name != "integrator")

    def entries(self) -> dict[str, float]:
        """All columns by name [J]; empty before the first step."""
        return {name: float(getattr(self, name)) for name in COLUMNS} if self.has_begun else {}
