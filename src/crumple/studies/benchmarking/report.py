"""What a benchmark gives: tables of records, and sums over frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crumple.stepping.reports import FrameReport

PHASES = (
    "energy",
    "contact",
    "collision",
    "assembly",
    "analysis",
    "factorisation",
    "solve",
    "line search",
)
"""Phases of a Newton iteration, as the solver names them; what is left is "other"."""

Record = dict[str, float | int | str]


@dataclass(frozen=True)
class Report:
    """One table: records with the same keys, units in the keys.

    `names`: the columns by which a row is known again in another run;  `costs`: those that are compared with it, the
    less the better.
    """

    title: str
    records: tuple[Record, ...]
    names: tuple[str, ...]
    costs: tuple[str, ...]


def iteration_costs(frames: Sequence[FrameReport]) -> Record:
    """Milliseconds per Newton iteration in all and by phase, and over factorisation + solve.

    "ratio" is the whole iteration over its factorisation + solve; "ratio with analysis" counts the analysis too.
    The preparation of a frame is left out.
    """
    iterations = max(1, sum(frame.iterations for frame in frames))
    spent = {phase: sum(frame.phases.get(phase, 0.0) for frame in frames) for phase in PHASES}
    outside = sum(frame.phases.get("preparation", 0.0) for frame in frames)
    total = sum(frame.seconds for frame in frames) - outside
    costs: Record = {"ms": 1e3 * total / iterations}
    costs |= {phase: 1e3 * seconds / iterations for phase, seconds in spent.items()}
    costs["other"] = 1e3 * max(0.0, total - sum(spent.values())) / iterations
    solving = spent["factorisation"] + spent["solve"]
    costs["ratio"] = total / max(solving, 1e-12)
    costs["ratio with analysis"] = total / max(solving + spent["analysis"], 1e-12)
    return costs


def scaling_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The p of seconds ∝ sizeᵖ, by least squares of the logarithms; NaN for fewer than two sizes."""
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
