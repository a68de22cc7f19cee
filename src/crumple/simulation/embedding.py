"""The plastic embedding follows the plastic state."""

from __future__ import annotations

from dataclasses import replace

from crumple.model.derived import Derived
from crumple.plasticity.tuning import TUNING
from crumple.remeshing.adaptation import CALM_FRAMES
from crumple.state import State
from crumple.stepping.advance import Advance

FRAMES = TUNING.embedding_frames.value


def embed_sheets(advance: Advance) -> Advance:
    """The step with its plastic embedding moved on."""
    with advance.derived.timer("plasticity"):
        return replace(advance, state=embed(advance.unyielded, advance.state, advance.derived))


def embed(before: State, state: State, derived: Derived) -> State:
    """The state with its plastic embedding moved towards the plastic state, unless it is there; `before` it yielded.

    Steps do not read it: that of a sheet which is not remeshed is moved on in some frames only, and that of a large
    sheet that hardly yields with every remeshing.
    """
    is_read = derived.model.remeshing is not None or (state.frame + 1) % FRAMES == 0
    if not (derived.model.is_plastic and is_read):
        return state
    embedding = derived.embedding
    if embedding.is_settled(state.y, state.plastic_curvature, state.plastic_strain):
        return state
    is_calm = embedding.is_calm(before.plastic_curvature, state.plastic_curvature)
    if is_calm and (state.frame + 1) % CALM_FRAMES:
        return state
    y = embedding.advance(state.y, state.plastic_curvature, state.plastic_strain, before=before.plastic_curvature)
    return state if y is state.y else state.replaced(y=y)
