"""Contact forces of a state, from the barrier at rest."""

from __future__ import annotations

import numpy as np

from crumple.contact import active_pairs, find_candidates
from crumple.simulation.model import Model
from crumple.simulation.state import State
from crumple.simulation.workspace import Workspace
from crumple.timing import PhaseTimer
from crumple.typing import Floats


def barrier_force(model: Model, state: State, part: int) -> Floats:
    """Normal force (3,) [N] of everything else on a part (sheets first, then obstacles), without friction."""
    workspace = Workspace(model, state, PhaseTimer())
    surface = workspace.surface(model, state, state.time)
    if surface is None:
        return np.zeros(3)
    x = np.concatenate([state.x, state.obstacle_x])
    candidates = find_candidates(surface, x, x, surface.reach)
    barrier = active_pairs(surface, candidates, x, model.contact.stiffness)
    mine = workspace.node_part[barrier.stencil] == part
    return -barrier.gradient(x)[mine].sum(axis=0)
