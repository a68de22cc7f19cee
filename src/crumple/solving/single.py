"""The semi-implicit step of [Baraff1998]: one linear solve with the exact Hessian instead of a minimisation.

One Newton step from the start of the implicit Euler step, d = h v₁,

    (M/h² + K) d = M v₀/h + f   ⇔   (M + h² K) Δv = h (f − h K v₀),   K = −∂f/∂x

without a line search; where the matrix is not positive definite, the projected one is taken. It is bounded by
collisions: what is cut short there is solved for anew, with the contacts that are then there, until one solution can be
taken as a whole. So nothing ever passes through anything, and without contact it is one solve.
"""

from __future__ import annotations

import numpy as np

from crumple.solving.descent import Descended
from crumple.solving.directions import Directions
from crumple.solving.outcome import Ending
from crumple.solving.pose import Pose


def descend_once(directions: Directions, pose: Pose) -> Descended:
    """Move the pose by the first Newton step which nothing cuts short, and by what is free of those before."""
    predicted = np.inf
    while directions.may_go_on:
        found = directions.descending(pose)
        if not found.motion.is_finite:
            return Descended(Ending.NOT_FINITE, predicted)
        predicted = 0.5 * found.decrement
        limit, _ = directions.potential.free_length(pose, found.motion)
        pose.move(found.motion, limit)
        if limit >= 1.0:
            return Descended(Ending.CONVERGED, predicted)
    return Descended(Ending.NOT_CONVERGED, predicted)
