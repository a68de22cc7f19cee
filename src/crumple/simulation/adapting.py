"""The mesh follows the sheet: remeshing once per frame, and the projection that keeps it from jittering.

[Narain2013] Algorithm 1: accelerations are stored before remeshing and carried over; see `projection` for what follows.
"""

from __future__ import annotations

import numpy as np

from crumple.contact import Surface
from crumple.plasticity import (
    crease_hinges,
    mark_creases,
    plastic_residual,
    restore_plastic,
    total_curvature,
    unmark_creases,
)
from crumple.remeshing import (
    Guard,
    RemeshOptions,
    RemeshResult,
    follow_pins,
    nearest_obstacle,
    remesh,
)
from crumple.simulation.bonds import follow_bonds
from crumple.simulation.model import Model
from crumple.simulation.projection import accelerations, project
from crumple.simulation.state import Pins, State
from crumple.simulation.workspace import Workspace
from crumple.sizing import SizingOptions, compute_sizing
from crumple.timing import PhaseTimer
from crumple.typing import Floats

SPLIT_LIMIT = 1.1
"""Length in the metric from which an edge is split. The margin keeps the mesh calm: curvatures of a crumpled sheet
change with every edit, and with 1 a third of the nodes change in every frame (see docs/remeshing.md)."""


def adapt(model: Model, state: State, workspace: Workspace | None = None, warnings: list[str] | None = None) -> State:
    """The state on a mesh that is as fine as its shape asks for; itself when remeshing is off.

    `workspace`: that of the state, if there is one. `warnings`: a list to add to when the mesh is coarser than asked.
    """
    if model.remeshing is None:
        return state
    workspace = workspace or Workspace(model, state, PhaseTimer())
    with workspace.timer("remeshing"):
        result = _remesh(model, state, workspace)
        adapted = _carry_over(state, workspace, result)
    if warnings is not None and result.statistics.limited:
        limit = model.remeshing.max_faces
        warnings.append(f"the mesh is coarser than asked for: remeshing.max_faces = {limit} faces are reached")
    if model.remeshing.projection and adapted.mesh is not state.mesh:
        with workspace.timer("projection"):
            fresh = Workspace(model, adapted, PhaseTimer())
            adapted = project(model, adapted, fresh, result.node_fields["acceleration"], result.changed_nodes)
    return adapted


def _remesh(model: Model, state: State, workspace: Workspace) -> RemeshResult:
    assert model.remeshing is not None
    mesh = state.mesh
    surface = workspace.surface(model, state, state.time)
    acceleration, least_gap = accelerations(model, state, workspace)
    sizing = _sizing(model, state, workspace, surface)
    protected = np.zeros(mesh.node_count, bool)
    protected[state.pins.node] = True
    protected[state.bonds.nodes] = True
    creases = crease_hinges(mesh, state.plastic_curvature, workspace.creasing.stencil)
    return remesh(
        mark_creases(mesh, creases),
        sizing,
        x=state.x,
        v=state.v,
        y=state.y,
        node_fields={"acceleration": acceleration},
        face_fields={"damage": state.damage, "plastic_strain": state.plastic_strain},
        density=np.array([material.density for material in model.materials]),
        protected=protected,
        guard=None if surface is None else Guard(surface, state.obstacle_x, least_gap),
        options=RemeshOptions(
            aspect_min=0.5 * min(one.aspect_min for one in model.remeshing.all_sizing),
            split_limit=SPLIT_LIMIT,
            collapse_limit=1.0,
            max_faces=model.remeshing.max_faces,
        ),
    )


def state_sizing(model: Model, state: State) -> Floats:
    """The sizing field that a remeshing of `state` would follow, (vertex_count, 3) [1/m²], for pictures and tables."""
    workspace = Workspace(model, state, PhaseTimer())
    return _sizing(model, state, workspace, workspace.surface(model, state, state.time))


def _sizing(model: Model, state: State, workspace: Workspace, surface: Surface | None) -> Floats:
    """The sizing field at the vertices, (vertex_count, 3) [1/m²], each sheet by its own options."""
    assert model.remeshing is not None
    curvature = total_curvature(state.mesh, workspace.creasing.stencil, state.x)
    ratio = _stiffness_ratio(model, state)
    fields = {
        options: compute_sizing(
            state.mesh,
            state.x,
            state.v,
            curvature,
            state.plastic_curvature,
            options=options,
            stiffness_ratio=ratio,
            obstacle_vector=_obstacle_vector(options, state, surface),
            damage=state.damage,
        )
        for options in dict.fromkeys(model.remeshing.all_sizing)
    }
    if len(fields) == 1:
        return fields[model.remeshing.all_sizing[0]]
    by_sheet = np.stack([fields[options] for options in model.remeshing.all_sizing])
    vertex_sheet = state.mesh.node_sheet[state.mesh.vertex_node]
    return np.ascontiguousarray(by_sheet[vertex_sheet, np.arange(len(vertex_sheet))])


def _obstacle_vector(options: SizingOptions, state: State, surface: Surface | None) -> Floats | None:
    """From each node to the nearest obstacle that is present, (node_count, 3) [m]; what is farther than the largest
    edge has no say."""
    if not options.refine_obstacle or surface is None or surface.dynamic_faces == len(surface.faces):
        return None
    faces = surface.faces[surface.dynamic_faces :] - np.int32(state.mesh.node_count)
    return nearest_obstacle(state.x, faces, state.obstacle_x, options.size_max)


def _carry_over(state: State, workspace: Workspace, result: RemeshResult) -> State:
    """The state on the new mesh: S_p from the embedding and the resampled residual; damage and E_p resampled."""
    if result.mesh is result.old_mesh:
        return state
    assert result.v is not None
    assert result.y is not None
    mesh = unmark_creases(result.mesh)
    plastic = np.zeros((mesh.face_count, 3))
    if np.any(state.plastic_curvature):
        residual = plastic_residual(state.mesh, state.y, state.plastic_curvature, workspace.creasing.stencil)
        plastic = restore_plastic(mesh, result.y, residual, result.face_operator)
    pins = state.pins
    node, handle, anchor = follow_pins(result.node_operator, pins.node, pins.handle, pins.anchor)
    return state.replaced(
        mesh=mesh,
        x=result.x,
        v=result.v,
        y=result.y,
        plastic_curvature=plastic,
        damage=np.ascontiguousarray(result.face_fields["damage"]),
        plastic_strain=np.ascontiguousarray(result.face_fields["plastic_strain"]),
        pins=Pins(node, handle, anchor),
        bonds=follow_bonds(result.node_operator, state.bonds),
    )


def _stiffness_ratio(model: Model, state: State) -> Floats:
    """B/Y of each face [m²], which decides at what size a compressed sheet wrinkles."""
    ratios = np.array([m.bend_stiffness / m.stretch_stiffness for m in model.materials])
    return ratios[state.mesh.face_material]
