"""What the studio shows: a recording, or a scene that is being simulated into one."""

from __future__ import annotations

import multiprocessing
import threading
import time as clock
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crumple.recording.frame import frame_time
from crumple.recording.recording import FRAME_INDEX, Recording, read_series
from crumple.runtime.errors import CrumpleError, InputError
from crumple.studio.frames import FrameStore
from crumple.studio.outbox import Outbox
from crumple.studio.series import SeriesReader

if TYPE_CHECKING:
    from crumple.scenes import Scene

PAUSE, CONTINUE, STOP = "pause", "continue", "stop"
COMMANDS = (PAUSE, CONTINUE, STOP)
"""What a simulation can be asked for."""
PATIENCE = 4.0
"""How long a step may still take after a stop before the process is ended [s]."""
OVER = ("finished", "stopped", "failed")
SETTLED = 2_000_000_000
"""Time [ns] after which the clock of the disk tells two changes of a folder apart, on any disk."""
KEPT_REFUSALS = 64
"""Refusals that wait to be told; the oldest are forgotten first."""


@dataclass(frozen=True)
class Refusal:
    """What could not be done that a `page` had asked for, and why."""

    page: object
    message: str


@dataclass(frozen=True)
class Progress:
    """How far a simulation is: `state`, finished `frame` of `frames`, simulated `time` [s], and why it failed.

    `drives`: groups of driven creases, how far each is folded and where it goes, in percent.
    preparing (kernels, scene), running, pausing, paused, stopping, then finished, stopped or failed.
    """

    state: str = "preparing"
    frame: int = 0
    frames: int = 0
    time: float = 0.0
    message: str = ""
    drives: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.state in OVER


class SceneRun:
    """A simulation in a process of its own, and what it says of itself.

    Nothing on disk is touched before `start`, so that whatever else may fail can be done first.
    """

    def __init__(self, scene: Scene, folder: Path, force: bool) -> None:
        from crumple.studio.worker import simulate  # here, because recordings alone need none of what it loads

        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=simulate, args=(scene, folder, force, other), daemon=True)
        self._asked_to_stop = False
        self._lock = threading.RLock()
        self._other: Connection | None = other
        self._writer = ThreadPoolExecutor(1, "hands")  # a pipe to a busy process may be full
        self._unsent = Outbox()
        self._progress = Progress()
        self._refusals: deque[Refusal] = deque(maxlen=KEPT_REFUSALS)
        self._listener = threading.Thread(target=self._listen, name="simulation", daemon=True)

    def start(self) -> None:
        """Let the process begin; it replaces the recording in its folder if it was forced to."""
        self._process.start()
        if self._other is not None:
            self._other.close()
        self._other = None
        self._listener.start()

    def progress(self) -> Progress:
        """What is known by now."""
        with self._lock:
            return self._progress

    def refusals(self) -> list[Refusal]:
        """What was refused since this was last asked."""
        with self._lock:
            refused = list(self._refusals)
            self._refusals.clear()
            return refused

    def _listen(self) -> None:
        """Take what the process says, whether a page is open or not: it would wait with a full pipe."""
        try:
            while True:
                news = self._pipe.recv()
                with self._lock:
                    self._hear(news)
        except (EOFError, OSError):
            self._process.join(1.0)
            with self._lock:
                self._ended()

    def ask(self, command: str) -> None:
        """Pause, continue or stop; it takes effect at the end of the step that is going on."""
        if command not in COMMANDS:
            raise InputError("do", f"must be one of {', '.join(COMMANDS)}", command)
        with self._lock:
            if self.progress().is_over:
                raise InputError("do", f"the simulation is over ({self._progress.state})", command)
            if self._progress.state == "stopping":
                return
            self._writer.submit(self._write, command)
            if command == STOP:
                self._stop_in_time()
            state = {PAUSE: "pausing", CONTINUE: "running", STOP: "stopping"}[command]
            self._progress = replace(self._progress, state=state)

    def hold(self, command: dict[str, Any]) -> None:
        """Tell the process what a hand does; `InputError` when the simulation does not run, or too much waits."""
        if self.progress().state not in ("running", "pausing", "paused"):
            raise InputError("do", f"the simulation is {self._progress.state}; only one that runs can be taken")
        if self._unsent.put(command):
            self._writer.submit(self._write_next)

    def _write_next(self) -> None:
        command = self._unsent.take()
        if command is not None:
            self._write(command)

    def _write(self, command: str | dict[str, Any]) -> None:
        with suppress(OSError):  # the process has ended, of which `progress` tells
            self._pipe.send(command)

    def close(self) -> Progress:
        """End the process, politely at first, and say how far it came."""
        if self._other is not None:  # it was never started
            return self._progress
        if not self.progress().is_over:
            self.ask(STOP)
        self._writer.shutdown(wait=False, cancel_futures=True)
        self._process.join(PATIENCE + 1.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._listener.join(2.0)  # it has heard the end by then
        return self.progress()

    def _stop_in_time(self) -> None:
        """End the process when it does not stop by itself: finished frames are complete, a half one is worthless."""
        self._asked_to_stop = True
        timer = threading.Timer(PATIENCE, self._process.kill)
        timer.daemon = True
        timer.start()

    def _hear(self, news: dict[str, Any]) -> None:
        if "refused" in news:
            self._refusals.append(news["refused"])
        else:
            self._progress = self._after(news)

    def _after(self, news: dict[str, Any]) -> Progress:
        """The progress after a message; while something was asked for, only its fulfilment changes the state."""
        before, after = self._progress, replace(self._progress, **news)
        waiting = {"pausing": ("paused", *OVER), "stopping": OVER}.get(before.state)
        return after if waiting is None or after.state in waiting else replace(after, state=before.state)

    def _ended(self) -> None:
        """The process is gone; say why unless it has said so itself."""
        if self._progress.is_over:
            return
        code = self._process.exitcode
        if self._asked_to_stop:
            self._progress = replace(self._progress, state="stopped")
        else:
            reason = f"the simulation's process ended with code {code}; finished frames are kept"
            self._progress = replace(self._progress, state="failed", message=reason)


class StudioRun:
    """One entry of the studio: the recording in `folder`, with the simulation that writes it if the studio runs one."""

    def __init__(self, folder: Path, simulation: SceneRun | None = None, label: str = "") -> None:
        """`label`: what the page calls it, the name of its folder by default."""
        self.folder, self.simulation, self._label = folder, simulation, label
        self.generation = 0
        self._store: FrameStore | None = None
        self._frames: list[int] = []
        self._birth: tuple[int, int] | None = None
        self._stamp: int | None = None
        self._looked = 0
        self._log = SeriesReader(folder / "log.jsonl")
        self._lock = threading.Lock()
        if simulation is None:
            Recording(folder)  # complains when it is none

    @property
    def name(self) -> str:
        return self._label or self.folder.name or str(self.folder.resolve())

    @property
    def store(self) -> FrameStore:
        """The frames; `InputError` while the simulation has not begun to write them."""
        if self._store is None:
            if self.simulation is not None and self.simulation.progress().frames == 0:
                raise InputError(self.name, "has no frame yet")
            self._store = FrameStore(Recording(self.folder))
        return self._store

    def refresh(self) -> dict[str, Any]:
        """Look at the disk and at the simulation: the status that the page gets when it changes.

        `generation` counts how often frames have been replaced, by a run that began anew or went back.
        """
        with self._lock:
            self._look()
            return {
                "name": self.name,
                "generation": self.generation,
                "count": len(self._frames),
                "simulation": asdict(self.simulation.progress()) if self.simulation else None,
            }

    def _look(self) -> None:
        """List the frames again, unless their folder has been as it is for a while: a thousand recordings that nobody
        writes cost next to nothing."""
        stamp, now = _changed_at(self.folder / "frames"), clock.time_ns()
        if stamp is not None and stamp == self._stamp and self._looked - stamp > SETTLED:
            return
        self._stamp, self._looked = stamp, now
        try:
            recording = self.store.recording
            frames = recording.frames
            birth = _birth(recording, frames)
        except InputError:
            frames, birth = [], None
        if self._frames and (frames[: len(self._frames)] != self._frames or birth != self._birth):
            self.generation += 1
            self._store = None
        self._frames, self._birth = frames, birth

    def frames_after(self, after: int) -> dict[str, Any]:
        """Frames with a number above `after`, their times [s], and what can colour them."""
        times = self._times()
        later = [frame for frame in times if frame > after]
        fields = self._fields(times)
        return {
            "name": self.name,
            "generation": self.generation,
            "frames": later,
            "times": [times[frame] for frame in later],
            "fields": fields,
        }

    def _fields(self, frames: Iterable[int]) -> list[dict[str, str]]:
        """What the first frame that can be read can be coloured by; that others cannot is told when they are shown."""
        for frame in frames:
            with suppress(CrumpleError):
                return self.store.fields(frame)
        return []

    def _times(self) -> dict[int, float]:
        """The time of every frame [s]; a frame whose time cannot be read is left out."""
        try:
            recording = self.store.recording
        except InputError:
            return {}
        known = dict(read_series(self.folder / FRAME_INDEX))
        times: dict[int, float] = {}
        for frame in recording.frames:
            path = recording.frame_path(frame)
            with suppress(CrumpleError):
                name = f"frames/{path.name}"
                times[frame] = known[name] if name in known else frame_time(path)
        return times

    def series(self) -> dict[str, Any]:
        """Numbers over frames, for the plots."""
        with self._lock:
            return self._log.series()

    def start(self) -> None:
        """Begin the simulation, if there is one."""
        if self.simulation is not None:
            self.simulation.start()

    def command(self, what: str) -> None:
        """Pause, continue or stop the simulation; `InputError` when the studio does not run it."""
        if self.simulation is None:
            raise InputError(self.name, "is a recording; only a simulation that the studio started can be controlled")
        self.simulation.ask(what)

    def hold(self, command: Mapping[str, Any]) -> None:
        """Let a hand of a page take, move or let go of the sheet while it is simulated, or fold driven creases."""
        from crumple.studio.holding import checked_wish  # loads what moves sheets, which recordings do not need

        checked = checked_wish(command)
        if self.simulation is None:
            raise InputError(self.name, "is a recording; only a simulation that the studio started can be taken")
        self.simulation.hold(checked)

    def refusals(self) -> list[Refusal]:
        """What the simulation could not do that pages had asked for, since this was last asked."""
        return [] if self.simulation is None else self.simulation.refusals()

    def forget_page(self, page: int) -> None:
        """A page has gone: its hands let go."""
        with suppress(InputError):
            if self.simulation is not None:
                self.simulation.hold({"do": "leave", "page": page})

    def close(self) -> str:
        """End the simulation, if there is one; a line that says how it ended, else ""."""
        if self.simulation is None:
            return ""
        progress = self.simulation.close()
        if progress.state == "preparing" and progress.frames == 0:
            return ""  # it was not begun, and nothing was changed
        if progress.state == "finished":
            return f"frames 0 to {progress.frames} in {self.folder}"
        if progress.state == "failed":
            return progress.message
        return f"stopped after frame {progress.frame}; go on with: crumple resume {self.folder}"


def _changed_at(folder: Path) -> int | None:
    """When something came into a folder or went [ns]; None when it is not there."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def _birth(recording: Recording, frames: list[int]) -> tuple[int, int] | None:
    """When and as which file the first frame was written: another one means another run."""
    if not frames:
        return None
    try:
        stat = recording.frame_path(frames[0]).stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_ino
