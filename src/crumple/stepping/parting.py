"""A start within the reach of contact: the sheets are moved apart before they move."""

from __future__ import annotations

import numpy as np

from crumple.contract import Stage
from crumple.model.derived import Derived
from crumple.solving.outcome import Ending
from crumple.state import State
from crumple.stepping.bookkeeping import contact_energy
from crumple.stepping.integration import solve_stage
from crumple.stepping.tuning import TUNING

SPAN = TUNING.parting_span.value


def part_contacts(state: State, derived: Derived) -> State:
    """The state at the start of a run, its sheets as far apart as contact keeps them.

    What a start has put into the barrier is nobody's energy: where it could throw the sheets apart faster than the
    rebound speed, it is let off in one implicit step from rest, of which only the positions are kept. A sheet that lies
    on another in equilibrium stays where it is.
    """
    model = derived.model
    if state.steps or model.solver.mode == "static" or not model.contact.enabled:
        return state
    stored = contact_energy(state, derived)
    if stored <= 0.5 * float(derived.mass.sum()) * model.contact.rebound_speed**2:
        return state
    still = np.zeros_like(state.v)
    stage = Stage(
        state, state.time - SPAN, state.time, state.x, still, state.x, still, SPAN, ((1.0, state.x),),
        half_turns=(state.half_turn,),
    )  # fmt: skip
    found = solve_stage(derived, stage, state.obstacle_x, state.half_turn, hold=False, damped=False)
    if found.ending is not Ending.CONVERGED:
        return state
    return state.replaced(x=np.ascontiguousarray(found.x[: len(state.x)]), half_turn=found.half_turn)
