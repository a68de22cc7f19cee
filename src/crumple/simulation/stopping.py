"""When the solve of a stage is good enough.

**In motion** an error δ of the positions is an error δ/s of the velocities after a stage of span s. The decrease that
Newton's method still predicts, ½ δᵀHδ, is at least the kinetic energy ½ |δ|²_M / s² of that error. Both are compared
with the change of velocity that the forces of the stage make: what elasticity, contact, friction, handles and air do,
½ |x − x̂|²_M / s², and what the weight does. So free flight, slow sliding and rest are solved as well as fast motion,
wherever the sheet is, and however fast it moves as a whole.

**In dense contact** a sheet stores a thousand times more energy than it has in motion, snaps from one shape into
another, and the last digits of a solve are as costly as they are meaningless. While steps are taken as in dense
contact, `SLOW_FACTOR` times the error above is enough after `SLOW_PATIENCE` iterations, if convergence is slow. After
`PATIENCE` iterations in contact, and in static solves, it is enough that the decrease is small beside the elastic
energy, that of contact and the kinetic one.
"""

from __future__ import annotations

import numpy as np

from crumple.contract import Stage
from crumple.energies.nodal import NodalQuadratic
from crumple.simulation.derived import Derived
from crumple.solving.newton_options import NEVER, NewtonOptions
from crumple.solving.touching import Touching
from crumple.state import State
from crumple.typing import Floats

STATIC_PATIENCE = 10
"""Times more iterations that a static solve may take: it goes all the way, and a shorter step does not help it."""
SLOW_PATIENCE = 5
"""Newton iterations in dense contact after which a rougher solution is enough where convergence is slow."""
SLOW_FACTOR = 30.0
"""How much rougher: by default an error of 3 % in the change of velocity."""
PATIENCE = 12
"""Newton iterations in contact after which the looser stop is enough."""
DENSE_PAUSE = 8
"""Iterations without the exact Hessian after a failure in dense contact, where it is hardly ever positive definite: of
the 55 attempts in eight dense frames of `crumple.json` and `fold.json` none succeeded, in five calm ones 3 of 12."""
QUIET_SPEED = 1e-3
"""Changes of velocity [m/s] that matter even where there is no weight."""
DENSE_QUIET_SPEED = 0.01
"""Motion of the whole sheet at this speed [m/s] is the least energy that the looser stop is judged by."""


def stage_stop(
    derived: Derived, stage: Stage, inertia: NodalQuadratic, touching: Touching | None, x: Floats
) -> NewtonOptions:
    """When to stop the solve of `stage`, with its `inertia`, from x (nodes of sheets and obstacles, 3) on."""
    solver = derived.model.solver
    weight = float(np.linalg.norm(derived.acceleration()))
    step = stage.time - stage.since
    energy = solver.tolerance * _energy_in_play(derived, stage, touching, x, DENSE_QUIET_SPEED + step * weight)
    distance = solver.speed_tolerance * step
    if solver.mode == "static":
        return NewtonOptions(energy, distance, STATIC_PATIENCE * solver.max_iterations)
    change = QUIET_SPEED + stage.span * weight
    is_dense = touching is not None and stage.state.dense_steps > 0
    return NewtonOptions(
        energy=solver.motion_tolerance**2 * 0.5 * float(np.sum(derived.mass)) * change**2,
        distance=solver.motion_tolerance * change * stage.span,
        max_iterations=solver.max_iterations,
        inertia=inertia,
        share=solver.motion_tolerance,
        slow_patience=SLOW_PATIENCE if is_dense else NEVER,
        slow_factor=SLOW_FACTOR,
        patience=solver.max_iterations if touching is None else PATIENCE,
        loose_energy=energy,
        loose_distance=distance,
        exact_pause=exact_pause(stage.state),
    )


def exact_pause(state: State) -> int:
    """Iterations without the exact Hessian after it was first found to be indefinite."""
    return DENSE_PAUSE if state.dense_steps > 0 else 1


def _energy_in_play(derived: Derived, stage: Stage, touching: Touching | None, x: Floats, quiet: float) -> float:
    """The energy that the looser stop is judged by [J]: elastic, of contact, kinetic, and of a `quiet` motion [m/s]."""
    state = stage.state.replaced(x=stage.start)
    elastic = sum(term.measure(state) for kind, term in derived.terms if kind.is_in_play)
    contact = 0.0 if touching is None else touching.value(x)
    square = np.einsum("ni,ni->n", stage.drift, stage.drift) + quiet**2
    return elastic + contact + 0.5 * float(np.sum(derived.mass * square))
