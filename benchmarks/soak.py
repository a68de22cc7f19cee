"""Let a small scene run for very many steps and watch the memory of the process.

    python benchmarks/soak.py --steps 100000 --every 2000

Prints resident memory after each batch of steps, and at the end the growth per 1000 steps over the second half, by a
straight line through the samples. `--trace` adds the places in Python that hold more memory than at the start.
`--record DIR` writes a recording as `crumple run` does.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
import tracemalloc
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from crumple.model.model import Model
from crumple.recording import create_recording
from crumple.scenes import build, dump_scene, load_scene
from crumple.session.session import run
from crumple.simulation.observers import Observer, StopRun
from crumple.state import State
from crumple.stepping.reports import StepReport

PAGE = os.sysconf("SC_PAGE_SIZE")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", default="demo")
    parser.add_argument("--set", action="append", default=["sheets[0].shape.size=0.05"])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--every", type=int, default=2000, help="steps between two samples")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    scene = load_scene(options.scene, options.set)
    model, state, _ = build(scene)
    model = replace(model, duration=1e9)
    soak = Soak(options.steps, options.every, options.trace)
    with ExitStack() as stack:
        observers: list[Observer] = [soak]
        if options.record is not None:
            observers.insert(0, stack.enter_context(create_recording(options.record, dump_scene(scene), force=True)))
        run(model, state, observers)
    soak.conclude()
    return 0


class Soak(Observer):
    """Samples resident memory [MB] every so many steps and ends the run after `steps`."""

    def __init__(self, steps: int, every: int, trace: bool) -> None:
        self._steps, self._every, self._trace = steps, every, trace
        self._samples: list[tuple[int, float]] = []
        self._before: tracemalloc.Snapshot | None = None
        self._done, self._begin = 0, time.perf_counter()

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        self._done += 1
        if self._done % self._every == 0:
            gc.collect()
            self._samples.append((self._done, resident_memory()))
            seconds = time.perf_counter() - self._begin
            faces = state.mesh.face_count
            print(f"{self._done} steps  {self._samples[-1][1]:.2f} MB  {faces} faces  {seconds:.0f} s", flush=True)
            if self._trace and self._before is None:
                tracemalloc.start(8)
                self._before = tracemalloc.take_snapshot()
        if self._done >= self._steps:
            raise StopRun

    def conclude(self) -> None:
        """Print the growth over the second half, and where Python holds more than before."""
        late = np.array([sample for sample in self._samples if sample[0] > self._done / 2])
        if len(late) >= 2:
            growth = 1000.0 * np.polyfit(late[:, 0], late[:, 1], 1)[0]
            print(f"growth over the second half: {growth:.4f} MB per 1000 steps")
        if self._before is not None:
            for place in tracemalloc.take_snapshot().compare_to(self._before, "lineno")[:10]:
                print(place)


def resident_memory() -> float:
    """Resident memory of this process [MB]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


if __name__ == "__main__":
    raise SystemExit(main())
