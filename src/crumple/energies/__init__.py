"""Energies under one contract: elastic, external, inertia, damping."""

from crumple.energies.contract import BatchEnergy, Energy, Projection
from crumple.energies.elastic import Elastic, make_elastic
from crumple.energies.gravity import make_gravity
from crumple.energies.inertia import make_inertia, node_masses
from crumple.energies.pins import make_pins
from crumple.energies.wind import Wind, make_wind

__all__ = [
    "BatchEnergy",
    "Elastic",
    "Energy",
    "Projection",
    "Wind",
    "make_elastic",
    "make_gravity",
    "make_inertia",
    "make_pins",
    "make_wind",
    "node_masses",
]
