"""Where the time of a run goes, phase by phase."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class PhaseTimer:
    """Accumulates wall seconds and calls per named phase; phases may nest (the inner time counts in both).

    `phase`: the one that is going on, the innermost of nested ones, "" between phases; other threads may look at it.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}
        self.phase = ""

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Time the body of a `with timer("contact"):` block under `phase`."""
        start = time.perf_counter()
        outer, self.phase = self.phase, phase
        try:
            yield
        finally:
            self.phase = outer
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - start
            self.calls[phase] = self.calls.get(phase, 0) + 1

    def take(self) -> dict[str, float]:
        """The seconds gathered since the last `take`, which are then forgotten."""
        seconds, self.seconds, self.calls = self.seconds, {}, {}
        return seconds
