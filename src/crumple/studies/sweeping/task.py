"""What a worker does: one run into a recording, from its last frame on if there is one, then its metrics."""

from __future__ import annotations

import errno
import shutil
import threading
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crumple.contract import Term
from crumple.model.model import Model
from crumple.recording.files import OccupiedFolder, read_text_file
from crumple.recording.mark import marked_scene
from crumple.recording.model_file import fit_problem
from crumple.recording.recorder import Recorder, create_recording
from crumple.recording.recording import Recording
from crumple.recording.resume import resume_recording
from crumple.runtime.caching import cache_folder
from crumple.runtime.errors import CrumpleError, InputError
from crumple.runtime.threads import one_thread
from crumple.scenes import Scene, build, dump_scene
from crumple.session.session import Session
from crumple.simulation.engine import PhysicsEngine
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport
from crumple.studies.sweeping.identity import identity, mismatch
from crumple.studies.sweeping.metrics import OwnMetrics, measure
from crumple.studies.sweeping.packing import pack
from crumple.studies.sweeping.preparing import compile_once

LOCK_PATIENCE = 600.0
"""How long to wait for a recording that another process writes and that does not grow [s]: a worker that was thought
dead may still be at it."""
NEWS_INTERVAL = 0.5
"""Seconds between two messages of how far a run is."""
FULL = (errno.ENOSPC, errno.EDQUOT)

_stopped: set[str] = set()
_turn = threading.Lock()
"""Kernels and linear solver are for one run at a time in a process."""


@dataclass(frozen=True)
class Task:
    """A run for a worker: of which `sweep`, its name `run`, its `scene`, the `folder` of its recording, its `metrics`
    by name and the user's `own`, the user's own `terms` of the model, and who asks (`asker`).

    `mark`: the sweep's sweep.toml. A worker that does not find it there, with the sweep's id in it, has another file
    system: it keeps the recording for itself and sends it back. "": `folder` is right wherever the run is done.
    """

    sweep: str
    run: str
    scene: Scene
    folder: str
    metrics: tuple[str, ...] = ()
    own: OwnMetrics = field(default_factory=dict)
    terms: tuple[Term, ...] = ()
    asker: dict[str, str] = field(default_factory=identity)
    mark: str = ""

    def is_shared(self) -> bool:
        """Whether this machine sees the sweep's folder."""
        try:
            return not self.mark or self.sweep in read_text_file(Path(self.mark))
        except (CrumpleError, OSError, UnicodeError):
            return False


@dataclass(frozen=True)
class Outcome:
    """How a run ended: `outcome` "done", "failed" or "stopped", the `reason`, `frames` on disk after the initial one,
    simulated `time` [s], `seconds` of computation of all frames, `resumed` frame that it went on from (None: it began
    anew), `metrics` by name, whether the disk is full, and the packed recording if it is to be sent back."""

    run: str
    outcome: str
    reason: str = ""
    frames: int = 0
    time: float = 0.0
    seconds: float = 0.0
    resumed: int | None = None
    metrics: dict[str, Any] = field(default_factory=dict)
    is_disk_full: bool = False
    packed: bytes | None = None

    def line(self) -> dict[str, Any]:
        """What the log says of it."""
        names = ("run", "outcome", "reason", "frames", "time", "seconds", "resumed", "metrics")
        return {name: getattr(self, name) for name in names}


class Stopped(Exception):  # noqa: N818 (a signal, not an error)
    """The sweep is to stop."""


def perform(task: Task) -> Outcome:
    """Do the run of `task`, or what is left of it; never raises for what is wrong with the run."""
    problem = mismatch(task.asker, identity())
    if problem:
        return Outcome(task.run, "failed", f"the worker {problem}; install the same version everywhere")
    is_shared = task.is_shared()
    folder = Path(task.folder) if is_shared else own_folder(task.sweep, task.run)
    with _turn, one_thread():
        try:
            compile_once(remeshing=task.scene.remeshing is not None)
            resumed = _simulate(task, folder)
        except Stopped:
            return _outcome(task, folder, "stopped", "the sweep was stopped")
        except Exception as error:
            full = isinstance(error, OSError) and error.errno in FULL
            return _outcome(task, folder, "failed", explain(error), is_disk_full=full)
        return _measured(task, folder, resumed, is_shared)


def ask_to_stop(sweep: str) -> None:
    """End the runs of a sweep in this process at their next step; the frames that are done stay."""
    _stopped.add(sweep)


def allow(sweep: str) -> None:
    """Let a sweep that was stopped run again in this process."""
    _stopped.discard(sweep)


def discard(sweep: str, name: str) -> None:
    """Remove a worker's own copy of a recording, which has arrived where it belongs."""
    shutil.rmtree(own_folder(sweep, name), ignore_errors=True)


def own_folder(sweep: str, name: str) -> Path:
    """Where a worker without a shared file system keeps the recording of a run."""
    return cache_folder("sweeps") / sweep / name


def explain(error: Exception) -> str:
    """Why a run failed, in one line."""
    if isinstance(error, CrumpleError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    return "internal error: " + " ".join(f"{type(error).__name__}: {error}".split())


class _News(Observer):
    """Tells the sweep how far a run is, and ends the run when the sweep was stopped."""

    def __init__(self, task: Task) -> None:
        self._task, self._last, self._notify = task, 0.0, _notifier(task.sweep)

    def on_start(self, model: Model, state: State) -> None:
        self._say(model, state)

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        if self._task.sweep in _stopped:
            raise Stopped

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        if clock.monotonic() - self._last >= NEWS_INTERVAL:
            self._say(model, state)

    def _say(self, model: Model, state: State) -> None:
        self._last = clock.monotonic()
        self._notify({"run": self._task.run, "frame": state.frame, "frames": model.frame_count})


def _notifier(sweep: str) -> Callable[[dict[str, Any]], None]:
    """What sends a message to the sweep; nothing outside of a Dask worker."""
    try:
        from distributed import get_worker

        worker = get_worker()
    except (ImportError, ValueError):
        return lambda message: None
    return lambda message: worker.log_event(news_topic(sweep), message)


def news_topic(sweep: str) -> str:
    """The topic of Dask under which workers tell how far the runs of a sweep are."""
    return f"crumple-{sweep}"


def _simulate(task: Task, folder: Path) -> int | None:
    """Bring the recording in `folder` to its end; the frame that it went on from, None when it began anew."""
    if task.sweep in _stopped:
        raise Stopped
    model, state, recorder, resumed = _begin_when_free(task, folder)
    with recorder:
        if state.frame < model.frame_count:
            Session(PhysicsEngine(model, state)).run(observers=[recorder, _News(task)])
    return resumed


def _begin_when_free(task: Task, folder: Path) -> tuple[Model, State, Recorder, int | None]:
    """The same as `_begin`, after whoever writes the recording now has ended."""
    waited, seen = clock.monotonic(), -1
    while True:
        try:
            return _begin(task, folder)
        except OccupiedFolder:
            frames = len(Recording(folder)) if (folder / "frames").is_dir() else 0
            if frames != seen:
                waited, seen = clock.monotonic(), frames
            if clock.monotonic() - waited > LOCK_PATIENCE:
                raise
            if task.sweep in _stopped:
                raise Stopped from None
            clock.sleep(0.5)


def _begin(task: Task, folder: Path) -> tuple[Model, State, Recorder, int | None]:
    """Model, state and recorder of a new recording, or of the one that is there from its last intact frame on."""
    scene, text = task.scene, dump_scene(task.scene)
    if (folder / "frames").is_dir() and Recording(folder).frames:
        recording = Recording(folder)
        if marked_scene(folder) != text:
            raise InputError(str(folder), "holds a recording of another scene")
        model = _with_terms(recording.present_model() or build(scene, relax=False).model, task)

        def check(state: State) -> None:
            problem = fit_problem(model, state)
            if problem:
                raise InputError(str(folder), f"the model {problem}")

        state, recorder = resume_recording(folder, check=check)
        return model, state, recorder, state.frame
    model, state, _ = build(scene)
    if (folder / "frames").is_dir() and Recording(folder).frames:  # somebody else has begun meanwhile
        return _begin(task, folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return _with_terms(model, task), state, create_recording(folder, text), None


def _with_terms(model: Model, task: Task) -> Model:
    for term in task.terms:
        model = model.with_term(term)
    return model


def _measured(task: Task, folder: Path, resumed: int | None, is_shared: bool) -> Outcome:
    """The outcome of a run that has come to its end; what cannot be measured is its reason, not its failure."""
    found: dict[str, Any] = {}
    reason = ""
    try:
        found = measure(Recording(folder), task.metrics, task.own)
    except Exception as error:
        reason = f"metrics: {explain(error)}"
    try:
        packed = None if is_shared else pack(folder)
    except OSError as error:
        return _outcome(task, folder, "failed", explain(error), is_disk_full=error.errno in FULL)
    return _outcome(task, folder, "done", reason, resumed=resumed, metrics=found, packed=packed)


def _outcome(task: Task, folder: Path, outcome: str, reason: str, **more: Any) -> Outcome:
    """The outcome with what can be told of the recording."""
    try:
        recording = Recording(folder)
        frames = recording.frames
        seconds = sum(line.get("frame_end", {}).get("seconds", 0.0) for line in recording.steps())
        time = recording.times()[frames[-1]] if frames else 0.0
        return Outcome(task.run, outcome, reason, max(len(frames) - 1, 0), time, seconds, **more)
    except (CrumpleError, OSError):
        return Outcome(task.run, outcome, reason, **more)
