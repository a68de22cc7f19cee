"""Attachments draw pairs of nodes together, of one sheet or of two: glue, a seam that is sewn during the run.

Which nodes they join is in the State (`bonds`), as remeshing changes it; an `Attachment` says how.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from crumple.boundary.handles import fading_strength
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints


@dataclass(frozen=True)
class Attachment:
    """Springs of `stiffness` [N/m] between pairs of nodes from `start` to `end` [s], then fading for `fade` [s].

    They pull as long as the nodes are farther apart than `length` [m].
    """

    name: str
    start: float = 0.0
    end: float = inf
    fade: float = 0.0
    stiffness: float = 1e3
    length: float = 0.0

    def strength(self, t: float) -> float:
        """Factor of the stiffness at time `t` [s]: 1 while it holds, falling linearly to 0 over `fade`."""
        return fading_strength(t, self.start, self.end, self.fade)


def pair_in_order(first: Ints, second: Ints) -> Ints:
    """The first node with the first, the second with the second …, (n, 2); the lists must be equally long."""
    if len(first) != len(second):
        raise InputError("pairing", f"both selections need equally many nodes, not {len(first)} and {len(second)}")
    return _checked(np.stack([first, second], axis=1))


def pair_nearest(x: Floats, first: Ints, second: Ints, reach: float = inf) -> Ints:
    """Each node of the smaller selection with the nearest of the other within `reach` [m], (n, 2)."""
    from scipy.spatial import KDTree  # half a second to import, seldom needed

    small, large = (first, second) if len(first) <= len(second) else (second, first)
    distance, index = KDTree(x[large]).query(x[small])
    near = distance <= reach
    if not near.any():
        raise InputError("reach", f"no two nodes are that near, the nearest are {distance.min():.3g} m apart", reach)
    pairs = np.stack([small, large[index]], axis=1)[near]
    return _checked(pairs if small is first else pairs[:, ::-1])


def _checked(pairs: Ints) -> Ints:
    same = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(same):
        raise InputError("pairing", "a node cannot be attached to itself", int(pairs[same[0], 0]))
    return np.ascontiguousarray(pairs, np.int32)
