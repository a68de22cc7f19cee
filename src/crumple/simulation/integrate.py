"""One implicit step as the minimisation of incremental potentials, one for each stage [Narain2013, §3; Li2020].

    x₁ = argmin  ½ |x − x̂|²_M / s² + elastic(x) + dissipation(x) + handles(x) + air(x) + contact(x)
    x̂ = origin + s drift + s² g

with the span s, the origin and the drift of the stage (see `schemes`); implicit Euler has the single stage s = dt,
origin = x₀, drift = v₀. The semi-implicit step takes the first solution of its linear system, and Verlet's has the
elastic acceleration of its start in x̂ instead of elastic(x). Friction, damping and the air act by the velocity
(x − origin)/s of the stage, handles and obstacles are where they belong at its time, and every stage ends free of
collisions.

In static mode x̂ = x₀, weight is an energy of its own and s is so large that inertia only removes rigid motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.contract import Stage
from crumple.energies.nodal import NodalQuadratic, make_nodal
from crumple.simulation.derived import Derived
from crumple.simulation.explicit import elastic_acceleration
from crumple.simulation.schemes import EULER, SEMI_IMPLICIT, VERLET, Instant, reached, scheme_stages, starting
from crumple.simulation.stopping import stage_stop
from crumple.solving.newton import Ending, Newton, Outcome
from crumple.solving.newton_options import NEVER
from crumple.solving.potential import Potential
from crumple.solving.single import SingleSolve
from crumple.solving.touching import Touching
from crumple.state import State
from crumple.typing import Floats

STATIC_STEP = 10.0
"""Step of the inertia that steadies a static solve [s]: far longer than any elastic period of a sheet."""


@dataclass(frozen=True)
class Passage:
    """What a step went through: the `instants` at its start and at every stage, and the `outcome` of its last solve,
    with the iterations and the contacts of all of them.

    `stage`: the last one, and `obstacle_x` (obstacle_nodes, 3) where the obstacles were at its start [m].
    """

    scheme: str
    instants: tuple[Instant, ...]
    outcome: Outcome
    stage: Stage | None = None
    obstacle_x: Floats | None = None


def integrate(state: State, derived: Derived, step: float, *, scheme: str, hold: bool = False) -> Passage:
    """Where the sheets and obstacles are `step` seconds later; the outcome says whether the solves converged.

    `hold`: obstacles without room may stay behind; only implicit Euler can do that.
    """
    stages = scheme_stages(scheme, state, step, is_static=derived.model.solver.mode == "static")
    instants, obstacle_x, outcome = [starting(state)], state.obstacle_x, None
    half_turn, multipliers = state.half_turn, None
    stage = next(stages)
    while True:
        begin = obstacle_x
        found = solve_stage(derived, stage, obstacle_x, half_turn, multipliers, hold=hold, scheme=scheme)
        multipliers = found.multipliers
        outcome = found if outcome is None else _after(outcome, found)
        count = len(state.x)
        obstacle_x, half_turn = np.ascontiguousarray(found.x[count:]), found.half_turn
        instants.append(reached(stage, np.ascontiguousarray(found.x[:count]), half_turn))
        if found.ending is not Ending.CONVERGED:
            break
        try:
            stage = stages.send(instants[-1])
        except StopIteration:
            break
    return Passage(scheme, tuple(instants), outcome, stage, begin)


def _after(first: Outcome, second: Outcome) -> Outcome:
    """The outcome of two solves after each other."""
    return replace(
        second,
        iterations=first.iterations + second.iterations,
        contacts=max(first.contacts, second.contacts),
        min_gap=min(first.min_gap, second.min_gap),
        loose=first.loose or second.loose,
    )


def solve_stage(
    derived: Derived,
    stage: Stage,
    obstacle_x: Floats,
    half_turn: Floats,
    multipliers: tuple[Floats, ...] | None = None,
    *,
    hold: bool,
    scheme: str = EULER,
    obstacle_begin: Floats | None = None,
    accuracy: float = np.inf,
) -> Outcome:
    """The solution of one stage, from the obstacles at `obstacle_x` (obstacle_nodes, 3), the edges' half turns
    (edge_count,) and the multipliers that the stage before has left, if there was one, on.

    `obstacle_begin` (obstacle_nodes, 3): where the obstacles were at the start of the stage, if that is not where they
    are: a stage that is solved again;  `accuracy` [J]: the energy by which the solution may be off at most.
    """
    model = derived.model
    x = np.concatenate([stage.start, obstacle_x])
    target = model.obstacle_positions(stage.time)
    surface = derived.surface(stage.time)
    touching = None
    is_explicit = scheme == VERLET and not stage.is_static
    system = derived.explicit_system if is_explicit else derived.system
    if surface is not None:
        touching = Touching(surface, model.contact.stiffness, x, derived.timer, derived.trees(stage.time))
        passed = 1.0 - stage.span / (stage.time - stage.since)
        begin = obstacle_x if obstacle_begin is None else obstacle_begin
        before = np.concatenate([stage.origin, begin + passed * (target - begin)])
        touching.rub(x, before, step=stage.span, slip_speed=model.contact.slip_speed)
        system.thin()
    inertia = _inertia(derived, stage)
    if is_explicit:
        inertia = replace(inertia, center=inertia.center + stage.span**2 * elastic_acceleration(derived, stage))
        stage = replace(stage, guess=inertia.center)
    energies = [inertia, *derived.over(stage, explicit=is_explicit)]
    potential = Potential(len(stage.start), energies, touching, derived.timer, turn_count=derived.turn_count)
    if multipliers:
        potential.resume_multipliers(multipliers)
    stop = stage_stop(derived, stage, inertia, touching, x)
    if np.isfinite(accuracy):
        energy, loose = min(stop.energy, accuracy), min(stop.loose_energy, accuracy)
        stop = replace(stop, energy=energy, loose_energy=loose, slow_patience=NEVER)
    is_single = scheme == SEMI_IMPLICIT and not stage.is_static
    newton = SingleSolve(potential, system, stop) if is_single else Newton(potential, system, stop, enforce=True)
    outcome = newton.minimise(x, target, derived.node_part, hold=hold, guess=stage.guess, half_turn=half_turn)
    return outcome if touching is None else replace(outcome, obstacle_force=touching.push(outcome.x))


def _inertia(derived: Derived, stage: Stage) -> NodalQuadratic:
    """Inertia over the stage, and what acts on all nodes alike."""
    if stage.is_static:
        return make_nodal(derived.nodes, stage.start, derived.mass / STATIC_STEP**2)
    predicted = stage.origin + stage.span * stage.drift + stage.span**2 * derived.acceleration()
    return make_nodal(derived.nodes, predicted, derived.mass / stage.span**2)
