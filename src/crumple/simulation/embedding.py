"""The plastic embedding follows the plastic state."""

from __future__ import annotations

from dataclasses import replace

from crumple.model.derived import Derived
from crumple.remeshing.adaptation import CALM_FRAMES
from crumple.state import State
from crumple.stepping.advance import Advance


def embed_sheets(advance: Advance) -> Advance:
    """The step with its plastic embedding moved on."""
    with advance.derived.timer("plasticity"):
        return replace(advance, state=embed(advance.unyielded, advance.state, advance.derived))


def embed(before: State, state: State, derived: Derived) -> State:
    """The state with its plastic embedding moved towards the plastic state, unless it is there; `before` it yielded.

    The embedding of a large sheet that hardly yields is moved on with every remeshing, which needs it, only.
    """
    if not derived.model.is_plastic:
        return state
    embedding = derived.embedding
    if embedding.is_settled(state.y, state.plastic_curvature, state.plastic_strain):
        return state
    is_calm = embedding.is_calm(before.plastic_curvature, state.plastic_curvature)
    if is_calm and derived.model.remeshing is not None and (state.frame + 1) % CALM_FRAMES:
        return state
    y = embedding.advance(state.y, state.plastic_curvature, state.plastic_strain, before=before.plastic_curvature)
    return state if y is state.y else state.replaced(y=y)
