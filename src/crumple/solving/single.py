"""The semi-implicit step of [Baraff1998]: one linear solve with the exact Hessian instead of a minimisation.

One Newton step from the start of the implicit Euler step, d = h v₁,

    (M/h² + K) d = M v₀/h + f   ⇔   (M + h² K) Δv = h (f − h K v₀),   K = −∂f/∂x

without a line search; where the matrix is not positive definite, the projected one is taken. It is bounded by
collisions: what is cut short there is solved for anew, with the contacts that are then there, until one solution can be
taken as a whole. So nothing ever passes through anything, and without contact it is one solve.
"""

from __future__ import annotations

from crumple.solving.newton import Ending, Newton
from crumple.solving.pose import Pose


class SingleSolve(Newton):
    """Newton's method that is content with the first step which nothing cuts short."""

    def _descend(self, pose: Pose) -> Ending:
        while self._iterations < self._options.max_iterations:
            direction, decrement = self._direction(pose, None)
            if not direction.is_finite:
                return Ending.NOT_FINITE
            self._predicted = 0.5 * decrement
            limit, _ = self._limit(pose, direction)
            pose.move(direction, limit)
            if limit >= 1.0:
                return Ending.CONVERGED
        return Ending.NOT_CONVERGED
