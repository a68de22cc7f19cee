"""When the solve of a stage is good enough.

**In motion** an error δ of the positions is an error δ/s of the velocities after a stage of span s. The decrease that
Newton's method still predicts, ½ δᵀHδ, is at least the kinetic energy ½ |δ|²_M / s² of that error. Both are compared
with the change of velocity that the forces of the stage make: what elasticity, contact, friction, handles and air do,
½ |x − x̂|²_M / s², and what the weight does. So free flight, slow sliding and rest are solved as well as fast motion,
wherever the sheet is, and however fast it moves as a whole.

**In dense contact** a sheet stores a thousand times more energy than it has in motion, snaps from one shape into
another, and the last digits of a solve are as costly as they are meaningless. While steps are taken as in dense
contact, `SLOW_FACTOR` times the error above is enough after `SLOW_PATIENCE` iterations, if convergence is slow. After
`solver.patience` iterations in contact, and in static solves, it is enough that the decrease is small beside the
elastic energy, that of contact and the kinetic one.
"""

from __future__ import annotations

import numpy as np

from crumple.contract import Stage
from crumple.energies.nodal import NodalQuadratic
from crumple.model.derived import Derived
from crumple.runtime.typing import Floats
from crumple.solving.compact.options import CompactOptions
from crumple.solving.newton_options import NEVER, NewtonOptions
from crumple.solving.step_contact import StepContact
from crumple.state import State
from crumple.stepping.tuning import TUNING

STATIC_PATIENCE = TUNING.static_patience.value
SLOW_PATIENCE = TUNING.slow_patience.value
SLOW_FACTOR = TUNING.slow_factor.value
DENSE_PAUSE = TUNING.dense_pause.value
TORN_PAUSE = TUNING.torn_pause.value
STATIC_STRIDE = TUNING.static_stride.value
STATIC_REACH = TUNING.static_reach.value
QUIET_SPEED = TUNING.quiet_speed.value
DENSE_QUIET_SPEED = TUNING.dense_quiet_speed.value


def stage_stop(
    derived: Derived, stage: Stage, inertia: NodalQuadratic, step_contact: StepContact | None, x: Floats
) -> NewtonOptions:
    """When to stop the solve of `stage`, with its `inertia`, from x (nodes of sheets and obstacles, 3) on."""
    solver, make = derived.model.solver, CompactOptions if derived.is_small else NewtonOptions
    weight = float(np.linalg.norm(derived.acceleration()))
    step = stage.time - stage.since
    energy = solver.tolerance * _energy_in_play(derived, stage, step_contact, x, DENSE_QUIET_SPEED + step * weight)
    distance = solver.speed_tolerance * step
    if solver.mode == "static":
        reach = STATIC_REACH * derived.size + _travel(derived, stage)
        longest = STATIC_STRIDE * derived.size
        most = STATIC_PATIENCE * solver.max_iterations
        if derived.model.tearing is None:
            return make(energy, distance, most, longest=longest, reach=reach)
        return make(energy, distance, most, longest=longest, reach=reach, predicts=True, longest_pause=TORN_PAUSE)
    change = QUIET_SPEED + stage.span * weight
    is_dense = step_contact is not None and stage.state.dense_steps > 0
    return make(
        energy=solver.motion_tolerance**2 * 0.5 * float(np.sum(derived.mass)) * change**2,
        distance=solver.motion_tolerance * change * stage.span,
        max_iterations=solver.max_iterations,
        inertia=inertia,
        fraction=solver.motion_tolerance,
        slow_patience=SLOW_PATIENCE if is_dense else NEVER,
        slow_factor=SLOW_FACTOR,
        patience=solver.max_iterations if step_contact is None else solver.patience,
        loose_energy=energy,
        loose_distance=distance,
        exact_pause=exact_pause(stage.state),
        may_shorten=solver.fixed_step is None and 0.5 * step >= solver.min_step,
    )


def _travel(derived: Derived, stage: Stage) -> float:
    """How far handles are from the nodes that they hold, and obstacles from where they belong, at most [m]."""
    pins, model = stage.state.pins, derived.model
    travel = [0.0]
    for index, handle in enumerate(model.handles):
        held = pins.handle == index
        if held.any():
            wanted = handle.target(stage.time, pins.anchor[held])
            travel.append(float(np.abs(wanted - stage.start[pins.node[held]]).sum(axis=1).max()))
    moved = model.obstacle_positions(stage.time) - stage.state.obstacle_x
    return max(travel) + float(np.abs(moved).sum(axis=1).max(initial=0.0))


def exact_pause(state: State) -> int:
    """Iterations without the exact Hessian after it was first found to be indefinite."""
    return DENSE_PAUSE if state.dense_steps > 0 else 1


def _energy_in_play(derived: Derived, stage: Stage, step_contact: StepContact | None, x: Floats, quiet: float) -> float:
    """The energy that the looser stop is judged by [J]: elastic, of contact, kinetic, and of a `quiet` motion [m/s]."""
    state = stage.state.replaced(x=stage.start)
    elastic = sum(term.measure(state) for kind, term in derived.terms if kind.is_in_play)
    contact = 0.0 if step_contact is None else step_contact.value(x)
    square = np.einsum("ni,ni->n", stage.drift, stage.drift) + quiet**2
    return elastic + contact + 0.5 * float(np.sum(derived.mass * square))
