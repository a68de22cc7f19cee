"""What a step has bent and stretched too far yields."""

from __future__ import annotations

from crumple.model.derived import Derived
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats
from crumple.solving.pose import make_pose
from crumple.solving.potential import Potential
from crumple.state import State


def settle(state: State, derived: Derived, step: float) -> State:
    """The state after what a step of `step` [s] has bent and stretched too far has yielded."""
    before = state
    for _, term in derived.terms:
        state = term.settle(state, step)
    if state is before or not state.has_acceleration:
        return state
    change = _pull(state, derived) - _pull(before, derived)  # yielding has relaxed some of the force
    return state.replaced(a=state.a + change / derived.mass[:, None])


def _pull(state: State, derived: Derived) -> Floats:
    """Elastic forces on the nodes, (node_count, 3) [N]."""
    kept = [e for kind, term in derived.terms if kind.is_in_play for e in term.stored(state, state.time)]
    potential = Potential(state.mesh.node_count, kept, None, PhaseTimer(), turn_count=derived.turn_count)
    return -potential.gradient(make_pose(state.x, state.half_turn))
