"""One implicit step as the minimisation of an incremental potential [Narain2013, §3; Li2020].

    x₁ = argmin  ½ |x − x̂|²_M / dt² + elastic(x) + dissipation(x) + handles(x) + air(x) + contact(x)
    x̂ = x₀ + dt v₀ + dt² g

In static mode x̂ = x₀, weight is an energy of its own and dt is so large that inertia only removes rigid motion.
"""

from __future__ import annotations

import numpy as np

from crumple.energies.contract import BatchEnergy
from crumple.energies.gravity import make_gravity
from crumple.energies.nodal import NodalQuadratic, make_nodal
from crumple.energies.pins import make_pins
from crumple.energies.wind import make_wind
from crumple.simulation.bonds import bond_energies
from crumple.simulation.model import Model
from crumple.simulation.state import State
from crumple.simulation.workspace import Workspace
from crumple.solving.newton import Newton, NewtonOptions, Outcome
from crumple.solving.potential import Potential
from crumple.solving.touching import Touching
from crumple.typing import Floats

STATIC_STEP = 10.0
"""Step of the inertia that steadies a static solve [s]: far longer than any elastic period of a sheet."""
STATIC_PATIENCE = 10
"""Times more iterations that a static solve may take: it goes all the way, and a shorter step does not help it."""
QUIET_SPEED = 0.01
"""Motion of the whole sheet at this speed [m/s] is the least energy that a step is judged by."""


def integrate(model: Model, state: State, workspace: Workspace, step: float, *, hold: bool) -> Outcome:
    """Where the sheets and obstacles are `step` seconds later; the outcome says whether the solve converged."""
    end = state.time + step
    x = np.concatenate([state.x, state.obstacle_x])
    energies = [*_body_energies(model, state, workspace, step), *_boundary_energies(model, state, step)]
    surface = workspace.surface(model, state, end)
    touching = None
    if surface is not None:
        touching = Touching(surface, model.contact.stiffness, workspace.timer)
        stencil = touching.begin(x, step=step, slip_speed=model.contact.slip_speed)
        workspace.system.thin([stencil])
    potential = Potential(state.mesh.node_count, energies, touching, workspace.timer)
    options = NewtonOptions(
        energy=model.solver.tolerance * energy_in_play(model, state, workspace, step, touching),
        distance=model.solver.speed_tolerance * step,
        max_iterations=model.solver.max_iterations * (STATIC_PATIENCE if model.solver.mode == "static" else 1),
    )
    newton = Newton(potential, workspace.system, options)
    return newton.minimise(x, model.obstacle_positions(end), workspace.node_part, hold=hold)


def energy_in_play(
    model: Model, state: State, workspace: Workspace, step: float, touching: Touching | None = None
) -> float:
    """The energy that an error of a step is compared with [J]: elastic, of contact, kinetic, and of a quiet motion."""
    x = np.concatenate([state.x, state.obstacle_x])
    elastic = sum(float(np.sum(term.value(x))) for term in workspace.elastic.energies)
    contact = 0.0 if touching is None else touching.value(x)
    quiet = QUIET_SPEED + step * float(np.linalg.norm(model.gravity))
    return elastic + contact + kinetic_energy(workspace.mass, state.v) + kinetic_energy(workspace.mass, quiet)


def kinetic_energy(mass: Floats, v: Floats | float) -> float:
    """½ Σ m v² [J] for velocities (n, 3) or one speed [m/s]."""
    square = np.einsum("ni,ni->n", v, v) if isinstance(v, np.ndarray) else v * v
    return 0.5 * float(np.sum(mass * square))


def _body_energies(model: Model, state: State, workspace: Workspace, step: float) -> list[BatchEnergy]:
    """Inertia, weight and elasticity with its dissipation over the step."""
    elastic = workspace.elastic.update(state.x)
    gravity = np.array(model.gravity)
    if model.solver.mode == "static":
        weight = make_gravity(workspace.mass, gravity)
        return [_inertia(workspace, state.x, STATIC_STEP), weight, *elastic.energies]
    predicted = state.x + step * state.v + step**2 * gravity
    return [_inertia(workspace, predicted, step), *elastic.damped(state.x, step)]


def _inertia(workspace: Workspace, predicted: Floats, step: float) -> NodalQuadratic:
    return make_nodal(workspace.nodes, predicted, workspace.mass / step**2)


def _boundary_energies(model: Model, state: State, step: float) -> list[BatchEnergy]:
    """Handles and attachments as they are at the end of the step, and the air."""
    energies = holding_energies(model, state, state.time + step)
    if not model.wind.is_vacuum:
        energies.append(make_wind(model.wind, state.mesh.face_nodes, state.x, state.v, step))
    return energies


def holding_energies(model: Model, state: State, time: float) -> list[BatchEnergy]:
    """What holds nodes at `time` [s]: handles and attachments."""
    return [*pin_energies(model, state, time), *bond_energies(model, state, time)]


def pin_energies(model: Model, state: State, time: float) -> list[BatchEnergy]:
    """Springs that pull the held nodes to the targets of their handles at `time` [s]."""
    pins = state.pins
    if not len(pins.node):
        return []
    stiffness, target = np.zeros(len(pins.node)), pins.anchor.copy()
    for index, handle in enumerate(model.handles):
        held = pins.handle == index
        stiffness[held] = handle.stiffness * handle.strength(time)
        target[held] = handle.target(time, pins.anchor[held])
    return [make_pins(pins.node, target, stiffness)]
