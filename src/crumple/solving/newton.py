"""Newton's method with collision-bounded steps, projected on demand.

Obstacles and the sheet move together: the remaining displacement of the obstacles is part of the direction until
they have arrived (`arrival`); from then on every step must decrease the potential (`descent`). The directions, with
the exact or the clamped Hessian, come from `directions`; which steps are taken, and when it may stop, is decided by the
rules of `acceptance` and `stop`. Constraints among the energies are enforced by multipliers (`enforcement`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from crumple.runtime.typing import Floats, Ints
from crumple.solving.arrival import arrive
from crumple.solving.descent import Descended, descend
from crumple.solving.directions import Directions
from crumple.solving.linear_system import LinearSystem
from crumple.solving.newton_options import NewtonOptions
from crumple.solving.outcome import Ending, Outcome
from crumple.solving.pose import Pose, make_pose
from crumple.solving.potential import Potential

Descend: TypeAlias = Callable[[Directions, Pose], Descended]
"""Moves a pose along directions to where a solve may end: `descend`, or `single.descend_once`."""


class Newton:
    """One minimisation: how the sheets go with the obstacles, and then down."""

    def __init__(
        self,
        potential: Potential,
        system: LinearSystem,
        options: NewtonOptions,
        *,
        enforce: bool = False,
        descend: Descend = descend,
    ) -> None:
        """`enforce`: move the multipliers of constraints until these are met; else they stay as they are."""
        self.directions = Directions(potential, system, options, enforce=enforce)
        self._potential = potential
        self._descend = descend

    def minimise(
        self,
        x: Floats,
        obstacle_target: Floats,
        node_part: Ints,
        *,
        hold: bool,
        guess: Floats | None = None,
        half_turn: Floats | None = None,
    ) -> Outcome:
        """Minimise from x (node_count, 3) while the obstacle nodes go to `obstacle_target` (obstacle_nodes, 3).

        `half_turn`: those of the edges to start from, if there are any (edge_count,) [rad];

        `hold`: let obstacles that have no room stay behind instead of giving up;  `guess` (free_count, 3): where the
        minimum may be, used if nothing is in the way.
        """
        pose = make_pose(x, half_turn)
        free = 1.0 if guess is None else self._jump(pose, guess, obstacle_target)
        ending, held = arrive(self.directions, pose, obstacle_target, node_part, hold=hold)
        found = self._descend(self.directions, pose) if ending is Ending.CONVERGED else Descended(ending)
        step_contact = self._potential.step_contact
        return Outcome(
            x=pose.x,
            half_turn=pose.half_turn,
            ending=found.ending,
            iterations=self.directions.iterations,
            contacts=self.directions.contacts,
            predicted=found.predicted,
            min_gap=np.inf if step_contact is None else step_contact.smallest_gap(pose.x),
            held=held,
            loose=found.loose,
            contact_energy=0.0 if step_contact is None else step_contact.barrier_value(pose.x),
            free=free,
            multipliers=tuple(one.remembered(pose.x) for one in self._potential.constraints),
        )

    def _jump(self, pose: Pose, guess: Floats, target: Floats) -> float:
        """Move the nodes to the `guess`, and the obstacles to their `target`, if the way is free and it is a better
        start; the fraction of the way that is free."""
        free = self._potential.free_count
        motion = Pose(np.concatenate([guess, target]) - pose.x, np.zeros_like(pose.half_turn))
        length, _ = self._potential.free_length(pose, motion)
        if length < 1.0:
            return length
        if np.any(motion.x[free:]) or self._potential.value(pose.moved(motion, 1.0)) < self._potential.value(pose):
            pose.x[:free], pose.x[free:] = guess, target
        return length
