"""The end of a frame, phase after phase: the mesh follows the shape, and the nodes settle on the new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from crumple.model.derived import Derived
from crumple.remeshing.adaptation import remesh_state
from crumple.remeshing.coarseness import tell_coarseness
from crumple.remeshing.demands import Demands
from crumple.remeshing.projection import project
from crumple.remeshing.remesh import RemeshResult
from crumple.runtime.threads import worthwhile_threads
from crumple.runtime.timing import PhaseTimer
from crumple.state import State


@dataclass(frozen=True)
class Adapting:
    """The end of a frame as far as it has come: its `state` and what is derived from the mesh of that.

    `timer` of the frame;  `demands`: what others ask of the mesh;  `change`: that of the mesh, None if it has stayed as
    it is;  `warnings` in words.
    """

    state: State
    derived: Derived
    timer: PhaseTimer
    demands: Demands
    change: RemeshResult | None = None
    warnings: tuple[str, ...] = ()


AdaptingPhase = Callable[[Adapting], Adapting]
"""What the end of a frame goes through; the same object where there is nothing to do."""


def remesh_sheets(adapting: Adapting) -> Adapting:
    """The state on a mesh that is as fine as its shape asks for; the same object when remeshing is off."""
    state, derived = adapting.state, adapting.derived
    options = derived.model.remeshing
    if options is None:
        return adapting
    with adapting.timer("remeshing"), worthwhile_threads(state.mesh.face_count):
        found = remesh_state(state, derived, adapting.demands)
    if found is None:
        return adapting
    remeshed, change = found
    coarser = f"the mesh is coarser than asked for: remeshing.max_faces = {options.max_faces} faces are reached"
    is_short = change.statistics.limited and not options.face_budget  # a budget is meant to be used up
    warnings = (*adapting.warnings, coarser) if is_short else adapting.warnings
    return replace(adapting, state=remeshed, change=None if change.is_none else change, warnings=warnings)


def resample_sheets(adapting: Adapting) -> Adapting:
    """The state with what terms find anew on a new mesh in its place."""
    if adapting.change is None:
        return adapting
    state = adapting.state
    with adapting.timer("projection"), worthwhile_threads(state.mesh.face_count):
        derived = Derived(adapting.derived.model, state)
        state = derived.relaxed(state)
    return replace(adapting, state=state, derived=derived)


def project_sheets(adapting: Adapting) -> Adapting:
    """The state with the nodes of a new mesh where the forces on them are what they were."""
    state, derived, change = adapting.state, adapting.derived, adapting.change
    options = derived.model.remeshing
    if change is None or options is None or not options.projection:
        return adapting
    with adapting.timer("projection"), worthwhile_threads(state.mesh.face_count):
        return replace(
            adapting, state=project(state, derived, change.node_fields["acceleration"], change.changed_nodes)
        )


def judge_sheets(adapting: Adapting) -> Adapting:
    """The end of a frame with a warning when the mesh is too coarse for the shape that forms, once in a run."""
    state = adapting.state
    if state.ledger.is_coarse or not state.ledger.has_begun:
        return adapting
    told = tell_coarseness(state, adapting.derived)
    if not told:
        return adapting
    noted = state.replaced(ledger=replace(state.ledger, is_coarse=True))
    return replace(adapting, state=noted, warnings=(*adapting.warnings, told))
