"""Sheets that are at rest in the shape that they have: what they show becomes their plastic state."""

from __future__ import annotations

import numpy as np

from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.plasticity import total_strain
from crumple.plasticity.embedding import Embedding
from crumple.runtime.typing import Bools
from crumple.state import State
from crumple.terms.plastic_following import sharp_curvature


def rest_as_it_is(model: Model, state: State, *, bent: Bools, stretched: Bools) -> State:
    """The state in which the faces `bent` (face_count,) keep their curvature, and `stretched` ones their lengths, by
    themselves: S_p = S and E_p = E, so that they store no energy.

    S is the curvature with all directors in equilibrium, which the state then has, too, where sharp creases are at rest
    beside their edges: else a part of them would lie on the faces around, where no embedding can show it. The plastic
    embedding is settled from the present shape, so that remeshing finds the same rest shape on the new mesh.
    """
    if not (bent.any() or stretched.any()):
        return state
    derived = Derived(model, state)
    creased = state.replaced(
        plastic_curvature=np.where(bent[:, None], sharp_curvature(state.mesh, state.x), state.plastic_curvature)
    )
    in_balance = derived.relaxed(creased)
    relaxed = state.replaced(half_turn=in_balance.half_turn, half_rate=in_balance.half_rate)
    plastic = np.where(bent[:, None], derived.curvature(relaxed), state.plastic_curvature)
    strain = np.where(stretched[:, None], total_strain(state.mesh, state.x), state.plastic_strain)
    y = state.y.copy()
    nodes = np.unique(state.mesh.face_nodes[bent])
    y[nodes] = state.x[nodes]
    y = Embedding(state.mesh).settle(y, plastic, plastic_strain=strain)
    return relaxed.replaced(plastic_curvature=plastic, plastic_strain=strain, y=y)
