"""A stage of a step, and plastic curvature, carried over to a mesh that cracks have changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.contract import Stage
from crumple.geometry.curvature import bending_strain, curvature_stencil, rest_angle
from crumple.simulation.derived import Derived
from crumple.state import Change, State
from crumple.state.change import NEW
from crumple.typing import Floats


def follow_stage(stage: Stage, state: State, derived: Derived, change: Change) -> Stage:
    """The stage on a changed mesh, whose solve sets out from where the `state` is."""
    rows = change.node_operator
    poses = [np.ascontiguousarray(rows @ x) for _, x in stage.before]
    still = stage.is_static
    turns = tuple(state.half_turn if still else derived.bending.relax(state.replaced(x=x)).half_turn for x in poses)
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


def carry_plastic(state: State, y: Floats, change: Change) -> Floats:
    """S_p of faces: that of the faces below, by area. Cutting leaves it as it is."""
    return np.asarray(change.face_operator @ state.plastic_curvature, np.float64)


def carry_hinges(state: State, y: Floats, change: Change) -> Floats:
    """S_p of faces whose hinges bend: what the rest angles of cut hinges have put into it goes with them."""
    before, after = curvature_stencil(state.mesh), curvature_stencil(change.mesh)
    angle = rest_angle(before, state.plastic_curvature)
    beyond = state.plastic_curvature - bending_strain(before, angle)
    source = change.hinge_source
    left = np.where(source == NEW, 0.0, angle[source])
    return np.asarray(bending_strain(after, left) + change.face_operator @ beyond, np.float64)
