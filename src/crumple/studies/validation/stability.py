"""Where a sheet held by handles loses its stability, and how it begins to buckle.

The energy of a state in equilibrium has a positive definite second derivative K while it is stable. Handles are moved
in steps; each equilibrium is found by Newton's method from an extrapolation of the two before, and a step at which K
is not positive definite is halved. Just below the limit, K⁻¹ is dominated by the mode that is about to grow.

K is that of the solver: the membrane's exact one, stress included, and of bending Jᵀ K J with J the derivative of its
angles (what this leaves out is of the order t/R beside the rest for a rolled tube). Turns of edges have no mass: a mode
moves nodes, and the turns follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats
from crumple.solving.pose import Pose, make_pose
from crumple.solving.potential import Potential
from crumple.state import State
from crumple.studies.validation.strip import moved_pins

FIRST_STEP, LONGEST_STEP, LAST_STEP = 0.02, 0.1, 1e-3
"""Of the load."""
GROWTH = 1.5
ITERATIONS = 15
CONVERGED = 1e-9
"""Last correction of an equilibrium [m]."""
POWER_ITERATIONS = 15


@dataclass(frozen=True)
class Limit:
    """The last stable equilibrium: `load`, the `state`, and the `mode` (node_count, 3) it is about to follow."""

    load: float
    state: State
    mode: Floats


class Tangent:
    """Equilibria and second derivative of one mesh without contact."""

    def __init__(self, model: Model, state: State) -> None:
        self._state = state
        self._derived = Derived(model, state)
        self._half_turn = state.half_turn

    def settle(self, anchor: Floats, x: Floats) -> State | None:
        """The equilibrium with the handles at `anchor` (m, 3), from x; None when K is not positive definite there."""
        state = self._state.replaced(pins=moved_pins(self._state.pins, anchor))
        turns = self._derived.turn_count
        potential = Potential(len(x), self._derived.stored(state), None, PhaseTimer(), turn_count=turns)
        pose = make_pose(x, self._half_turn)
        for _ in range(ITERATIONS):
            expansion = potential.expand(pose, exact=True)
            found = self._derived.system.newton_direction(
                expansion.terms, expansion.turn_terms, -expansion.gradient, -expansion.moments, is_convex=False
            )
            if found is None:
                return None
            step, turn = np.ascontiguousarray(found[0]), found[1]
            pose.move(Pose(step, potential.half_direction(pose, step, turn)), 1.0)
            if np.abs(step).max() < CONVERGED:
                self._half_turn = pose.half_turn
                return state.replaced(x=pose.x, half_turn=pose.half_turn)
        return None

    def weakest_mode(self, seed: int = 0) -> Floats:
        """The mode of least stiffness per mass at the last equilibrium, (node_count, 3), of length 1."""
        mass = self._derived.mass[:, None]
        mode = np.random.default_rng(seed).standard_normal((len(mass), 3))
        for _ in range(POWER_ITERATIONS):
            mode = self._derived.system.solve_forces(mass * mode)
            mode /= np.linalg.norm(mode)
        return mode


def find_limit(model: Model, state: State, anchors: Callable[[float], Floats]) -> Limit:
    """The first loss of stability as the load grows from 0; `anchors(load)` (m, 3) says where the handles are."""
    tangent = Tangent(model, state)
    settled = tangent.settle(anchors(0.0), state.x)
    assert settled is not None, "unstable without load"
    loads, states, step = [0.0], [settled], FIRST_STEP
    while step > LAST_STEP:
        load = loads[-1] + step
        found = tangent.settle(anchors(load), _extrapolate(loads, states, load))
        if found is None:
            step *= 0.5
            continue
        loads.append(load)
        states.append(found)
        step = min(GROWTH * step, LONGEST_STEP)
    last = tangent.settle(anchors(loads[-1]), states[-1].x)
    assert last is not None
    return Limit(loads[-1], last, tangent.weakest_mode())


def _extrapolate(loads: list[float], states: list[State], load: float) -> Floats:
    if len(loads) == 1:
        return states[0].x
    share = (load - loads[-1]) / (loads[-1] - loads[-2])
    return states[-1].x + share * (states[-1].x - states[-2].x)
