"""What a step has bent and stretched too far yields."""

from __future__ import annotations

from crumple.contract import Energy
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
    after, unyielded = _elastic(state, derived), _elastic(before, derived)
    changed = [one for one in after if not any(one is other for other in unyielded)]
    unchanged = [one for one in unyielded if not any(one is other for other in after)]
    change = _pull(changed, state, derived) - _pull(unchanged, before, derived)  # yielding has relaxed some force
    return state.replaced(a=state.a + change / derived.mass[:, None])


def _elastic(state: State, derived: Derived) -> list[Energy]:
    """The elastic energies of a state; those that are the same as of another may be the very same objects."""
    return [e for kind, term in derived.terms if kind.is_in_play for e in term.stored(state, state.time)]


def _pull(energies: list[Energy], state: State, derived: Derived) -> Floats:
    """The forces of the energies on the nodes, (node_count, 3) [N]."""
    potential = Potential(state.mesh.node_count, energies, None, PhaseTimer(), turn_count=derived.turn_count)
    return -potential.gradient(make_pose(state.x, state.half_turn))
