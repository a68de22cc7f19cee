"""Tuned numbers of how a state follows a change of its mesh."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    handing_fits: Tuned[int] = Tuned(
        4,
        "rounds",
        "Of proportional fitting, in which old faces hand over what has yielded in the proportions that the plastic "
        "embedding shows.",
        chosen_on="a sheet with a crease remeshed a hundred times, and recrumple",
    )
    handing_factor: Tuned[float] = Tuned(2.0, "1", "By which a round may raise or lower what a new face gets, at most.")
    handing_least: Tuned[float] = Tuned(
        1e-3,
        "1",
        "Fraction of the plastic curvature of an old face that the embedding has to show on the new mesh; if it shows "
        "less, it is handed over by area.",
    )


TUNING = Tuning()
