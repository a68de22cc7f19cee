"""A state follows a change of its mesh: one function for remeshing, cutting, gliding and lines put into a pattern."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from crumple.mesh.combine import concatenate
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.state.change import Change
from crumple.state.embedded import follow_plastic_curvature
from crumple.state.following import follow
from crumple.state.state import OwnField, State, state_fields

Custom: TypeAlias = Callable[[State, Floats, Change], Mapping[str, Floats]]
CUSTOM: dict[str, Custom] = {"plastic_curvature": follow_plastic_curvature}
"""How the fields with the rule "custom" follow: from the state before, the embedding after, and the change. What a
function returns are the values of its field, and of all others, by name, that go the same way."""


def transfer(
    state: State, change: Change, *, mesh: SheetMesh | None = None, custom: Mapping[str, Custom] | None = None
) -> State:
    """The state on the new mesh: every field by its rule, or as the edit itself has placed it.

    `mesh`: the new mesh with other labels, if they are to change as well;  `custom`: functions for fields, the user's
    own among them, that do not follow by the rule that they are declared with, or by `CUSTOM`.
    """
    if change.is_none:
        return state
    if change.old_mesh.face_count != state.mesh.face_count or change.old_mesh.node_count != state.mesh.node_count:
        raise InputError("transfer", "the change starts from another mesh than that of the state")
    values: dict[str, Any] = {}
    for field in state_fields():
        if field.name in change.carried:
            values[field.name] = np.ascontiguousarray(change.carried[field.name])
        elif field.rule != "custom":
            values[field.name] = follow(field, getattr(state, field.name), change)
    own_values = {name: follow(one.declared(name), one.values, change) for name, one in state.own.items()}
    for follow_custom in {**CUSTOM, **(custom or {})}.values():
        for name, followed in follow_custom(state, values["y"], change).items():
            target = own_values if name in own_values else values
            target[name] = followed
    own = {name: replace(one, values=own_values[name]) for name, one in state.own.items()}
    return state.replaced(
        mesh=change.mesh if mesh is None else mesh,
        pins=state.pins.follow(change),
        bonds=state.bonds.follow(change),
        creases=state.creases.follow(change),
        tips=state.tips.follow(change),
        own=own,
        **values,
    )


def merge(states: Sequence[State]) -> State:
    """One state of all sheets side by side; obstacles, time and counters are those of the first.

    Face groups keep their numbers. All states must have the same fields of the user's.
    """
    mesh, first_node = concatenate([state.mesh for state in states])
    values: dict[str, Any] = {
        field.name: np.concatenate([getattr(state, field.name) for state in states]) for field in state_fields()
    }
    for name in ("pins", "bonds", "creases", "tips"):
        parts = [getattr(state, name).shifted(int(node)) for state, node in zip(states, first_node, strict=False)]
        values[name] = _joined(parts)
    values["torn"] = _joined([state.torn for state in states])
    own = {name: _merged_own([state.own[name] for state in states]) for name in states[0].own}
    return states[0].replaced(mesh=mesh, own=own, **values)


def _joined(parts: Sequence[Any]) -> Any:
    """Ragged data of the same kind, one after the other."""
    return type(parts[0])(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])})


def _merged_own(parts: Sequence[OwnField]) -> OwnField:
    return replace(parts[0], values=np.concatenate([part.values for part in parts]))
