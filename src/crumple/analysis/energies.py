"""How the energy of a frame is split."""

from __future__ import annotations

import numpy as np

from crumple.contact import barrier_energy, find_candidates
from crumple.simulation.derived import Derived, contact_surface
from crumple.simulation.model import Model
from crumple.simulation.step import measure_energies
from crumple.state import State


def energy_split(model: Model, state: State) -> dict[str, float]:
    """Kinetic energy, that of every term by its name, and that of the contact barrier [J]."""
    return measure_energies(state, Derived(model, state)) | {"contact": contact_energy(model, state)}


def contact_energy(model: Model, state: State) -> float:
    """Energy of the contact barrier [J]; 0 when contact is off."""
    if not model.contact.enabled:
        return 0.0
    surface = contact_surface(model, state, state.time)
    x = np.ascontiguousarray(np.concatenate([state.x, state.obstacle_x]))
    candidates = find_candidates(surface, x, x, surface.reach)
    return barrier_energy(surface, candidates, x, model.contact.stiffness)
