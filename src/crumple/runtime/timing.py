"""Where the time of a run goes, phase by phase."""

from __future__ import annotations

import time


class PhaseTimer:
    """Accumulates wall seconds and calls per named phase; phases may nest (the inner time counts in both, but only once
    in a phase that is nested directly in itself).

    `phase`: the one that is going on, the innermost of nested ones, "" between phases; other threads may look at it.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}
        self.phase = ""

    def __call__(self, phase: str) -> _Timed:
        """Time the body of a `with timer("contact"):` block under `phase`."""
        return _Timed(self, phase)

    def take(self) -> dict[str, float]:
        """The seconds gathered since the last `take`, which are then forgotten."""
        seconds, self.seconds, self.calls = self.seconds, {}, {}
        return seconds


class _Timed:
    """A block that is timed; a class because it is entered thousands of times in a second."""

    __slots__ = ("_outer", "_phase", "_start", "_timer")

    def __init__(self, timer: PhaseTimer, phase: str) -> None:
        self._timer, self._phase = timer, phase

    def __enter__(self) -> None:
        self._outer, self._timer.phase = self._timer.phase, self._phase
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        timer, phase = self._timer, self._phase
        timer.phase = self._outer
        if self._outer == phase:
            return
        timer.seconds[phase] = timer.seconds.get(phase, 0.0) + time.perf_counter() - self._start
        timer.calls[phase] = timer.calls.get(phase, 0) + 1
