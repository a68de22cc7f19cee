"""`crumple sweep`."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress

from crumple.cli.consoles import make_console, text_column
from crumple.cli.exits import FAILED, INTERRUPTED, fail
from crumple.cli.interruption import Interruption
from crumple.cli.sweep_analyzing import analyze_sweep
from crumple.runtime.errors import InputError
from crumple.studies.sweeping import PlannedRun, SweepFolder, Watcher, is_sweep, lead, make_plan
from crumple.studies.sweeping.estimate import Estimate, check_plan, show_time
from crumple.studies.sweeping.metrics import DEFAULT
from crumple.studies.sweeping.sweep import workers_here
from crumple.studies.sweeping.task import Outcome


def sweep_scene(
    scene: str | None,
    out: Path | None,
    *,
    vary: Sequence[str],
    metrics: Sequence[str],
    workers: int | None,
    scheduler: str | None,
    resume: bool,
    dry_run: bool,
    analyze: bool,
    **given: Any,
) -> None:
    """Do the runs of a sweep into `out`, or go on with it, then `analyze` it if asked to; exit 1 when runs failed."""
    if resume and scene is not None and out is None and is_sweep(scene):
        out, scene = Path(scene), None
    if out is None:
        raise InputError("crumple sweep", "--out DIR says where the sweep goes")
    if scene is None and not resume:
        raise InputError("crumple sweep", "name a scene, or a sweep to go on with: --resume --out DIR")
    if scene is None and (vary or any(given.values()) or metrics):
        raise InputError("--resume", "what is swept is in the sweep's folder; leave out the options that say it again")
    plan = None
    if scene is not None:
        plan = make_plan(scene, vary=tuple(vary), metrics=tuple(metrics) or DEFAULT, **given)
    console = make_console(stderr=True)
    shown = SweepProgress(console)
    if dry_run:
        estimate, _ = check_plan(plan or SweepFolder(out).plan, out, shown.on_note)
        return _show(console, estimate, workers_here(workers))
    try:
        with shown.interruption:
            lead(plan, out, resume=resume, workers=workers, scheduler=scheduler, watcher=shown)
    except KeyboardInterrupt:
        remedy = f"go on with: crumple sweep --resume --out {out}" if is_sweep(out) else "nothing was begun"
        fail(f"interrupted after {shown.done} of {shown.runs} runs; {remedy}", INTERRUPTED)
    console.print(
        f"{shown.done} of {shown.runs} runs done; table: {out / 'table.csv'}", highlight=False, soft_wrap=True
    )
    if analyze and shown.done:
        analyze_sweep(out, None, as_json=False)
    if shown.failed:
        console.print(f"{shown.failed} failed, for the reasons above and in the table; --resume tries them again")
        raise typer.Exit(FAILED)


def _show(console: Console, estimate: Estimate, workers: int) -> None:
    for line in estimate.describe(workers):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


class SweepProgress(Watcher):
    """Shows runs done and failed, frames, and the time left; failures as they happen."""

    def __init__(self, console: Console) -> None:
        self._console, self._lock = console, threading.Lock()
        self.interruption = Interruption()
        self.runs = self.done = self.failed = 0
        self._frames: dict[str, int] = {}
        self._begun: dict[str, int] = {}
        self._total, self._before, self._start = 0, 0, clock.monotonic()
        self._bar = Progress(
            text_column("{task.fields[status]}"),
            BarColumn(bar_width=None),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("sweep", total=1, status="")

    @contextmanager
    def held_off(self) -> Iterator[None]:
        with self.interruption.held_off():
            yield
        self.interruption.stop_if_asked()

    def on_note(self, text: str) -> None:
        self._console.print(f"note: {text}", highlight=False, markup=False, soft_wrap=True)

    def on_begin(self, estimate: Estimate, done: int, workers: int) -> None:
        self.runs, self.done, self._total = estimate.runs, done, max(estimate.frames, 1)
        self._before = round(self._total * done / estimate.runs)
        _show(self._console, estimate, workers)
        if done:
            self._console.print(f"{done} runs were done before", highlight=False)
        self._start = clock.monotonic()
        self._bar.update(self._task, total=self._total)
        self._bar.start()
        self._update()

    def on_news(self, run: str, frame: int, frames: int) -> None:
        with self._lock:
            self._begun.setdefault(run, frame)  # frames that were there before tell nothing of the speed
            self._frames[run] = frame
            self._update()

    def on_run(self, run: PlannedRun, outcome: Outcome) -> None:
        with self._lock:
            self._begun.setdefault(run.name, outcome.frames)
            self._frames[run.name] = outcome.frames
            self.done += outcome.outcome == "done"
            self.failed += outcome.outcome != "done"
            what = f"run {run.name} ({run.describe()})" if run.describe() else f"run {run.name}"
            if outcome.outcome != "done":
                self._say(f"{what} failed: {outcome.reason}", "red")
            elif outcome.reason:
                self._say(f"{what}: {outcome.reason}", "yellow")
            elif not self._console.is_terminal:
                self._say(f"{what}: {outcome.frames} frames in {show_time(outcome.seconds)}; {self._status()}")
            self._update()

    def on_end(self) -> None:
        self._bar.stop()

    def _say(self, text: str, style: str | None = None) -> None:
        self._console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    def _update(self) -> None:
        done = self._before + sum(self._frames.values())
        self._bar.update(self._task, completed=min(done, self._total), status=self._status())

    def _status(self) -> str:
        """Runs, failures, and the time left at the speed so far."""
        failed = f", {self.failed} failed" if self.failed else ""
        fresh = sum(self._frames.values()) - sum(self._begun.values())
        left = self._total - self._before - sum(self._frames.values())
        elapsed = clock.monotonic() - self._start
        rest = f", {show_time(left * elapsed / fresh)} left" if fresh and left > 0 else ""
        return f"{self.done}/{self.runs} runs{failed}{rest}"
