"""Subtrees of fronts that several threads factorise at the same time.

Fronts are in the order in which a walk through their tree leaves them, so a subtree is a run of fronts, and two that
are apart share nothing. What is above them all is factorised in the end by one thread. A front receives from its
children in the same order as without threads, so the numbers are the same, whatever the division.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.linalg.fronts import Indices
from crumple.linalg.tuning import TUNING
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats

TRIALS = TUNING.subtree_trials.value
GAIN = TUNING.subtree_gain.value


class Division(NamedTuple):
    """Subtrees for threads.

    `subtrees` (t, 2): their first and last fronts, in order;  `shares` (t,): which thread takes each;
    `bottom` (t,): where its part of the stack begins;  `stack`: numbers of the whole stack.
    """

    subtrees: Indices
    shares: Indices
    bottom: Indices
    stack: int


def divide(first: Indices, width: Indices, children: Indices, stack: int, threads: int) -> Division | None:
    """A division of the fronts for so many threads; None when they would hardly be faster than one.

    The largest subtree is split until no split promises an earlier end. `stack`: numbers that wait at most without it.
    """
    own = np.diff(first).astype(float)
    met = width - own
    work = own**3 / 3.0 + own**2 * met + own * met**2
    total, size, room = _measure_subtrees(work, children, width - np.diff(first))
    parts, above, earliest = _roots(size), 0.0, GAIN * float(work.sum())
    chosen, chosen_shares = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for _ in range(TRIALS):
        largest = max(parts, key=lambda f: float(total[f]))
        parts.remove(largest)
        parts.extend(_children(largest, size, children))
        above += float(work[largest])
        if not parts:
            break
        shares, longest = _share_out(total[parts], threads)
        if above + longest < earliest:
            earliest, chosen, chosen_shares = above + longest, np.array(parts, np.int64), shares
    if not len(chosen):
        return None
    order = np.argsort(chosen)
    last = chosen[order]
    bottom = stack + np.concatenate([[0], np.cumsum(room[last])])
    return Division(
        np.stack([last - size[last] + 1, last], axis=1),
        chosen_shares[order],
        bottom[:-1].astype(np.int64),
        int(bottom[-1]),
    )


def _roots(size: Indices) -> list[int]:
    """The fronts that are no part of another's subtree."""
    roots, f = [], len(size) - 1
    while f >= 0:
        roots.append(f)
        f -= int(size[f])
    return roots


def _children(front: int, size: Indices, children: Indices) -> list[int]:
    """The fronts that end in this one."""
    found, f = [], front - 1
    for _ in range(int(children[front])):
        found.append(f)
        f -= int(size[f])
    return found


def _share_out(work: Floats, threads: int) -> tuple[Indices, float]:
    """The thread of each piece of work, the largest pieces first, each to whoever has least; and what one has most."""
    load, shares = np.zeros(threads), np.zeros(len(work), np.int64)
    for piece in np.argsort(-work, kind="stable"):
        shares[piece] = np.argmin(load)
        load[shares[piece]] += work[piece]
    return shares, float(load.max())


@kernel
def _measure_subtrees(work, children, met):
    """Of the subtree of each front (f,): its work, its number of fronts, and room for all that waits within it."""
    count = work.shape[0]
    total, size, room = work.copy(), np.ones(count, np.int64), np.zeros(count, np.int64)
    for f in range(count):
        child, left = f - 1, 0
        for _ in range(children[f]):
            total[f] += total[child]
            size[f] += size[child]
            room[f] = max(room[f], room[child])
            left += met[child] * met[child]
            child -= size[child]
        room[f] = max(room[f] + left, met[f] * met[f])
    return total, size, room
