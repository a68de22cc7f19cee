"""Obstacles on their way: sheets move with them, by steps that are bounded by collisions only."""

from __future__ import annotations

import numpy as np

from crumple.runtime.typing import Floats, Ints
from crumple.solving.directions import Directions
from crumple.solving.outcome import Ending
from crumple.solving.pose import Pose
from crumple.solving.tuning import TUNING

BLOCKED_STEP = TUNING.blocked_step.value
BLOCKED_PATIENCE = TUNING.blocked_patience.value
SMALLEST_GAP = TUNING.blocked_gap.value


def arrive(
    directions: Directions, pose: Pose, target: Floats, node_part: Ints, *, hold: bool
) -> tuple[Ending, tuple[int, ...]]:
    """Move the pose with the obstacles until they are at `target` (obstacle_nodes, 3), and which parts are held.

    `node_part` (node_count,): the part of each node;  `hold`: let obstacles that have no room stay behind instead of
    giving up.
    """
    potential = directions.potential
    free, x = potential.free_count, pose.x
    blocked = 0
    held: set[int] = set()
    while directions.may_go_on:
        remaining = target - x[free:]
        if held:
            remaining[np.isin(node_part[free:], sorted(held))] = 0.0
        if not np.any(remaining):
            return Ending.CONVERGED, tuple(sorted(held))
        motion = directions.arriving(pose, remaining).motion
        if not motion.is_finite:
            return Ending.NOT_FINITE, tuple(sorted(held))
        limit, parts = potential.free_length(pose, motion)
        blocked = blocked + 1 if limit < BLOCKED_STEP else 0
        has_room = blocked == 0 or potential.relative_gap(x) > SMALLEST_GAP
        if has_room:
            pose.move(motion, limit)
        if limit >= 1.0:
            x[free:] = np.where(remaining != 0.0, target, x[free:])
        if blocked >= BLOCKED_PATIENCE or not has_room:
            if not hold:
                return Ending.NO_ROOM, tuple(sorted(held))
            moving = set(node_part[free:][np.any(remaining != 0.0, axis=1)].tolist())
            held |= (moving & set(parts)) or moving  # a sheet may be pressed on the other side, or on itself
            blocked = 0
    return Ending.NOT_ARRIVED, tuple(sorted(held))
