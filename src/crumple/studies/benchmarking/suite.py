"""The benchmarks by name, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from crumple.runtime.errors import InputError
from crumple.studies.benchmarking.creases import measure_creases
from crumple.studies.benchmarking.developable import measure_developable
from crumple.studies.benchmarking.episodes import measure_episodes
from crumple.studies.benchmarking.iteration import measure_iterations
from crumple.studies.benchmarking.live import measure_live
from crumple.studies.benchmarking.report import Report
from crumple.studies.benchmarking.starting import measure_start
from crumple.studies.benchmarking.stuffing import measure_stuffing
from crumple.studies.benchmarking.tearing import measure_tearing
from crumple.studies.benchmarking.tracing import measure_traced
from crumple.studies.benchmarking.twist import measure_twist

BENCHMARKS: dict[str, Callable[[], Report]] = {
    "iteration": measure_iterations,
    "twist": measure_twist,
    "start": measure_start,
    "stuffing": measure_stuffing,
    "episodes": measure_episodes,
    "energies": measure_traced,
    "creases": measure_creases,
    "tearing": measure_tearing,
    "developable": measure_developable,
    "live": measure_live,
}
"""Every benchmark of `crumple bench` at full length."""
QUICK_BENCHMARKS: dict[str, Callable[[], Report]] = {
    "iteration": lambda: measure_iterations((1, 2), 15),
    "twist": lambda: measure_twist((32,), 20),
    "start": lambda: measure_start(1),
    "stuffing": lambda: measure_stuffing(5, ("sheets[0].shape.size=0.014", "motions.shrink.keys[1].time=1.6")),
    "episodes": lambda: measure_episodes((150,), 1),
    "energies": lambda: measure_traced(9e-3),
    "creases": lambda: measure_creases(40, 5),
    "tearing": lambda: measure_tearing((500,), 5),
    "developable": lambda: measure_developable(("figure 1",), 20),
    "live": lambda: measure_live((153,), 1.0),
}
"""The same on smaller sheets and for fewer steps."""


def run_benchmarks(names: Sequence[str] = (), *, quick: bool = False) -> Iterator[tuple[str, Report]]:
    """Name and report of the named benchmarks (all without `names`), one by one as they are finished.

    Raises InputError for an unknown name, before anything is run.
    """
    chosen = QUICK_BENCHMARKS if quick else BENCHMARKS
    for name in names:
        if name not in chosen:
            raise InputError("benchmark", f"must be one of {', '.join(chosen)}", name)
    return ((name, chosen[name]()) for name in names or chosen)
