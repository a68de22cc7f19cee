"""The field of stress around the tips of a state, where there is one: see `tearing.williams`."""

from __future__ import annotations

import numpy as np

from crumple.contract import Stage
from crumple.mesh import SheetMesh
from crumple.model.derived import Derived
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import State
from crumple.tearing.path import node_vertex
from crumple.tearing.tip import connected_within, lip_nodes
from crumple.tearing.tuning import TUNING
from crumple.tearing.williams import Field, fit_field

OUTER = TUNING.field_outer.value
NARROWEST = TUNING.field_narrowest.value
BEHIND = TUNING.field_axis.value


def tip_field(
    state: State, derived: Derived, number: int, size: float, stage: Stage | None = None
) -> tuple[Field, float] | None:
    """The field of the tip `number` and E t [N/m] there; None where there is none: too near to the border of the sheet,
    to what is held or to another tip. `size` ℓ [m].

    The crack is taken as one that ends along the mean way of its lips over the last 2 ℓ: behind a kink that is much
    shorter than ℓ, the field is still that of the crack without it.
    """
    mesh, node = state.mesh, int(state.tips.node[number])
    vertex = node_vertex(mesh, node)
    if vertex < 0:
        return None
    offset = mesh.u - mesh.u[vertex]
    distance = np.linalg.norm(offset, axis=1)
    inside = connected_within(mesh, vertex, distance < OUTER * size)
    near = np.zeros(mesh.node_count, bool)
    near[mesh.vertex_node[inside]] = True
    lips = lip_nodes(mesh, node, state.tips.heading[number], near)
    reach = min(OUTER * size, _nearest_other(state, node, inside, distance, lips))
    axis = _axis(mesh, vertex, lips, BEHIND * size)
    if reach < NARROWEST * size or axis is None:
        return None
    faces = np.flatnonzero(
        inside[mesh.faces].any(axis=1) & (mesh.node_sheet[mesh.face_nodes[:, 0]] == mesh.node_sheet[node])
    )
    middle = offset[mesh.faces[faces]].mean(axis=1)
    faces = faces[np.linalg.norm(middle, axis=1) < reach].astype(np.int32)
    return _fitted(state, derived, faces, vertex, axis, size, stage)


def _fitted(
    state: State, derived: Derived, faces: Ints, vertex: int, axis: Floats, size: float, stage: Stage | None
) -> tuple[Field, float] | None:
    """The field of all terms that have tension in the `faces` (n,), and their mean E t [N/m]."""
    mesh, moving = state.mesh, None if stage is None or stage.is_static else stage
    parts = [term.tension(state, faces, moving) for _, term in derived.terms]
    found = [part for part in parts if part is not None]
    if not found or not len(faces):
        return None
    tension, modulus = (np.sum([part[k] for part in found], axis=0) for k in range(2))
    middle = np.ascontiguousarray(mesh.u[mesh.faces[faces]].mean(axis=1) - mesh.u[vertex])
    field = fit_field(middle, np.abs(mesh.face_area[faces]), tension, axis, size)
    return None if field is None else (field, float(modulus.mean()))


def _nearest_other(state: State, node: int, inside: Bools, distance: Floats, lips: tuple[Ints, Ints]) -> float:
    """How far from the tip at `node` the field is disturbed [m]: by the border, other tips, or what is held."""
    mesh = state.mesh
    other = mesh.boundary_nodes.copy()
    other[np.concatenate(lips)] = False
    other[state.tips.nodes_needed] = True
    other[state.pins.nodes_needed] = True
    other[node] = False
    return float(distance[inside & other[mesh.vertex_node]].min(initial=np.inf))


def _axis(mesh: SheetMesh, vertex: int, lips: tuple[Ints, Ints], behind: float) -> Floats | None:
    """The unit vector (2,) along the mean way of both lips over the distance `behind` [m] from the tip at `vertex`."""
    place = np.zeros((mesh.node_count, 2))
    place[mesh.vertex_node] = mesh.u
    total = np.zeros(2)
    for nodes in lips:
        way = place[nodes] - mesh.u[vertex]
        far = np.linalg.norm(way, axis=1)
        last = int(np.argmax(far >= behind)) if far[-1] >= behind else len(far) - 1
        if last == 0:
            return None
        share = min(1.0, (behind - far[last - 1]) / (far[last] - far[last - 1]))
        end = way[last - 1] + share * (way[last] - way[last - 1])
        total -= end / np.linalg.norm(end)
    length = float(np.linalg.norm(total))
    return total / length if length > 0.0 else None
