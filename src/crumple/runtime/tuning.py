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


TUNING = Tuning()
