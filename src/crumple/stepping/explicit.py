"""Explicit elasticity, for Verlet's steps.

The elastic forces are those at the start of the step; what holds the sheets, contact and friction stay implicit, so
that nothing passes through anything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.contract import Stage
from crumple.model.derived import Derived
from crumple.options.solver import VERLET
from crumple.runtime.errors import SimulationError
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats
from crumple.solving.pose import make_pose
from crumple.solving.potential import Potential
from crumple.stepping.tuning import TUNING

SAFE = TUNING.critical_step_fraction.value
LOST = TUNING.explicit_lost.value


def elastic_acceleration(derived: Derived, stage: Stage) -> Floats:
    """The acceleration (node_count, 3) [m/s²] by elastic forces and their damping at the start of `stage`.

    SimulationError when it is so large that the steps must have become unstable.
    """
    before = stage.start - stage.span * stage.velocity  # rates are those of the step before
    moved = replace(stage, before=((1.0, before),))
    energies = [energy for kind, term in derived.terms if kind.is_in_play for energy in term.over(moved)]
    potential = Potential(len(stage.start), energies, None, PhaseTimer())
    acceleration = -potential.gradient(make_pose(stage.start)) / derived.mass[:, None]
    displacement = stage.span**2 * float(np.abs(acceleration).max(initial=0.0))
    if not displacement < LOST * derived.size:
        critical = derived.critical_step
        raise SimulationError(
            f"Verlet's steps have become unstable: the step of {stage.span:.3g} s is {stage.span / critical:.3g} times "
            f"the critical one of {critical:.3g} s{_damping_fraction(derived)}; make solver.fixed_step shorter or "
            "leave it out, or take solver.integrator = 'semi-implicit'"
        )
    return acceleration


def stable_step(derived: Derived) -> float:
    """The longest step [s] that is taken unasked: infinite for implicit integrators.

    SimulationError when it is below the shortest that the solver may take.
    """
    solver = derived.model.solver
    if solver.integrator != VERLET or solver.mode == "static" or solver.fixed_step is not None:
        return np.inf
    longest = SAFE * derived.critical_step
    if longest < solver.min_step:
        raise SimulationError(
            f"the sheets are too stiff for Verlet's steps: they have to be below {longest:.3g} s, which is less than "
            f"solver.min_step = {solver.min_step:.3g} s{_damping_fraction(derived)}; take solver.integrator = "
            "'semi-implicit'"
        )
    return longest


def _damping_fraction(derived: Derived) -> str:
    """How much longer steps could be without damping, where that matters."""
    undamped = derived.critical_step_with(0.0)
    if undamped < 2.0 * derived.critical_step:
        return ""
    return f" (without the material's damping of {derived.damping:.3g} s the critical step is {undamped:.3g} s)"
