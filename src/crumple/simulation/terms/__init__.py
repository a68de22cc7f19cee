"""The terms that a model is made of."""

from crumple.simulation.terms.air import Air
from crumple.simulation.terms.attachments import Attachments
from crumple.simulation.terms.bending import Bending, MountedHinges, MountedMidedge
from crumple.simulation.terms.crease_springs import CreaseSprings
from crumple.simulation.terms.gravity import Gravity
from crumple.simulation.terms.handles import Handles
from crumple.simulation.terms.membrane import Membrane
from crumple.simulation.terms.pressing import MountedPressing, Pressing
from crumple.simulation.terms.strain_limits import StrainLimits
from crumple.simulation.terms.velocity_damping import VelocityDamping

__all__ = [
    "Air",
    "Attachments",
    "Bending",
    "CreaseSprings",
    "Gravity",
    "Handles",
    "Membrane",
    "MountedHinges",
    "MountedMidedge",
    "MountedPressing",
    "Pressing",
    "StrainLimits",
    "VelocityDamping",
]
