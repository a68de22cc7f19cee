"""What an energy is, and what a term of the model is: the two contracts that all physics keeps."""

from crumple.contract.constraint import Constraint
from crumple.contract.energy import (
    ENERGIES,
    Derivatives,
    Energy,
    Example,
    Projection,
    TurningEnergy,
    projection_mask,
    register,
)
from crumple.contract.term import EnergyTerm, MountedTerm, Stage, Term

__all__ = [
    "ENERGIES",
    "Constraint",
    "Derivatives",
    "Energy",
    "EnergyTerm",
    "Example",
    "MountedTerm",
    "Projection",
    "Stage",
    "Term",
    "TurningEnergy",
    "projection_mask",
    "register",
]
