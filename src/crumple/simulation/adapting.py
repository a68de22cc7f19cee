"""The mesh follows the sheet: what a remeshing is asked for, and how the state follows it.

[Narain2013] Algorithm 1: accelerations are stored before remeshing and carried over; see `projection` for what follows.
"""

from __future__ import annotations

import numpy as np

from crumple.boundary.creases import loose_hinges
from crumple.contact import Surface
from crumple.energies.stress import membrane_stress
from crumple.geometry.curvature import bending_strain, curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.geometry.metric import tensor_form
from crumple.mesh import SheetMesh
from crumple.plasticity import crease_hinges, mark_creases, unmark_creases
from crumple.remeshing import Guard, RemeshOptions, RemeshResult, nearest_obstacle, remesh
from crumple.simulation.derived import Derived
from crumple.simulation.model import Model
from crumple.simulation.projection import accelerations
from crumple.simulation.terms.bending import follow_relaxed
from crumple.simulation.tip_load import tip_size
from crumple.sizing import SizingOptions, compute_sizing
from crumple.sizing.fracture import sizing_floor, sizing_fracture
from crumple.sizing.tips import sizing_tips
from crumple.state import State, transfer
from crumple.tearing.separation import largest_tension
from crumple.typing import Floats, Ints

SPLIT_LIMIT = 1.1
"""Length in the metric from which an edge is split. The margin keeps the mesh calm: curvatures of a crumpled sheet
change with every edit, and with 1 a third of the nodes change in every frame (see docs/remeshing.md)."""


CALM_FRAMES = 4
"""A large mesh that hardly has to be refined is left as it is but for every so many frames: a remeshing costs as much
as a few Newton iterations, and disturbs what is at rest."""
CALM_FACES = 2000
"""Faces from which on a mesh may be left as it is."""
CALM_SHARE = 2e-3
"""Share of the edges that may be too long for that."""
CALM_EXCESS = 1.5
"""Length of the longest of them over the longest allowed."""


def remesh_state(state: State, derived: Derived) -> tuple[State, RemeshResult] | None:
    """The state on a mesh that is as fine as its shape asks for, every field carried over, and what has changed; None
    where the mesh may stay as it is.

    The accelerations from before, carried over, are among the node fields of the change.
    """
    surface = derived.surface(state.time)
    sizing = _sizing(state, derived, surface)
    if derived.model.tearing is None and state.frame % CALM_FRAMES and is_fine_enough(state.mesh, sizing):
        return None
    result = _remesh(state, derived, surface, sizing)
    custom = {"plastic_curvature": follow_relaxed} if derived.turn_count else None
    return transfer(state, result, mesh=unmark_creases(result.mesh), custom=custom), result


def is_fine_enough(mesh: SheetMesh, sizing: Floats) -> bool:
    """Whether a mesh is large, and hardly any edge is longer than `sizing` (vertex_count, 3) [1/m²] allows, none by
    much."""
    if mesh.face_count < CALM_FACES:
        return False
    head = np.roll(mesh.faces, -1, axis=1)
    square = tensor_form(0.5 * (sizing[mesh.faces] + sizing[head]), mesh.u[head] - mesh.u[mesh.faces])
    is_few = np.count_nonzero(square > SPLIT_LIMIT**2) <= CALM_SHARE * square.size
    return bool(is_few and square.max() <= (CALM_EXCESS * SPLIT_LIMIT) ** 2)


def _remesh(state: State, derived: Derived, surface: Surface | None, sizing: Floats) -> RemeshResult:
    model = derived.model
    assert model.remeshing is not None
    acceleration, least_gap = accelerations(state, derived)
    protected = np.zeros(state.mesh.node_count, bool)
    protected[state.pins.nodes_needed] = True
    protected[state.bonds.nodes_needed] = True
    if derived.pressing is not None:
        protected[derived.pressing.is_broken_at(state)] = True
    protected[_crack_nodes(state)] = True
    creases = crease_hinges(state.mesh, state.plastic_curvature)
    return remesh(
        mark_creases(state.mesh, creases),
        sizing,
        x=state.x,
        v=state.v,
        y=state.y,
        node_fields={"acceleration": acceleration},
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


def _crack_nodes(state: State) -> Ints:
    """The tips of cracks, and the nodes of both lips at the last vertex of their paths, from where they glide."""
    tips, mesh = state.tips, state.mesh
    found = [tips.node]
    for last, node in zip(tips.last, tips.node, strict=True):
        there = np.flatnonzero(np.linalg.norm(mesh.u - last, axis=1) < 1e-9 * float(np.ptp(mesh.u, axis=0).max()))
        behind = mesh.vertex_node[there]
        found.append(behind[mesh.node_sheet[behind] == mesh.node_sheet[node]])
    return np.concatenate(found).astype(np.int32)


def state_sizing(model: Model, state: State) -> Floats:
    """The sizing field that a remeshing of `state` would follow, (vertex_count, 3) [1/m²], for pictures and tables."""
    derived = Derived(model, state)
    return _sizing(state, derived, derived.surface(state.time))


def _sizing(state: State, derived: Derived, surface: Surface | None) -> Floats:
    """The sizing field at the vertices, (vertex_count, 3) [1/m²], each sheet by its own options.

    Curvatures are those of eq. 1, by the angles of hinges: where edges follow a fold they have no part along it, so the
    mesh gets long faces there. Those of mid-edge bending are right on average, but beside a sharp fold they spread into
    the direction along it, which would ask for twice as many faces.
    """
    model = derived.model
    assert model.remeshing is not None
    stencil = curvature_stencil(state.mesh)
    angle = dihedral_angles(state.x, state.mesh.hinges.nodes)
    angle[loose_hinges(state.mesh, model.creases)] = 0.0  # a hinge that is driven needs no fine mesh
    curvature = bending_strain(stencil, angle)
    plastic = bending_strain(stencil, rest_angle(stencil, state.plastic_curvature))
    ratio = _stiffness_ratio(model, state)
    user = [*(criterion(state) for criterion in model.remeshing.criteria), *_tearing_sizing(state, model)]
    fields = {
        options: compute_sizing(
            state.mesh,
            state.x,
            state.v,
            curvature,
            plastic,
            options=options,
            stiffness_ratio=ratio,
            obstacle_vector=_obstacle_vector(options, state, surface),
            damage=state.damage,
            user=user,
        )
        for options in dict.fromkeys(model.remeshing.all_sizing)
    }
    if len(fields) == 1:
        return fields[model.remeshing.all_sizing[0]]
    by_sheet = np.stack([fields[options] for options in model.remeshing.all_sizing])
    vertex_sheet = state.mesh.node_sheet[state.mesh.vertex_node]
    return np.ascontiguousarray(by_sheet[vertex_sheet, np.arange(len(vertex_sheet))])


def _tearing_sizing(state: State, model: Model) -> list[Floats]:
    """What cracks ask of the mesh: fine where they are, where they may begin, and where the sheet was folded before."""
    asked: list[Floats] = []
    if state.sizing_floor.any():
        asked.append(sizing_floor(state.mesh, state.sizing_floor))
    options = model.tearing
    if options is None:
        return asked
    if len(state.tips.node):
        asked.append(sizing_tips(state.mesh, state.tips.node, tip_size(model, state)))
    if options.initiation or options.criterion == "strength":
        strength = np.array([material.tensile_strength for material in model.materials])[state.mesh.face_material]
        tension = largest_tension(membrane_stress(state.mesh, model.materials, state.x, state.plastic_strain))
        asked.append(sizing_fracture(tension, strength, options.refine_fracture, tip_size(model, state)))
    return asked


def _obstacle_vector(options: SizingOptions, state: State, surface: Surface | None) -> Floats | None:
    """From each node to the nearest obstacle that is present, (node_count, 3) [m]; what is farther than the largest
    edge has no say."""
    if not options.refine_obstacle or surface is None or surface.dynamic_faces == len(surface.faces):
        return None
    faces = surface.faces[surface.dynamic_faces :] - np.int32(state.mesh.node_count)
    return nearest_obstacle(state.x, faces, state.obstacle_x, options.size_max)


def _stiffness_ratio(model: Model, state: State) -> Floats:
    """B/Y of each face [m²], which decides at what size a compressed sheet wrinkles."""
    ratios = np.array([m.bend_stiffness / m.stretch_stiffness for m in model.materials])
    return ratios[state.mesh.face_material]
