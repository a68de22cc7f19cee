"""Ironing: sheets forget their bends, towards flat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.plasticity.embedding import Embedding
from crumple.runtime.typing import Floats
from crumple.state import State
from crumple.terms.crease_memory import SPRUNG


def iron(state: State, fraction: float) -> State:
    """The state with the `fraction` 0 to 1 of all bends that stay taken back; it stays where it is in the world.

    Plastic curvature, damage, the crease tensor and what sprung creases have yielded by become 1 − fraction of what
    they were, and the plastic embedding settles accordingly. What was stretched stays stretched.
    """
    left = 1.0 - fraction
    curvature = left * state.plastic_curvature
    rows = state.creases
    return state.replaced(
        y=_embedded(state, curvature),
        plastic_curvature=curvature,
        damage=left * state.damage,
        crease=left * state.crease,
        creases=replace(rows, shift=np.where(rows.kind == SPRUNG, left * rows.shift, rows.shift)),
    )


def _embedded(state: State, curvature: Floats) -> Floats:
    """The plastic embedding of the state with another plastic curvature (face_count, 3) [1/m], (node_count, 3) [m]."""
    start = state.y if curvature.any() else state.mesh.node_rest.copy()
    strain = state.plastic_strain
    if not (curvature.any() or strain.any()):
        return start
    return Embedding(state.mesh).settle(start, curvature, plastic_strain=strain)
