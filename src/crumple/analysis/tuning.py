"""Tuned numbers of analysis: what counts as a container."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    container_shrinks: Tuned[float] = Tuned(
        0.95, "1", "Smallest radius over the first one below which an obstacle counts as a container that is closed."
    )


TUNING = Tuning()
