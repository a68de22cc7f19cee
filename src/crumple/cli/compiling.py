"""Compiles kernels, which makes the first run on a machine start late, and shows which, and how many are left."""

from __future__ import annotations

import atexit
import subprocess
import sys
import threading
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress

from crumple.cli.consoles import text_column
from crumple.runtime.caching import kernels_compiled
from crumple.runtime.errors import InputError

if TYPE_CHECKING:
    from crumple.runtime.compilation import CompilationWatch

HEARTBEAT = 10.0
"""Seconds between two lines about compilation where there is no terminal."""
GLANCE = 0.2
"""Seconds between two looks at what is being compiled."""


class Stage(NamedTuple):
    """A part of the kernels: what it is for, and about how many kernels it has when those
    before it are there (for the display only)."""

    what: str
    kernels: int


STAGES = {
    "steps": Stage("time steps with contact and creases", 212),
    "edits": Stage("edits of meshes", 149),
    "remeshing": Stage("remeshing during a run", 43),
    "large": Stage("steps of large sheets", 20),
    "rendering": Stage("pictures and films", 69),
}
_CACHED = {
    "steps": "solving",
    "edits": "remeshing",
    "remeshing": "remeshing",
    "large": "large",
    "rendering": "rendering",
}


class Tally:
    """How many kernels of so many `expected` have been compiled, here and in another process, and the last of them."""

    def __init__(self, expected: int) -> None:
        self.expected, self.done, self.last = expected, 0, ""

    def add(self, name: str) -> None:
        self.done, self.last = self.done + 1, name

    @property
    def total(self) -> int:
        """About how many there are: never fewer than have been seen."""
        return max(self.expected, self.done)


class Helper:
    """A second process that compiles `stages`, one after the other, into Numba's cache, and tells of each kernel.

    Should it fail, the kernels are compiled when they are needed.
    """

    def __init__(self, stages: Sequence[str], tally: Tally) -> None:
        self._finished = {stage: threading.Event() for stage in stages}
        self._tally = tally
        command = [sys.executable, "-c", "from crumple.cli.compiling import report; report()", *stages]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        threading.Thread(target=self._listen, name="crumple-compiling", daemon=True).start()
        atexit.register(self.stop)

    def wait(self, stage: str) -> None:
        """Wait until a stage is done, if it is one of this process."""
        if stage in self._finished:
            self._finished[stage].wait()

    def stop(self) -> None:
        """End the process, whatever it is at: what it has compiled is kept."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            kind, _, name = line.strip().partition(" ")
            if kind == "kernel":
                self._tally.add(name)
            elif name in self._finished:
                self._finished[name].set()
        for finished in self._finished.values():
            finished.set()


_helper: list[Helper] = []


def compile_with_notice(console: Console, *, remeshing: bool) -> None:
    """Compile what a run needs before it starts, if that has not been done on this machine, and show how far that is.

    The edits of the mesh take as long as all the rest: a second process compiles them at the same time. A mesh that
    follows its sheet may grow large: the same process goes on with the kernels for that while the run begins.
    """
    missing = find_missing([*STAGES][:4] if remeshing else ["steps"])
    here = [stage for stage in ("steps", "remeshing") if stage in missing]
    beside = [stage for stage in ("edits", "large") if stage in missing]
    tally = Tally(expected_kernels([*here, *(stage for stage in beside if stage != "large")]))
    if beside:
        _helper[:] = [Helper(beside, tally)]
    if here:
        with shown(console, tally):
            for stage in here:
                if stage == "remeshing" and beside:
                    _helper[0].wait("edits")
                compile_stage(stage)


def compile_large_with_notice(console: Console, faces: int) -> None:
    """The same with what a sheet of so many `faces` needs besides, if it is a large one."""
    from crumple.solving.tuning import TUNING

    if faces < TUNING.compact_faces.value or not find_missing(["large"]):
        return
    tally = Tally(expected_kernels(["large"]))
    with shown(console, tally):
        if _helper:
            _helper[0].wait("large")
        else:
            compile_stage("large")


def compile_now(console: Console, stages: Sequence[str]) -> None:
    """Compile these stages, all if none are named, that have not been compiled on this machine: `crumple compile`."""
    for stage in stages:
        if stage not in STAGES:
            raise InputError("compile STAGE", f"must be one of {', '.join(STAGES)}", stage)
    missing = find_missing(stages or [*STAGES])
    if not missing:
        console.print("all kernels are compiled")
        return
    with shown(console, Tally(expected_kernels(missing))):
        for stage in missing:
            compile_stage(stage)


def find_missing(stages: Sequence[str]) -> list[str]:
    """Those of `stages` whose kernels Numba's cache does not hold."""
    return [stage for stage in stages if not kernels_compiled(_CACHED[stage])]


def expected_kernels(stages: Sequence[str]) -> int:
    """About how many kernels these stages have."""
    return sum(STAGES[stage].kernels for stage in stages)


def compile_stage(stage: str) -> None:
    """Run something tiny that needs all the kernels of a stage."""
    from crumple.simulation import warming

    def remesh() -> None:
        warming.compile_sizing()
        warming.compile_remeshing()

    stages: dict[str, Callable[[], None]] = {
        "steps": warming.compile_stepping,
        "edits": warming.compile_edits,
        "remeshing": remesh,
        "large": warming.compile_large,
        "rendering": _compile_rendering,
    }
    stages[stage]()


def report() -> None:
    """What the second process does: compile the stages that its arguments name, and tell of each kernel on a line."""
    from crumple.runtime.compilation import CompilationWatch

    with CompilationWatch(lambda name: print("kernel", name, flush=True)):
        for stage in sys.argv[1:]:
            compile_stage(stage)
            print("done", stage, flush=True)


@contextmanager
def shown(console: Console, tally: Tally) -> Iterator[None]:
    """Count what is compiled meanwhile in `tally`, and show it: a bar on a terminal, else a line every ten seconds."""
    from crumple.runtime.compilation import CompilationWatch

    begin, over = clock.monotonic(), threading.Event()
    console.print(f"first run here: compiling about {tally.expected} kernels, once on this machine …", highlight=False)
    with CompilationWatch(tally.add) as watch:
        show = _draw if console.is_terminal else _print_lines
        thread = threading.Thread(target=show, args=(console, tally, watch, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
    console.print(f"compiled {tally.done} kernels in {clock.monotonic() - begin:.0f} s", highlight=False)


def _draw(console: Console, tally: Tally, watch: CompilationWatch, over: threading.Event) -> None:
    columns = (text_column("{task.completed:.0f}/{task.total:.0f}"), BarColumn(), text_column("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=tally.total)
        while not over.wait(GLANCE):
            bar.update(task, completed=tally.done, total=tally.total, description=watch.current or tally.last)


def _print_lines(console: Console, tally: Tally, watch: CompilationWatch, over: threading.Event) -> None:
    begin = clock.monotonic()
    while not over.wait(HEARTBEAT):
        name, seconds = watch.current or tally.last, clock.monotonic() - begin
        console.print(
            f"compiling: {tally.done} of about {tally.total} kernels, now {name}, {seconds:.0f} s so far",
            highlight=False,
        )


def _compile_rendering() -> None:
    """Draw a film and a picture of a sheet in a glass sphere that has not been simulated."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from crumple.recording.recorder import create_recording
    from crumple.recording.recording import Recording
    from crumple.rendering import render_film, render_frame
    from crumple.scenes import build, dump_scene, load_scene

    scene = load_scene("ball", quick=True)
    with TemporaryDirectory() as folder:
        model, state, _ = build(scene)
        with create_recording(Path(folder) / "sheet", dump_scene(scene)) as recorder:
            recorder.on_start(model, state)
        recording = Recording(Path(folder) / "sheet")
        render_film(recording, Path(folder) / "film.gif", size=(64, 48))
        render_frame(recording, 0, Path(folder) / "picture.png", size=(64, 48))
