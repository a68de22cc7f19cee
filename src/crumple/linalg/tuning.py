"""Tuned numbers of the linear solvers."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    minimum_degree_nodes: Tuned[int] = Tuned(
        4000, "nodes", "Below this, minimum degree orders nodes faster than nested dissection, and as well."
    )
    one_thread_unknowns: Tuned[int] = Tuned(
        15_000,
        "unknowns",
        "Unknowns below which one thread is faster than several: they would wait for each other most of the time.",
    )
    pardiso_block_seconds: Tuned[tuple[float, float]] = Tuned(
        (1.7e-3, 1.5e-8),
        "s",
        "Seconds per million operations of a factorisation and per entry of a solution, in matrices of 3 × 3 blocks.",
        chosen_on="sheets of 3500 to 22 000 nodes",
    )
    pardiso_scalar_seconds: Tuned[tuple[float, float]] = Tuned(
        (6.5e-5, 1.5e-9),
        "s",
        "The same in matrices of single numbers.",
        chosen_on="sheets of 3500 to 22 000 nodes",
    )


TUNING = Tuning()
