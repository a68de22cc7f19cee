"""Tuned numbers of the linear solvers."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    minimum_degree_nodes: Tuned[int] = Tuned(
        8000,
        "nodes",
        "Below this, minimum degree orders nodes faster than nested dissection, and as well.",
        chosen_on="frames 71 to 107 of crumple.json: 0.82 to 1.12 of the operations up to 6070 nodes, 1.24 at 8912",
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
    front_zeros: Tuned[int] = Tuned(
        10, "unknowns", "Unknowns by which the rows of a narrow front may grow when a node joins it."
    )
    narrow_front: Tuned[int] = Tuned(24, "unknowns", "Unknowns that a narrow front has at most.")
    front_zero_fraction: Tuned[float] = Tuned(
        1.5,
        "1",
        "Zeros that a node may bring into a front when it joins it, over the unknowns that are then eliminated there.",
        chosen_on="sheets of 150 to 1000 faces",
    )
    front_seconds: Tuned[tuple[float, float]] = Tuned(
        (7e-11, 1.3e-9),
        "s",
        "Seconds per operation of a factorisation and per number of a solution, in fronts of our own.",
        chosen_on="sheets of 2500 to 7000 faces",
    )
    subtree_operations: Tuned[float] = Tuned(
        1e8,
        "operations",
        "Operations of a factorisation below which one thread does it: others take too long to start.",
        chosen_on="frames of crumple.json: at 2470 faces and 3e7 operations two threads took 1.06 of the time of one",
    )
    subtree_trials: Tuned[int] = Tuned(
        40, "splits", "Splits of the largest subtree that are tried when fronts are divided among threads."
    )
    subtree_gain: Tuned[float] = Tuned(
        0.9, "1", "Fronts are divided among threads when that promises to take less than this part of the time."
    )
    short_vector: Tuned[int] = Tuned(
        4096, "numbers", "Length of vectors whose inner products are left to BLAS, which takes one thread for them."
    )


TUNING = Tuning()
