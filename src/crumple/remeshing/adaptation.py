"""The mesh follows the sheet: what a remeshing is asked for, and how the state follows it.

[Narain2013] Algorithm 1: accelerations are stored before remeshing and carried over; see `projection` for what follows.
"""

from __future__ import annotations

import numpy as np

from crumple.geometry.metric import tensor_form
from crumple.mesh import SheetMesh
from crumple.model.derived import Derived
from crumple.options.remeshing import RemeshOptions
from crumple.plasticity import crease_hinges, mark_creases, unmark_creases
from crumple.remeshing import Guard, RemeshResult, remesh
from crumple.remeshing.demands import Demands
from crumple.remeshing.estimate import estimate_faces
from crumple.remeshing.projection import accelerations
from crumple.remeshing.sizing.field import compute_sizing
from crumple.remeshing.tuning import TUNING
from crumple.runtime.typing import Floats
from crumple.state import State, transfer

SPLIT_LIMIT = TUNING.split_limit.value
NEAR_LIMIT = TUNING.strained_edits.value


CALM_FRAMES = TUNING.calm_frames.value
CALM_FACES = TUNING.calm_faces.value
CALM_FRACTION = TUNING.calm_long_edges.value
CALM_EXCESS = TUNING.calm_excess.value
BUDGET_USED = TUNING.budget_used.value


def remesh_state(state: State, derived: Derived, demands: Demands) -> tuple[State, RemeshResult] | None:
    """The state on a mesh that is as fine as its shape and `demands` ask for, every field carried over, and what has
    changed; None where the mesh may stay as it is.

    The accelerations from before, carried over, are among the node fields of the change.
    """
    options = derived.model.remeshing
    assert options is not None
    if state.frame % options.interval:
        return None
    sizing = within_budget(state.mesh, compute_sizing(state, derived, demands.criteria), options.face_budget)
    if demands.may_rest and state.frame % CALM_FRAMES and is_fine_enough(state.mesh, sizing):
        return None
    result = _remesh(state, derived, sizing, demands)
    rules = derived.field_rules(is_cut=False)
    return transfer(state, result, mesh=unmark_creases(result.mesh), custom=rules), result


def within_budget(mesh: SheetMesh, sizing: Floats, budget: int) -> Floats:
    """The sizing field (vertex_count, 3) [1/m²], scaled down where it asks for more faces than the `budget`; 0 = none.

    All edges grow alike, so that the fine parts stay where the field has them.
    """
    if not budget:
        return sizing
    asked = estimate_faces(mesh, sizing)
    return sizing if asked <= BUDGET_USED * budget else sizing * (BUDGET_USED * budget / asked)


def is_fine_enough(mesh: SheetMesh, sizing: Floats) -> bool:
    """Whether a mesh is large, and hardly any edge is longer than `sizing` (vertex_count, 3) [1/m²] allows, none by
    much."""
    if mesh.face_count < CALM_FACES:
        return False
    head = np.roll(mesh.faces, -1, axis=1)
    square = tensor_form(0.5 * (sizing[mesh.faces] + sizing[head]), mesh.u[head] - mesh.u[mesh.faces])
    is_few = np.count_nonzero(square > SPLIT_LIMIT**2) <= CALM_FRACTION * square.size
    return bool(is_few and square.max() <= (CALM_EXCESS * SPLIT_LIMIT) ** 2)


def _remesh(state: State, derived: Derived, sizing: Floats, demands: Demands) -> RemeshResult:
    model, surface = derived.model, derived.surface(state.time)
    assert model.remeshing is not None
    acceleration, least_gap = accelerations(state, derived)
    protected = np.zeros(state.mesh.node_count, bool)
    protected[state.pins.nodes_needed] = True
    protected[state.bonds.nodes_needed] = True
    protected[derived.protected(state)] = True
    for nodes_of in demands.protections:
        protected[nodes_of(state)] = True
    creases = crease_hinges(state.mesh, state.plastic_curvature)
    return remesh(
        mark_creases(state.mesh, creases),
        sizing,
        x=state.x,
        v=state.v,
        y=state.y,
        node_fields={"acceleration": acceleration},
        density=np.array([material.density for material in model.materials]),
        stretch=_edit_squares(np.array([material.strain_limit for material in model.materials])),
        protected=protected,
        guard=None if surface is None else Guard(surface, state.obstacle_x, least_gap),
        options=RemeshOptions(
            aspect_min=0.5 * min(one.aspect_min for one in model.remeshing.all_sizing),
            split_limit=SPLIT_LIMIT,
            collapse_limit=1.0,
            max_faces=min(model.remeshing.max_faces, model.remeshing.face_budget or model.remeshing.max_faces),
        ),
    )


def _edit_squares(limit: Floats) -> Floats:
    """Squares of the stretches to which edits may take faces of materials with the strain `limit` (n,), inf = none."""
    return 1.0 + NEAR_LIMIT * (limit**2 - 1.0)
