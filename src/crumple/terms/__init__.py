"""The terms that a model is made of."""

from crumple.terms.air import Air
from crumple.terms.attachments import Attachments
from crumple.terms.bending import Bending
from crumple.terms.crease_springs import CreaseSprings
from crumple.terms.gravity import Gravity
from crumple.terms.handles import Handles
from crumple.terms.membrane import Membrane
from crumple.terms.pressing import Pressing
from crumple.terms.strain_limits import StrainLimits
from crumple.terms.velocity_damping import VelocityDamping

__all__ = [
    "Air",
    "Attachments",
    "Bending",
    "CreaseSprings",
    "Gravity",
    "Handles",
    "Membrane",
    "Pressing",
    "StrainLimits",
    "VelocityDamping",
]
