"""Contacts of a state and their forces."""

from __future__ import annotations

import numpy as np

from crumple.contact import Barrier, active_pairs, find_candidates
from crumple.linalg import add_vectors
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import State


def contact_forces(model: Model, state: State) -> Floats:
    """Normal force of contact on every node, sheets first, then obstacles, without friction, (n, 3) [N]."""
    x = np.concatenate([state.x, state.obstacle_x])
    forces = np.zeros_like(x)
    barrier = contact_pairs(model, state)
    if barrier is not None:
        add_vectors(barrier.stencil, barrier.gradient(x), -1.0, forces)
    return forces


def contact_pairs(model: Model, state: State) -> Barrier | None:
    """The pairs in contact, nodes of obstacles numbered after those of the sheets; None when there is no contact."""
    x = np.concatenate([state.x, state.obstacle_x])
    surface = Derived(model, state).surface(state.time)
    if surface is None:
        return None
    candidates = find_candidates(surface, x, x, surface.reach)
    return active_pairs(surface, candidates, x, model.contact.stiffness)
