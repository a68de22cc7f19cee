"""Sheets that start stretched or squeezed against their patterns are relaxed before the first frame.

    x ← argmin  ½ |x − x₀|²_M / s² + elastic(x) + handles(x) + contact(x)

again and again, from rest each time: implicit Euler steps whose velocities are thrown away, so that nothing can snap.
There is no weight, wind, friction or yielding; time stands still, so handles and obstacles stay where they are at the
start. Every step ends free of collisions, as in a run. The span s grows while the solves are easy, and the relaxation
ends when the membrane stops giving way. Strain limits wait until then: the barrier of a face that is stretched to
several times its length lets it shrink in small steps only. Sheets that are not strained are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.energies.wind import Wind
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.solver import EULER
from crumple.plasticity import total_strain
from crumple.solving.outcome import Ending
from crumple.state import State
from crumple.stepping.integration import integrate
from crumple.terms import Membrane

FIRST_SPAN, LONGEST_SPAN, SHORTEST_SPAN = 1e-3, 0.1, 1e-7
"""Spans of the steps [s]."""
LONGER, SHORTER = 2.0, 0.25
"""Factors of the span after a step that was solved, and after one that was not."""
STILL = 0.02
"""The membrane has stopped giving way when a step of the longest span takes less than this fraction of its energy."""
LEAST_STRAIN = 1e-4
"""Sheets without a strain beyond this are at rest: files with five or six digits are no better."""
NOTHING = 1e-9
"""Elastic energies below this fraction of the first are nothing."""
MOST_ITERATIONS = 1000
"""Newton iterations after which the relaxation ends in any case."""
MOST_LIMITED = 200
"""The same of the part in which strain limits count: those that an obstacle does not let a sheet keep are left."""


@dataclass(frozen=True)
class Relaxation:
    """What a relaxation did: membrane energies before and after it [J], and whether it came to rest."""

    before: float
    after: float
    steps: int
    iterations: int
    is_at_rest: bool


def is_strained(state: State) -> bool:
    """Whether any face is strained elastically beyond the rounding of mesh files."""
    return bool(np.abs(total_strain(state.mesh, state.x) - state.plastic_strain).max(initial=0.0) > LEAST_STRAIN)


def relax_start(model: Model, state: State) -> tuple[State, Relaxation]:
    """The state with its sheets relaxed where they are, moving and timed as before, and what that took."""
    calm = _calm(model)
    state, done = _relax(_unlimited(calm), state)
    if not any(np.isfinite(material.strain_limit) for material in model.materials):
        return state, done
    state, again = _relax(calm, state, MOST_LIMITED)
    iterations = done.iterations + again.iterations
    return state, Relaxation(done.before, again.after, done.steps + again.steps, iterations, again.is_at_rest)


def _relax(calm: Model, state: State, most: int = MOST_ITERATIONS) -> tuple[State, Relaxation]:
    """The same with a model without weight, wind and friction, in `most` Newton iterations."""
    derived = Derived(calm, state)
    span, steps, iterations, is_at_rest = FIRST_SPAN, 0, 0, False
    start, first = state, derived.measure(Membrane.name, state)
    energy = first
    while energy > NOTHING * first and iterations < most and span > SHORTEST_SPAN and not is_at_rest:
        still = np.zeros_like(state.v)
        # the stage ends at the time of the start, so that handles and obstacles are where they are then
        resting = state.replaced(time=start.time - span, v=still, a=still, half_rate=np.zeros_like(state.half_rate))
        step_path = integrate(resting, derived, span, scheme=EULER)
        iterations += max(step_path.outcome.iterations, 1)
        if step_path.outcome.ending is not Ending.CONVERGED:
            span *= SHORTER
            continue
        last = step_path.instants[-1]
        state = state.replaced(x=last.x, half_turn=last.half_turn)
        steps, energy, before = steps + 1, derived.measure(Membrane.name, state), energy
        is_at_rest = span >= LONGEST_SPAN and energy > (1.0 - STILL) * before and not faces_beyond_limit(calm, state)
        span = min(LONGER * span, LONGEST_SPAN)
    state = state.replaced(half_rate=derived.relaxed(state).half_rate)  # as the velocities ask for
    return state, Relaxation(first, energy, steps, iterations, is_at_rest or energy <= NOTHING * first)


def _calm(model: Model) -> Model:
    """The model without weight, wind and friction; its steps are dynamic ones."""
    contact = replace(model.contact, friction=np.zeros_like(model.contact.friction))
    solver = replace(model.solver, mode="dynamic", fixed_step=None)
    return replace(model, gravity=(0.0, 0.0, 0.0), wind=Wind(), contact=contact, solver=solver)


def faces_beyond_limit(model: Model, state: State) -> int:
    """How many faces are stretched beyond the limit of their material."""
    limit = np.array([material.strain_limit for material in model.materials])[state.mesh.face_material]
    xx, yy, xy = (total_strain(state.mesh, state.x) - state.plastic_strain).T
    largest = 0.5 * (xx + yy) + np.hypot(0.5 * (xx - yy), xy)
    return int(np.count_nonzero(1.0 + 2.0 * largest > limit**2))


def _unlimited(model: Model) -> Model:
    """The model without strain limits."""
    return replace(model, materials=tuple(replace(material, strain_limit=np.inf) for material in model.materials))
