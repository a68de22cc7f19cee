"""What a sweep will cost, and what is wrong with it, before anything starts."""

from __future__ import annotations

import re
import shutil
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crumple.model.model import Model
from crumple.runtime.errors import InputError
from crumple.scenes import Scene, SceneError
from crumple.scenes.build import assemble
from crumple.scenes.builtin import ABOUT
from crumple.scenes.check import built_size
from crumple.scenes.messages import Problems
from crumple.scenes.sizes import estimate_size, frame_count
from crumple.scenes.toml import load_scene
from crumple.session.session import Session
from crumple.simulation.engine import PhysicsEngine
from crumple.state import State
from crumple.studies.sweeping.metrics import check_metrics
from crumple.studies.sweeping.plan import Plan, PlannedRun
from crumple.studies.sweeping.preparing import compile_once, needs_compiling

MOST_BUILT = 5
"""Scenes of a sweep that are built to be checked, spread over all; the tables of every run are checked."""
LONG_FRAME = 3.0
"""A first frame that takes longer than this [s] is taken as it is; else the second is measured, with kernels loaded."""


@dataclass(frozen=True)
class Estimate:
    """Runs, frames of all of them, disk [bytes] from the sizes at the start and with all that remeshing allows, the
    free disk [bytes], and seconds of computation of all runs; `basis`: what these are taken from."""

    runs: int
    frames: int
    disk: float
    most_disk: float
    free: float
    seconds: float
    basis: str

    def describe(self, workers: int) -> list[str]:
        """Lines for the terminal."""
        most = f" to {show_bytes(self.most_disk)}" if self.most_disk > 1.1 * self.disk else ""
        time = f"{self.basis} {show_time(self.seconds / max(1, min(workers, self.runs)))} with {workers} workers"
        return [
            f"{self.runs} runs with {self.frames} frames in all; {time if workers > 1 else time[:-1]}; "
            f"about {show_bytes(self.disk)}{most} on disk, where {show_bytes(self.free)} are free"
        ]


def check_plan(plan: Plan, out: Path, say: Callable[[str], None]) -> tuple[Estimate, list[Scene]]:
    """The estimate, and the scenes of all runs; `InputError` with the first thing that is wrong.

    Tables, keys and values of all runs are checked, and a few of the scenes are built. To tell the time, the first
    frames are run; if kernels have to be compiled for that, `say` tells of it.
    """
    check_metrics(plan.metrics)
    scenes = [_load(plan, run) for run in plan.runs]
    chosen = np.unique(np.linspace(0, len(scenes) - 1, MOST_BUILT).round().astype(int))
    built = {int(k): _build(plan, plan.runs[k], scenes[k]) for k in chosen}
    check_metrics(plan.metrics, built[0][0])
    sizes = [built_size(scene, *built[k]) if k in built else estimate_size(scene) for k, scene in enumerate(scenes)]
    free = float(shutil.disk_usage(_existing(out)).free)
    disk = sum(size.disk for size in sizes)
    if disk > free:
        remedy = f"the runs need at least {show_bytes(disk)}, of which {show_bytes(free)} are free"
        raise InputError(str(out), remedy)
    frames = sum(size.frames for size in sizes)
    if needs_compiling(remeshing=any(scene.remeshing is not None for scene in scenes)):
        say("first run here: compiling kernels once, about a minute")
    compile_once(remeshing=any(scene.remeshing is not None for scene in scenes))
    seconds, basis = _seconds(plan, built[0], frames)
    return Estimate(len(scenes), frames, disk, sum(size.most_disk for size in sizes), free, seconds, basis), scenes


def named_files(scenes: Sequence[Scene]) -> list[str]:
    """The files that the scenes name, and folders of recordings, by absolute path, each once."""
    found: dict[str, None] = {}

    def look(value: Any) -> None:
        if isinstance(value, dict):
            for below in value.values():
                look(below)
        elif isinstance(value, list):
            for below in value:
                look(below)
        elif isinstance(value, str) and Path(value).is_absolute() and Path(value).exists():
            found[value] = None

    for scene in scenes:
        look(scene.tables())
    return list(found)


def show_bytes(count: float) -> str:
    """Bytes in the unit that suits them."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000.0:
            return f"{count:.3g} {unit}"
        count /= 1000.0
    return f"{count:.3g} TB"


def show_time(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


def _load(plan: Plan, run: PlannedRun) -> Scene:
    """The scene of a run; errors name --vary where the key is one that is varied."""
    try:
        return plan.load(run)
    except SceneError as error:
        raise SceneError([_renamed(text, plan) for text in error.problems]) from None
    except InputError as error:
        raise SceneError([_renamed(str(error), plan)]) from None


def _build(plan: Plan, run: PlannedRun, scene: Scene) -> tuple[Model, State]:
    problems = Problems(f"{plan.scene} with {run.describe()}" if run.values else plan.scene)
    built = assemble(scene, problems)
    problems.stop()
    assert built is not None
    return built.model, built.state


def _renamed(text: str, plan: Plan) -> str:
    """A message of `--set`, which names `--vary` or `--tie` where that has given the value."""
    found = re.match(r"--set:? ([^\s:]+)", text)
    if found is None:
        return text
    given = [("--vary", axis.key) for axis in plan.axes] + [("--tie", tie.key) for tie in plan.ties]
    options = [option for option, key in given if f"{key}.".startswith((f"{found[1]}.", f"{found[1]}["))]
    return options[0] + text.removeprefix("--set") if options else text


def _seconds(plan: Plan, first: tuple[Model, State], frames: int) -> tuple[float, str]:
    """Seconds of computation of all runs: from what a built-in scene is known to take, else from a frame of the first
    run, which later frames with more contacts exceed."""
    about = ABOUT.get(plan.scene)
    known = None if about is None else about.quick_seconds if plan.quick else about.seconds
    if known is not None:
        usual = frame_count(load_scene(plan.scene, quick=plan.quick))
        return known * frames / max(usual, 1), "about"
    session = Session(PhysicsEngine(*first))
    for _ in range(2):
        begin = clock.perf_counter()
        session.run(session.state.frame + 1)
        seconds = clock.perf_counter() - begin
        if seconds > LONG_FRAME or session.state.frame >= session.model.frame_count:
            break
    return seconds * frames, "at the speed of the first frames"


def _existing(path: Path) -> Path:
    """The nearest folder above that is there."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.is_dir())
