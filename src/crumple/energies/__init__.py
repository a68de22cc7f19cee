"""Energies of elements: membranes, bending, inertia, weight, air, springs."""

from crumple.energies.gravity import make_gravity
from crumple.energies.gusts import Gust
from crumple.energies.holding import make_holding
from crumple.energies.inertia import make_inertia, node_masses
from crumple.energies.sheets import make_hinges, make_membranes
from crumple.energies.wind import Wind, make_wind

__all__ = [
    "Gust",
    "Wind",
    "make_gravity",
    "make_hinges",
    "make_holding",
    "make_inertia",
    "make_membranes",
    "make_wind",
    "node_masses",
]
