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
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.solver import EULER, SEMI_IMPLICIT, TR_BDF2, VERLET
from crumple.runtime.remembered import Equal, Remembered
from crumple.runtime.typing import Floats
from crumple.solving.compact.potential import CompactPotential
from crumple.solving.descent import descend
from crumple.solving.newton import Newton
from crumple.solving.newton_options import NEVER
from crumple.solving.outcome import Ending, Outcome
from crumple.solving.pose import make_pose
from crumple.solving.potential import Potential
from crumple.solving.single import descend_once
from crumple.state import State
from crumple.stepping.explicit import elastic_acceleration
from crumple.stepping.schemes import Instant, reached, scheme_stages, starting
from crumple.stepping.stopping import stage_stop
from crumple.stepping.tuning import TUNING

STATIC_STEP = TUNING.static_step.value
KNOWN = TUNING.known_friction.value
DENSE_OPENING = TUNING.dense_opening.value
TORN_ITERATIONS = TUNING.torn_iterations.value

_STIFFNESSES: Remembered[Floats] = Remembered(2)
"""Of inertia, (node_count, 3, 3) [N/m]: the same in all steps of one length."""


@dataclass(frozen=True)
class StepPath:
    """What a step went through: the `instants` at its start and at every stage, and the `outcome` of its last solve,
    with the iterations and the contacts of all of them.

    `stage`: the last one, and `obstacle_x` (obstacle_nodes, 3) where the obstacles were at its start [m];
    `stages`: all of them, `rubbing` and `impacts` the powers that friction and the damping of contact take in each [W],
    `contact_forces` on the nodes of the sheets at the start and at the end of each (node_count, 3) [N], and `free`,
    the fraction of the way to the guess of each that is free of collisions.
    """

    scheme: str
    instants: tuple[Instant, ...]
    outcome: Outcome
    stage: Stage | None = None
    obstacle_x: Floats | None = None
    stages: tuple[Stage, ...] = ()
    rubbing: tuple[float, ...] = ()
    impacts: tuple[float, ...] = ()
    contact_forces: tuple[Floats, ...] = ()
    free: tuple[float, ...] = ()


def integrate(
    state: State,
    derived: Derived,
    step: float,
    *,
    scheme: str,
    hold: bool = False,
    thorough: bool = False,
    damped: bool = True,
    accuracy: float = np.inf,
) -> StepPath:
    """Where the sheets and obstacles are `step` seconds later; the outcome says whether the solves converged.

    `hold`: obstacles without room may stay behind; only implicit Euler can do that;  `thorough`: in contact, too, no
    solve is content with less;  `damped`: contact is, in motion;  `accuracy` [J]: see `solve_stage`.
    """
    stages = scheme_stages(scheme, state, step, is_static=derived.model.solver.mode == "static")
    instants, obstacle_x, outcome = [starting(state)], state.obstacle_x, None
    half_turn, multipliers = state.half_turn, None
    passed, solved = list[Stage](), list[Outcome]()
    stage = next(stages)
    while True:
        begin = obstacle_x
        found = solve_stage(
            derived, stage, obstacle_x, half_turn, multipliers,
            hold=hold, scheme=scheme, thorough=thorough, damped=damped, accuracy=accuracy,
        )  # fmt: skip
        multipliers = found.multipliers
        passed.append(stage)
        solved.append(found)
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
    return StepPath(
        scheme,
        tuple(instants),
        outcome,
        stage,
        begin,
        tuple(passed),
        rubbing=tuple(one.rubbing for one in solved),
        impacts=tuple(one.impact for one in solved),
        contact_forces=(solved[0].contact_before, *(one.contact_force for one in solved)),
        free=tuple(one.free for one in solved),
    )


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
    thorough: bool = False,
    damped: bool = True,
) -> Outcome:
    """The solution of one stage, from the obstacles at `obstacle_x` (obstacle_nodes, 3), the edges' half turns
    (edge_count,) and the multipliers that the stage before has left, if there was one, on.

    `obstacle_begin` (obstacle_nodes, 3): where the obstacles were at the start of the stage, if that is not where they
    are: a stage that is solved again;  `accuracy` [J]: the energy by which the solution may be off at most;
    `thorough`: the solve is not content with less because there is contact;  `damped`: contact is, in motion.
    """
    model = derived.model
    x = np.concatenate([stage.start, obstacle_x])
    target = model.obstacle_positions(stage.time)
    force_before, change = np.zeros((0, 3)), 0.0
    is_explicit = scheme == VERLET and not stage.is_static
    system = derived.explicit_system if is_explicit else derived.system
    step_contact = derived.contact(stage.time, x, stage.guess)
    if step_contact is not None:
        passed = 1.0 - stage.span / (stage.time - stage.since)
        begin = obstacle_x if obstacle_begin is None else obstacle_begin
        before = np.concatenate([stage.origin, begin + passed * (target - begin)])
        if damped and not stage.is_static:
            opening = _opening(model, stage, step_contact.surface.dhat)
            step_contact.start_damping(np.concatenate([stage.start, begin]), opening=opening)
            v = np.concatenate([stage.velocity, (target - begin) / (stage.time - stage.since)])
            force_before, change = step_contact.force_in_motion(x, v, model.contact.rebound_speed)
        is_solved = obstacle_begin is not None  # x is where the sheets were at its end, with the forces of that
        is_known = stage.is_static or is_solved or (stage.state.has_acceleration and change <= KNOWN)
        step_contact.start_friction(x, before, step=stage.span, slip_speed=model.contact.slip_speed, is_known=is_known)
        system.thin()
    inertia = _inertia(derived, stage)
    if is_explicit:
        inertia = replace(inertia, center=inertia.center + stage.span**2 * elastic_acceleration(derived, stage))
        stage = replace(stage, guess=inertia.center)
    energies = [inertia, *derived.over(stage, explicit=is_explicit)]
    make = CompactPotential if derived.is_small else Potential
    potential = make(len(stage.start), energies, step_contact, derived.timer, turn_count=derived.turn_count)
    if multipliers:
        potential.resume_multipliers(multipliers)
    stop = stage_stop(derived, stage, inertia, step_contact, x)
    if np.isfinite(accuracy):
        energy, loose = min(stop.energy, accuracy), min(stop.loose_energy, accuracy)
        most = min(stop.max_iterations, TORN_ITERATIONS)
        stop = replace(stop, energy=energy, loose_energy=loose, slow_patience=NEVER, max_iterations=most)
    if thorough:
        stop = replace(stop, patience=stop.max_iterations, slow_patience=NEVER)
    is_single = scheme == SEMI_IMPLICIT and not stage.is_static
    newton = Newton(potential, system, stop, enforce=not is_single, descend=descend_once if is_single else descend)
    outcome = newton.minimise(x, target, derived.node_part, hold=hold, guess=stage.guess, half_turn=half_turn)
    if step_contact is None:
        return outcome
    force, push = step_contact.forces(outcome.x)
    v = (outcome.x - before) / stage.span
    if scheme != TR_BDF2:  # over the whole stage, for which the velocity at its end does not stand in an impact
        v[: len(stage.start)] = 0.5 * (v[: len(stage.start)] + stage.velocity)
    return replace(
        outcome,
        obstacle_force=push,
        contact_force=force,
        contact_before=force_before,
        rubbing=step_contact.rubbing(outcome.x),
        impact=step_contact.damping(outcome.x, v),
    )


def _opening(model: Model, stage: Stage, dhat: float) -> float:
    """How far pairs may part over a stage before contact lets them go [m]: what the rebound speed allows.

    In dense contact it is a fraction of the activation distance `dhat` [m] at least. Over a short step the force would
    fall from all to nothing within a micrometre, hundreds of times as stiff as the contact itself: a kink at which
    Newton's method turns to and fro. Not so with TR-BDF2, whose steps are short where they resolve impacts.
    """
    opening = model.contact.rebound_speed * (stage.time - stage.since)
    is_dense = stage.state.dense_steps > 0 and model.solver.integrator != TR_BDF2
    return max(opening, DENSE_OPENING * dhat) if is_dense else opening


def stage_potential(derived: Derived, stage: Stage, x: Floats, half_turn: Floats) -> float:
    """What a stage minimises, without contact, at x (node_count, 3) with the half turns (edge_count,) [J]."""
    energies = [_inertia(derived, stage), *derived.over(stage)]
    potential = Potential(len(stage.start), energies, None, derived.timer, turn_count=derived.turn_count)
    return potential.value(make_pose(x, half_turn))


def _inertia(derived: Derived, stage: Stage) -> NodalQuadratic:
    """Inertia over the stage, and what acts on all nodes alike."""
    if stage.is_static:
        return make_nodal(derived.nodes, stage.start, derived.mass / STATIC_STEP**2)
    predicted = stage.origin + stage.span * stage.drift + stage.span**2 * derived.acceleration()
    mass, span = derived.mass, stage.span
    stiffness = _STIFFNESSES.find((mass, Equal(span)), lambda: (mass / span**2)[:, None, None] * np.eye(3))
    return make_nodal(derived.nodes, predicted, stiffness)
