"""What a fixed step costs beside our step control: python benchmarks/step_sizes.py RECORDING STEP [FRAMES]

Takes evenly spaced frames of a recording, computes each of them again with steps of our own choice and with steps of
STEP seconds, from the same state, and prints both. For ARCSim's `fold.json` and `crumple.json` STEP is 0.001.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace

import numpy as np

from crumple.model.model import Model
from crumple.recording import Recording
from crumple.runtime.errors import InputError
from crumple.scenes import build, load_scene
from crumple.simulation.frame import advance_frame
from crumple.state import State
from crumple.studies.benchmarking import describe_machine


@dataclass(frozen=True)
class Cost:
    """Of one frame: steps, Newton iterations, seconds."""

    steps: int
    iterations: int
    seconds: float


def measure(model: Model, state: State) -> Cost:
    """The cost of the frame after `state`."""
    begin = time.perf_counter()
    _, report = advance_frame(model, state)
    return Cost(report.steps, report.iterations, time.perf_counter() - begin)


def main(arguments: list[str]) -> None:
    recording, step = Recording(arguments[0]), float(arguments[1])
    count = int(arguments[2]) if len(arguments) > 2 else 12
    model, _, _ = build(load_scene(recording.path / "scene.toml"))
    models = model, replace(model, solver=replace(model.solver, fixed_step=step))
    last = len(recording.frames) - 1
    samples = [recording.frames[int(k)] for k in np.linspace(0, last, count + 1)[:-1] + 0.5 * last / count]
    for one in models:
        measure(one, recording.load(samples[0]))  # compile
    for name, value in describe_machine().items():
        print(f"{name}: {value}")
    print(
        f"{'frame':>6} {'faces':>6}   {'own steps: steps, iterations, s':>32}   {f'{step} s: steps, iterations, s':>32}"
    )
    total = np.zeros(2)
    for frame in samples:
        state = recording.load(frame)
        costs = [measure(one, state) for one in models]
        total += [cost.seconds for cost in costs]
        texts = "   ".join(f"{cost.steps:16} {cost.iterations:6} {cost.seconds:8.2f}" for cost in costs)
        print(f"{frame:6} {state.mesh.face_count:6}   {texts}", flush=True)
    own, fixed = total / len(samples)
    print(f"mean: {own:.2f} and {fixed:.2f} s/frame, ratio {fixed / own:.1f}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (InputError, IndexError, ValueError) as error:
        sys.exit(f"step_sizes: {error}\n{__doc__}")
