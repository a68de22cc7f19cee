"""The directions of Newton's method, projected on demand.

The Hessian keeps the compressive membrane stress, which sets the rate of convergence, as long as the whole matrix is
positive definite; where it is not, the stress is clamped, and the exact Hessian is tried again after a pause that
doubles with every failure.

Friction has no curvature along a slip, so that a step may run past the point where contacts stick. It is followed by
its own curvature as long as steps gain what they promise, else by the quadratic above it, which no step overshoots.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.linalg import inner
from crumple.runtime.typing import Floats
from crumple.solving.acceptance import judge_exact, judge_slips
from crumple.solving.backoff import Backoff, is_due, waited
from crumple.solving.enforcement import Enforcement
from crumple.solving.linear_system import LinearSystem
from crumple.solving.newton_options import NewtonOptions
from crumple.solving.pose import Pose
from crumple.solving.potential import Expansion, Potential


class Direction(NamedTuple):
    """Where Newton's method would go: `motion` for nodes and half turns, `decrement` twice the decrease that it
    promises [J]; not a number when there is no direction.

    `has_moved`: multipliers have, and the potential has changed by `change` [J].
    """

    motion: Pose
    decrement: float
    has_moved: bool = False
    change: float = 0.0


class Directions:
    """The directions of one minimisation; counts its `iterations` and the most `contacts` among them."""

    def __init__(
        self, potential: Potential, system: LinearSystem, options: NewtonOptions, *, enforce: bool = False
    ) -> None:
        """`enforce`: move the multipliers of constraints until these are met; else they stay as they are."""
        self.potential = potential
        self.options = options
        self.enforcement = Enforcement(potential, system, is_active=enforce)
        self.iterations = 0
        self.contacts = 0
        self._system = system
        self._exact = Backoff(0, options.exact_pause)
        self._slips = Backoff(0, 1)
        self._before: Floats | None = None

    @property
    def may_go_on(self) -> bool:
        """Whether there is an iteration left."""
        return self.iterations < self.options.max_iterations

    @property
    def follows_slips(self) -> bool:
        """Whether friction is followed by its own curvature."""
        return is_due(self._slips)

    def note_gain(self, gain: float, promise: float) -> None:
        """What a step brought of what it promised [J]."""
        self._slips = judge_slips(self._slips, gain, promise)

    def note_step(self, start: Pose) -> None:
        """The next direction is that of a pose which a step from `start` has led to."""
        if self.options.predicts:
            self._before = start.x

    def arriving(self, pose: Pose, remaining: Floats) -> Direction:
        """The direction while the obstacles go their `remaining` way (obstacle_nodes, 3) [m]."""
        self.iterations += 1
        obstacles = np.zeros_like(pose.x)
        obstacles[self.potential.free_count :] = remaining
        expansion, solution = self._expand(pose, obstacles, exact=False, is_arriving=True)
        return self._direction(pose, obstacles, expansion, solution)

    def descending(self, pose: Pose, *, move_multipliers: bool = False) -> Direction:
        """The direction while the obstacles rest."""
        self.iterations += 1
        still = np.zeros_like(pose.x)
        solution = None
        if is_due(self._exact):
            expansion, solution = self._expand(pose, still, exact=True)
            pause, longest = self.options.exact_pause, self.options.longest_pause
            self._exact = judge_exact(self._exact, solution is not None, pause, longest)
        else:
            self._exact = waited(self._exact)
        if solution is None:
            expansion, solution = self._expand(pose, still, exact=False)
        moved = None
        if move_multipliers and self.enforcement.is_active and solution is not None:
            moved = self.enforcement.move(pose, expansion, *solution)
        if moved is None:
            return self._direction(pose, still, expansion, solution)
        expansion = expansion._replace(gradient=expansion.gradient + moved.force)
        direction = self._direction(pose, still, expansion, (moved.displacement, moved.turn))
        return direction._replace(has_moved=True, change=moved.change)

    def respond(self, force: Floats) -> tuple[Floats, Floats]:
        """Displacements (free_count, 3) [m] and turns (turn_count,) [rad] under a `force` (free_count, 3) [N], with the
        last factorisation."""
        return self._system.respond(force, np.zeros(self.potential.turn_count))

    def _direction(
        self, pose: Pose, obstacles: Floats, expansion: Expansion, solution: tuple[Floats, Floats] | None
    ) -> Direction:
        """The direction of a solution; `obstacles` (node_count, 3) [m], zero for the sheets, is filled up with it."""
        self.contacts = max(self.contacts, expansion.contacts)
        motion, free = Pose(obstacles, np.zeros_like(pose.half_turn)), self.potential.free_count
        if solution is None:
            motion.x[:free] = np.nan
            return Direction(motion, np.nan)
        displacement, turn = solution
        motion.x[:free] = displacement
        if self.potential.turn_count:
            motion.half_turn = self.potential.half_direction(pose, motion.x, turn)
        return Direction(motion, -inner(expansion.gradient, motion.x[:free]) - inner(expansion.moments, turn))

    def _expand(
        self, pose: Pose, obstacles: Floats, *, exact: bool, is_arriving: bool = False
    ) -> tuple[Expansion, tuple[Floats, Floats] | None]:
        """The expansion at a pose, and the displacement and turns of the sheet that belong to the displacement of the
        `obstacles` (node_count, 3), which is zero unless they are arriving.

        None when the Hessian is not positive definite; with `exact` = False it should be.
        """
        slips, before = not is_arriving and self.follows_slips, None if is_arriving else self._before
        expansion = self.potential.expand(pose, exact=exact, slips=slips, before=before)
        right = -expansion.gradient
        if is_arriving:
            right += expansion.pull(obstacles)
        found = self._system.newton_direction(
            expansion.terms,
            expansion.turn_terms,
            right,
            -expansion.moments,
            is_convex=not exact,
            is_direct=self.enforcement.is_active,  # multipliers need the factorisation of this matrix
        )
        return expansion, found
