"""Attempts that are made less and less often while they fail.

After a failure the next attempt waits for a pause, which doubles with every further failure up to a longest one.
"""

from __future__ import annotations

from typing import NamedTuple

from crumple.runtime.compiled import rule


class Backoff(NamedTuple):
    """`wait`: occasions to let pass before the next attempt;  `pause`: how many it will be after another failure."""

    wait: int
    pause: int


@rule
def is_due(backoff: Backoff) -> bool:
    """Whether it is time for an attempt."""
    return backoff.wait == 0


@rule
def waited(backoff: Backoff) -> Backoff:
    """After an occasion that was let pass."""
    return Backoff(backoff.wait - 1, backoff.pause)


@rule
def failed(backoff: Backoff, longest: int) -> Backoff:
    """After an attempt that failed; no pause is longer than `longest`."""
    return Backoff(backoff.pause, min(2 * backoff.pause, longest))


@rule
def succeeded(backoff: Backoff, pause: int) -> Backoff:
    """After an attempt that succeeded: the next failure costs `pause` occasions."""
    return Backoff(backoff.wait, pause)
