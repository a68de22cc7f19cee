"""One implicit step as the minimisation of an incremental potential [Narain2013, §3; Li2020].

    x₁ = argmin  ½ |x − x̂|²_M / dt² + elastic(x) + dissipation(x) + handles(x) + air(x) + contact(x)
    x̂ = x₀ + dt v₀ + dt² g

In static mode x̂ = x₀, weight is an energy of its own and dt is so large that inertia only removes rigid motion.
"""

from __future__ import annotations

import numpy as np

from crumple.contract import Stage
from crumple.contract.term import kinetic_energy
from crumple.energies.nodal import NodalQuadratic, make_nodal
from crumple.simulation.derived import Derived
from crumple.solving.newton import Newton, NewtonOptions, Outcome
from crumple.solving.potential import Potential
from crumple.solving.touching import Touching
from crumple.state import State

STATIC_STEP = 10.0
"""Step of the inertia that steadies a static solve [s]: far longer than any elastic period of a sheet."""
STATIC_PATIENCE = 10
"""Times more iterations that a static solve may take: it goes all the way, and a shorter step does not help it."""
QUIET_SPEED = 0.01
"""Motion of the whole sheet at this speed [m/s] is the least energy that a step is judged by."""


def integrate(state: State, derived: Derived, step: float, *, hold: bool) -> Outcome:
    """Where the sheets and obstacles are `step` seconds later; the outcome says whether the solve converged."""
    model = derived.model
    is_static = model.solver.mode == "static"
    stage = Stage(state, state.time + step, step, ((1.0, state.x),), is_static)
    x = np.concatenate([state.x, state.obstacle_x])
    surface = derived.surface(stage.time)
    touching = None
    if surface is not None:
        touching = Touching(surface, model.contact.stiffness, x, derived.timer)
        derived.system.thin([touching.rub(x, x, step=step, slip_speed=model.contact.slip_speed)])
    energies = [_inertia(stage, derived), *derived.over(stage)]
    potential = Potential(state.mesh.node_count, energies, touching, derived.timer)
    options = NewtonOptions(
        energy=model.solver.tolerance * energy_in_play(state, derived, step, touching),
        distance=model.solver.speed_tolerance * step,
        max_iterations=model.solver.max_iterations * (STATIC_PATIENCE if is_static else 1),
    )
    newton = Newton(potential, derived.system, options)
    return newton.minimise(x, model.obstacle_positions(stage.time), derived.node_part, hold=hold)


def energy_in_play(state: State, derived: Derived, step: float, touching: Touching | None = None) -> float:
    """The energy that an error of a step is compared with [J]: elastic, of contact, kinetic, and of a quiet motion."""
    x = np.concatenate([state.x, state.obstacle_x])
    elastic = sum(term.measure(state) for kind, term in derived.terms if kind.is_in_play)
    contact = 0.0 if touching is None else touching.value(x)
    quiet = QUIET_SPEED + step * float(np.linalg.norm(derived.acceleration()))
    return elastic + contact + kinetic_energy(derived.mass, state.v) + kinetic_energy(derived.mass, quiet)


def _inertia(stage: Stage, derived: Derived) -> NodalQuadratic:
    """Inertia over the stage, and what acts on all nodes alike."""
    state, step = stage.state, stage.step
    if stage.is_static:
        return make_nodal(derived.nodes, state.x, derived.mass / STATIC_STEP**2)
    predicted = state.x + step * state.v + step**2 * derived.acceleration()
    return make_nodal(derived.nodes, predicted, derived.mass / step**2)
