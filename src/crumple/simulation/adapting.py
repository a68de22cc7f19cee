"""The mesh follows the sheet: remeshing once per frame, and the projection that keeps it from jittering.

[Narain2013] Algorithm 1, §4.3: accelerations are stored before remeshing and carried over; afterwards the nodes move
to where the same accelerations act, which is a minimum of

    E(x) + Σ m a·(x − x⁰) + ½ μ |x − x⁰|²                                                               (eq. 13)

with E the elastic energy, the handles and the contact barrier; steps are bounded by collisions.
"""

from __future__ import annotations

import numpy as np

from crumple.contact import Surface
from crumple.energies.nodal import make_nodal
from crumple.plasticity import plastic_residual, restore_plastic, total_curvature
from crumple.remeshing import Guard, RemeshOptions, RemeshResult, follow_pins, nearest_obstacle, remesh
from crumple.simulation.integrate import pin_energies
from crumple.simulation.model import Model
from crumple.simulation.state import Pins, State
from crumple.simulation.workspace import Workspace
from crumple.sizing import SizingOptions, compute_sizing
from crumple.solving.newton import Newton, NewtonOptions
from crumple.solving.potential import Potential
from crumple.solving.touching import Touching
from crumple.timing import PhaseTimer
from crumple.typing import Floats

REGULARISATION = 1e-4
"""μ per node over the (least) membrane stiffness [N/m] of the sheets. At the minimum the accelerations are wrong by
μ|x − x⁰|/m, so μ has to be small beside the stiffness to bending too, or curved sheets keep their jitter."""
PROJECTION_ITERATIONS = 8
PROJECTION_TOLERANCE = 1e-5
"""Share of the energy after remeshing below which the projection stops; most of that energy is what it removes."""


def adapt(model: Model, state: State, timer: PhaseTimer) -> State:
    """The state on a mesh that is as fine as its shape asks for; itself when remeshing is off."""
    if model.remeshing is None:
        return state
    with timer("remeshing"):
        workspace = Workspace(model, state, PhaseTimer())
        accelerations = _accelerations(model, state, workspace)
        result = _remesh(model, state, workspace, accelerations)
        adapted = _carry_over(state, workspace, result)
    if model.remeshing.projection and adapted.mesh is not state.mesh:
        with timer("projection"):
            adapted = _project(model, adapted, result.node_fields["acceleration"])
    return adapted


def _remesh(model: Model, state: State, workspace: Workspace, accelerations: Floats) -> RemeshResult:
    assert model.remeshing is not None
    mesh, stencil = state.mesh, workspace.creasing.stencil
    surface = workspace.surface(model, state, state.time)
    sizing = compute_sizing(
        mesh,
        state.x,
        state.v,
        total_curvature(mesh, stencil, state.x),
        state.plastic_curvature,
        options=model.remeshing.sizing,
        stiffness_ratio=_stiffness_ratio(model, state),
        obstacle_vector=_obstacle_vector(model.remeshing.sizing, state, surface),
        damage=state.damage,
    )
    protected = np.zeros(mesh.node_count, bool)
    protected[state.pins.node] = True
    return remesh(
        mesh,
        sizing,
        x=state.x,
        v=state.v,
        y=state.y,
        node_fields={"acceleration": accelerations},
        face_fields={"damage": state.damage},
        density=np.array([material.density for material in model.materials]),
        protected=protected,
        guard=None if surface is None else Guard(surface, state.obstacle_x),
        options=RemeshOptions(aspect_min=0.5 * model.remeshing.sizing.aspect_min),
    )


def _obstacle_vector(options: SizingOptions, state: State, surface: Surface | None) -> Floats | None:
    """From each node to the nearest obstacle that is present, (node_count, 3) [m]; what is farther than the largest
    edge has no say."""
    if not options.refine_obstacle or surface is None or surface.dynamic_faces == len(surface.faces):
        return None
    faces = surface.faces[surface.dynamic_faces :] - np.int32(state.mesh.node_count)
    return nearest_obstacle(state.x, faces, state.obstacle_x, options.size_max)


def _carry_over(state: State, workspace: Workspace, result: RemeshResult) -> State:
    """The state on the new mesh: S_p from the embedding and the resampled residual, damage resampled."""
    if result.mesh is result.old_mesh:
        return state
    assert result.v is not None
    assert result.y is not None
    plastic = np.zeros((result.mesh.face_count, 3))
    if np.any(state.plastic_curvature):
        residual = plastic_residual(state.mesh, state.y, state.plastic_curvature, workspace.creasing.stencil)
        plastic = restore_plastic(result.mesh, result.y, residual, result.face_operator)
    pins = state.pins
    node, handle, anchor = follow_pins(result.node_operator, pins.node, pins.handle, pins.anchor)
    return state.replaced(
        mesh=result.mesh,
        x=result.x,
        v=result.v,
        y=result.y,
        plastic_curvature=plastic,
        damage=np.ascontiguousarray(result.face_fields["damage"]),
        pins=Pins(node, handle, anchor),
    )


def _project(model: Model, state: State, accelerations: Floats) -> State:
    """The state with x moved to where the accelerations from before remeshing act (eq. 13)."""
    workspace = Workspace(model, state, PhaseTimer())
    anchor = make_nodal(
        workspace.nodes,
        state.x,
        np.full(state.mesh.node_count, REGULARISATION * min(m.stretch_stiffness for m in model.materials)),
        -workspace.mass[:, None] * accelerations,
    )
    potential = _potential(model, state, workspace)
    energy = potential.value(_positions(state))
    potential.add(anchor)
    options = NewtonOptions(
        energy=PROJECTION_TOLERANCE * energy + np.finfo(float).tiny,
        distance=np.inf,
        max_iterations=PROJECTION_ITERATIONS,
    )
    newton = Newton(potential, workspace.system, options)
    outcome = newton.minimise(_positions(state), state.obstacle_x, workspace.node_part, hold=True)
    return state.replaced(x=np.ascontiguousarray(outcome.x[: state.mesh.node_count]))


def _accelerations(model: Model, state: State, workspace: Workspace) -> Floats:
    """Accelerations by the elastic energy, handles and contact (eq. 11), (node_count, 3) [m/s²]."""
    gradient = _potential(model, state, workspace).gradient(_positions(state))
    return -gradient / workspace.mass[:, None]


def _potential(model: Model, state: State, workspace: Workspace) -> Potential:
    """Elastic energy, handles and contact without friction, at the time of the state."""
    surface = workspace.surface(model, state, state.time)
    touching = None
    if surface is not None:
        touching = Touching(surface, model.contact.stiffness, workspace.timer)
        touching.look(_positions(state))
    energies = [*workspace.elastic.update(state.x).energies, *pin_energies(model, state, state.time)]
    return Potential(state.mesh.node_count, energies, touching, workspace.timer)


def _positions(state: State) -> Floats:
    return np.concatenate([state.x, state.obstacle_x])


def _stiffness_ratio(model: Model, state: State) -> Floats:
    """B/Y of each face [m²], which decides at what size a compressed sheet wrinkles."""
    ratios = np.array([m.bend_stiffness / m.stretch_stiffness for m in model.materials])
    return ratios[state.mesh.face_material]
