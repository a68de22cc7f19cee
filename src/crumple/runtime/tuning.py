"""Tuned numbers of threads."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    one_thread_faces: Tuned[int] = Tuned(
        3000,
        "faces",
        "Faces below which one thread is faster than two.",
        chosen_on="80 frames of ARCSim's `crumple`",
        breaks="They took 13.6 s with one thread against 16.9 s with two.",
    )
    load_window: Tuned[float] = Tuned(
        0.5,
        "s",
        "Least time between two looks at how many cores are free: the system counts in hundredths of a second.",
    )
    nearly_free_core: Tuned[float] = Tuned(
        0.7,
        "1",
        "Fraction of a core's time from which on it counts as free. Two threads that share two cores with one other "
        "program get 1.33 cores.",
        breaks="With 0.3, two threads go on beside another program and wait for each other.",
    )


TUNING = Tuning()
