"""Memory of a long sweep: `python benchmarks/sweep_memory.py [RUNS] [EVERY]`.

A sheet of two faces falls for one frame, again and again, on one worker. Resident memory of worker and leader after
every so many runs, and what a run has added since then [kB]: it should level off.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import psutil

import crumple
from crumple.studies.sweeping.sweep import Watcher

SCENE = {
    "sheets": [{"shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.1}, "material": "cotton"}],
    "run": {"frame_time": 0.01, "duration": 0.01},
}


def memory() -> tuple[float, float]:
    """Resident memory of the worker (the largest process of those below this one) and of the leader [kB]."""
    leader = psutil.Process(os.getpid())
    workers = [child.memory_info().rss for child in leader.children(recursive=True)]
    return max(workers, default=0) / 1e3, leader.memory_info().rss / 1e3


class Measuring(Watcher):
    """Prints a line after every so many runs."""

    def __init__(self, every: int) -> None:
        self.every, self.done, self.last = every, 0, (0.0, 0.0)

    def on_run(self, run, outcome) -> None:
        assert outcome.outcome == "done", outcome
        self.done += 1
        if self.done % self.every == 0:
            now = memory()
            each = [(a - b) / self.every for a, b in zip(now, self.last, strict=True)]
            self.last = now
            print(f"{self.done:5d} {now[0]:9.0f} {now[1]:9.0f} kB {each[0]:9.1f} {each[1]:9.1f} kB/run", flush=True)


def main(runs: int = 500, every: int = 50) -> None:
    folder = Path(tempfile.mkdtemp(prefix="sweep-memory-"))
    print(" runs    worker    leader       worker    leader")
    try:
        scene = crumple.scenes.scene_from_tables(SCENE, source="falling")
        values = [0.1 + 1e-6 * k for k in range(runs)]
        crumple.sweep(
            scene, out=folder / "sweep", vary={"contact.friction": values}, workers=1, watcher=Measuring(every)
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
