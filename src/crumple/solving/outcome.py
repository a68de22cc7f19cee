"""Where a solve ended, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from crumple.runtime.typing import Floats


class Ending(Enum):
    """How a step ended; the value says it in words."""

    CONVERGED = ""
    NO_ROOM = "an obstacle has no room"
    NOT_ARRIVED = "Newton's method did not bring the obstacles to their places"
    NOT_FINITE = "a force is not finite"
    NO_DESCENT = "no step along the Newton direction decreases the energy"
    NOT_CONVERGED = "Newton's method did not converge"
    ADRIFT = "it finds no rest: nothing holds it"
    INACCURATE = "the step is too inaccurate"
    IMPACT = "contact is too sudden for a step of second order"
    UNMET = "creases do not reach their angles: do they fit together at every vertex? a lower strength lets them stop"


@dataclass(frozen=True)
class Outcome:
    """Where Newton's method ended: x (node_count, 3), obstacles included, half turns (edge_count,), and how.

    `loose`: it was content with less, see `NewtonOptions.patience`;
    `held`: obstacle parts that could not follow their motion;  `predicted`: decrease still possible [J];
    `min_gap`: smallest contact gap [m], infinite when nothing is near;  `contact_energy`: of the barrier [J];
    `obstacle_force` (obstacle_nodes, 3) with which obstacles push the sheets [N], empty where it was not asked for;
    `contact_force`, `contact_before` (node_count, 3) of contact, without friction, on the nodes of the sheets [N] at
    the end and at the start, the same;  `free`: fraction of the way to the guess that is free of collisions;
    `rubbing`, `impact`: power that friction and the damping of contact take [W];
    `multipliers`: what each constraint bears, in the form that `Constraint.remembered` gives it, (n, 3) each.
    """

    x: Floats
    half_turn: Floats
    ending: Ending
    iterations: int
    contacts: int
    predicted: float
    min_gap: float
    held: tuple[int, ...]
    loose: bool = False
    contact_energy: float = 0.0
    multipliers: tuple[Floats, ...] = ()
    rubbing: float = 0.0
    impact: float = 0.0
    obstacle_force: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    contact_force: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    contact_before: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    free: float = 1.0
