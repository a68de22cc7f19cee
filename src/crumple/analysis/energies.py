"""How the energy of a frame is split."""

from __future__ import annotations

import numpy as np

from crumple.contact import barrier_energy, find_candidates
from crumple.energies.elastic import make_elastic
from crumple.energies.inertia import node_masses
from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.simulation.model import Model
from crumple.simulation.state import State
from crumple.simulation.workspace import contact_surface


def energy_split(model: Model, state: State) -> dict[str, float]:
    """Membrane, bending, gravity, kinetic and contact energy [J]; contact is that of the barrier."""
    angle = rest_angle(curvature_stencil(state.mesh), state.plastic_curvature)
    energies = {"membrane": 0.0, "bending": 0.0}
    elastic = make_elastic(
        state.mesh, model.materials, rest_angle=angle, damage=state.damage, rest_strain=state.plastic_strain
    )
    for term in elastic.energies:
        name = "membrane" if term.stencil.shape[1] == 3 else "bending"
        energies[name] += float(np.sum(term.value(state.x)))
    mass = node_masses(state.mesh, model.materials)
    energies["gravity"] = -float(mass @ (state.x @ np.array(model.gravity)))
    energies["kinetic"] = 0.5 * float(mass @ np.einsum("ij,ij->i", state.v, state.v))
    energies["contact"] = contact_energy(model, state)
    return energies


def contact_energy(model: Model, state: State) -> float:
    """Energy of the contact barrier [J]; 0 when contact is off."""
    if not model.contact.enabled:
        return 0.0
    surface = contact_surface(model, state, state.time)
    x = np.ascontiguousarray(np.concatenate([state.x, state.obstacle_x]))
    candidates = find_candidates(surface, x, x, surface.reach)
    return barrier_energy(surface, candidates, x, model.contact.stiffness)
