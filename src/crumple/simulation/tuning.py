"""Tuned numbers of events."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    heard_energy: Tuned[float] = Tuned(
        1e-7,
        "J",
        "Energy from which on a crease or a snap is an event: a click of paper sets free 1e-7 to 1e-4 J.",
        chosen_on="a square of note paper, 15 cm wide, crumpled by hand",
    )


TUNING = Tuning()
