"""Contact forces of a state."""

from __future__ import annotations

import numpy as np

from crumple.contact import active_pairs, find_candidates
from crumple.linalg import add_vectors
from crumple.simulation.model import Model
from crumple.simulation.state import State
from crumple.simulation.workspace import Workspace
from crumple.timing import PhaseTimer
from crumple.typing import Floats


def contact_forces(model: Model, state: State) -> Floats:
    """Normal force of contact on every node, sheets first, then obstacles, without friction, (n, 3) [N]."""
    x = np.concatenate([state.x, state.obstacle_x])
    surface = Workspace(model, state, PhaseTimer()).surface(model, state, state.time)
    forces = np.zeros_like(x)
    if surface is not None:
        candidates = find_candidates(surface, x, x, surface.reach)
        barrier = active_pairs(surface, candidates, x, model.contact.stiffness)
        add_vectors(barrier.stencil, barrier.gradient(x), -1.0, forces)
    return forces
