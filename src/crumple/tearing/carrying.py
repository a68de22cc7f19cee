"""A stage of a step, carried over to a mesh that cracks have changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.contract import Stage
from crumple.model.derived import Derived
from crumple.state import Change, State


def follow_stage(stage: Stage, state: State, derived: Derived, change: Change) -> Stage:
    """The stage on a changed mesh, whose solve sets out from where the `state` is."""
    rows = change.node_operator
    poses = [np.ascontiguousarray(rows @ x) for _, x in stage.before]
    still = stage.is_static
    turns = tuple(state.half_turn if still else derived.relaxed(state.replaced(x=x)).half_turn for x in poses)
    return replace(
        stage,
        state=state,
        start=state.x,
        velocity=np.ascontiguousarray(rows @ stage.velocity),
        origin=state.x if still else np.ascontiguousarray(rows @ stage.origin),
        drift=np.ascontiguousarray(rows @ stage.drift),
        before=tuple((weight, x) for (weight, _), x in zip(stage.before, poses, strict=True)),
        guess=None,
        half_turns=turns,
    )
