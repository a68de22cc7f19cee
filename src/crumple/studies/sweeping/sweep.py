"""Leads a sweep: hands the runs to workers, keeps what comes back, and writes table and log."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from crumple.contract import Term
from crumple.runtime.errors import CrumpleError, InputError, SimulationError
from crumple.runtime.packages import load_package
from crumple.scenes import Scene
from crumple.studies.sweeping.axes import axis_text
from crumple.studies.sweeping.cluster import (
    available_cores,
    check_sendable,
    check_workers,
    joined_workers,
    local_workers,
)
from crumple.studies.sweeping.estimate import Estimate, check_plan, named_files
from crumple.studies.sweeping.folder import SweepFolder, SweepWriter, check_vacant, create_sweep, open_sweep
from crumple.studies.sweeping.layout import PLAN, is_sweep
from crumple.studies.sweeping.metrics import DEFAULT, OwnMetrics
from crumple.studies.sweeping.packing import unpack
from crumple.studies.sweeping.plan import COLUMNS, Plan, PlannedRun, differences, make_plan
from crumple.studies.sweeping.table import read_sweep, write_table
from crumple.studies.sweeping.task import FULL, Outcome, Task, allow, ask_to_stop, discard, explain, news_topic, perform

TABLE_INTERVAL = 10.0
"""Seconds between two versions of the table while runs end."""
AHEAD = 2
"""Runs that a worker is given before it has ended one."""


class Watcher:
    """Is told how a sweep goes on; every method may be left as it is."""

    def held_off(self) -> AbstractContextManager[None]:
        """Inside of it an interruption waits: workers start and stop there, which Dask wants to do in peace."""
        return nullcontext()

    def on_note(self, text: str) -> None:
        """Something that the user should know."""

    def on_begin(self, estimate: Estimate, done: int, workers: int) -> None:
        """Workers are there; `done` runs were done before."""

    def on_news(self, run: str, frame: int, frames: int) -> None:
        """A run has come to a frame. Comes from another thread."""

    def on_run(self, run: PlannedRun, outcome: Outcome) -> None:
        """A run has ended."""

    def on_end(self) -> None:
        """No run is left, or the sweep was stopped."""


def sweep(
    scene: Scene | str | Path | None = None,
    *,
    out: str | Path,
    vary: Mapping[str, str | Sequence[Any]] | Sequence[str] = (),
    tie: Sequence[str] = (),
    sample: tuple[int, str] | None = None,
    seeds: int = 0,
    metrics: Sequence[str] | OwnMetrics | None = None,
    terms: Sequence[Term] = (),
    overrides: Sequence[str] = (),
    quick: bool = False,
    frames: int | None = None,
    until: float | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    watcher: Watcher | None = None,
) -> Any:
    """Run a scene with many values of its keys, and return the table of the runs as a `pandas.DataFrame`.

    `vary`: for each key a list of values, or a range "lo:hi:n" or "lo:hi:n:log"; all combinations are run, or `sample`
    (count, "sobol" | "lhs" | "random") of them, with ranges "lo:hi" or "lo:hi:log".  `tie`: keys that follow varied
    ones, "key=factor*key".  `seeds`: each that often, with other random offsets of the start (the scene's jitter).
    `metrics`: names as in `crumple sweep --metric`, or functions of the `Recording` by name.  `terms`: your own, added
    to the model of every run, see `Model.with_term` and `crumple.energy`; to go on with such a sweep they are given
    again.  `overrides`, `quick`, `frames`, `until` as for `crumple.simulate` and `crumple run`.
    `workers`: processes on this machine, one per core by default, or the address of a Dask `scheduler`.
    `resume`: go on with the sweep in the folder `out`, whose scene need not be given again.

    Every run is an ordinary recording below `out`. A run that fails is a row with its reason.
    """
    own: OwnMetrics = metrics if isinstance(metrics, Mapping) else {}
    names = DEFAULT if metrics is None or own else tuple(metrics)
    texts = [axis_text(key, values) for key, values in vary.items()] if isinstance(vary, Mapping) else list(vary)
    plan = None
    if scene is not None:
        plan = make_plan(
            scene, set=tuple(overrides), vary=tuple(texts), tie=tuple(tie), sample=sample, seeds=seeds, metrics=names,
            terms=tuple(term.name for term in terms), quick=quick, frames=frames, until=until,
        )  # fmt: skip
    lead(plan, out, resume=resume, workers=workers, scheduler=scheduler, own=own, terms=terms, watcher=watcher)
    return read_sweep(out)


def lead(
    plan: Plan | None,
    out: str | Path,
    *,
    resume: bool = False,
    workers: int | None = None,
    scheduler: str | None = None,
    own: OwnMetrics | None = None,
    terms: Sequence[Term] = (),
    watcher: Watcher | None = None,
) -> None:
    """Do all runs of a `plan` into the folder `out`; with `resume` what is left of them, there without a plan, too."""
    for package in ("distributed", "pandas", "pyarrow"):
        load_package(package, "crumple sweep", "sweep")
    if workers is not None and scheduler is not None:
        raise InputError("--workers, --scheduler", "give only one of them")
    folder, watching = Path(out), watcher or Watcher()
    plan = _settled(plan, folder, resume)
    if sorted(plan.terms) != sorted(term.name for term in terms):
        remedy = f"crumple.sweep(out={str(folder)!r}, resume=True, terms=[…]) goes on with them"
        raise InputError(
            str(folder), f"was begun with the terms {', '.join(plan.terms) or 'of the scene only'}; {remedy}"
        )
    taken = [name for name in own or {} if name in {*COLUMNS, *(axis.key for axis in plan.axes)}]
    if taken:
        raise InputError(f"crumple.sweep: metrics {taken[0]}", "the table has such a column; choose another name")
    for name, sent in [*(own or {}).items(), *((term.name, term) for term in terms)]:
        check_sendable(name, sent)
    estimate, scenes = check_plan(plan, folder, watching.on_note)
    connection: AbstractContextManager[Any] = (
        local_workers(workers) if scheduler is None else joined_workers(scheduler, watching.on_note)
    )
    with ExitStack() as stack:
        with watching.held_off():
            client = stack.enter_context(connection)
        check_workers(client, named_files(scenes), watching.on_note)
        with open_sweep(folder) if is_sweep(folder) else create_sweep(folder, plan) as writer:
            _Leader(client, writer, scenes, own or {}, tuple(terms), watching).run(estimate)


def _settled(plan: Plan | None, folder: Path, resume: bool) -> Plan:
    """The plan to follow: the one in the folder when the sweep is resumed, which a given one must agree with."""
    if not resume:
        if plan is None:
            raise InputError("crumple sweep", "name a scene, or a sweep to go on with: --resume --out DIR")
        check_vacant(folder)
        return plan
    if not is_sweep(folder):
        if plan is not None and not folder.exists():
            return plan  # killed before it had begun
        raise InputError(str(folder), "holds no sweep to resume")
    stored = SweepFolder(folder).plan
    if plan is not None:
        other = differences(stored, plan)
        if other:
            remedy = "leave out what is in its sweep.toml, or choose a new folder"
            raise InputError(str(folder), f"was begun with another {', '.join(other)}; {remedy}")
    return stored


@dataclass
class _Leader:
    """The loop of a sweep."""

    client: Any
    writer: SweepWriter
    scenes: list[Scene]
    own: OwnMetrics
    terms: tuple[Term, ...]
    watcher: Watcher
    done: int = 0
    flying: dict[str, tuple[PlannedRun, Any]] = field(default_factory=dict)
    is_shared: bool = True  # as far as is known
    written: float = 0.0

    @property
    def plan(self) -> Plan:
        return self.writer.folder.plan

    def run(self, estimate: Estimate) -> None:
        """Do all runs that are left."""
        folder, client = self.writer.folder, self.client
        self.left = folder.unfinished()[::-1]
        self.done = len(self.plan.runs) - len(self.left)
        workers = len(client.nthreads())
        self.writer.note("begin", left=len(self.left), workers=workers)
        client.run(allow, self.plan.id)
        client.subscribe_topic(news_topic(self.plan.id), self._hear)
        self.watcher.on_begin(estimate, self.done, workers)
        try:
            self._loop()
        except OSError as error:
            self._stop()
            raise SimulationError(f"{self._reached(explain(error))}; then go on with: {self._command()}") from None
        except BaseException:
            self._stop()
            raise
        finally:
            self.watcher.on_end()
            self._finish()

    def _loop(self) -> None:
        """Hand out runs and take what comes back until nothing is left."""
        from distributed import as_completed

        completed = as_completed(loop=self.client.loop)
        self._hand_out(completed)
        for future in completed:
            self._take(future)
            self._hand_out(completed)

    def _hand_out(self, completed: Any) -> None:
        """Keep workers busy: so many runs ahead that none waits, so few that a stop loses nothing."""
        most = AHEAD * max(1, len(self.client.nthreads())) if self.left else 0
        while self.left and len(self.flying) < most:
            run = self.left.pop()
            task = self._task(run)
            future = self.client.submit(perform, task, key=f"crumple-{self.plan.id}-{run.name}", pure=False)
            self.flying[future.key] = run, future
            completed.add(future)

    def _task(self, run: PlannedRun) -> Task:
        folder = self.writer.folder
        scene, place = self.scenes[int(run.name)], str(folder.recording_path(run).absolute())
        mark = str((folder.path / PLAN).absolute())
        return Task(self.plan.id, run.name, scene, place, self.plan.metrics, self.own, self.terms, mark=mark)

    def _take(self, future: Any) -> None:
        """Keep what a run has come to."""
        run, _ = self.flying.pop(future.key)
        outcome = self._outcome(future, run)
        if outcome.packed is not None:
            outcome = self._received(outcome, run)
        future.release()
        if outcome.outcome == "stopped":  # by whoever led this sweep before
            self.left.append(run)
            return
        self.watcher.on_run(run, outcome)
        if outcome.is_disk_full:
            with suppress(OSError):
                self.writer.note("run", **outcome.line(), scene=run.describe())
            raise SimulationError(f"{self._reached(outcome.reason)}; make room, then go on with: {self._command()}")
        self.writer.note("run", **outcome.line(), scene=run.describe())
        self.done += outcome.outcome == "done"
        if clock.monotonic() - self.written > TABLE_INTERVAL:
            self.written = clock.monotonic()
            write_table(self.writer.folder)

    def _outcome(self, future: Any, run: PlannedRun) -> Outcome:
        """What the worker tells; when it cannot, why."""
        from distributed import KilledWorker

        try:
            if future.status in ("cancelled", "lost"):
                raise SimulationError(f"{self._reached('the scheduler is gone')}; go on with: {self._command()}")
            found: Outcome = future.result()
            return found
        except CrumpleError:
            raise
        except KilledWorker:
            reason = "every worker that tried it died; is there too little memory? (the log of the workers tells more)"
            return Outcome(run.name, "failed", reason)
        except Exception as error:  # what Dask says when a worker cannot load or return something
            return Outcome(run.name, "failed", explain(error))

    def _received(self, outcome: Outcome, run: PlannedRun) -> Outcome:
        """Unpack a recording that was sent back; the worker's copy is removed once it is here."""
        assert outcome.packed is not None
        folder = self.writer.folder
        if self.is_shared:
            self.is_shared = False
            self.watcher.on_note("workers do not share this file system: recordings are sent back as they end")
        try:
            unpack(outcome.packed, folder.recording_path(run))
        except OSError as error:
            return replace(
                outcome, outcome="failed", reason=explain(error), packed=None, is_disk_full=error.errno in FULL
            )
        with suppress(Exception):  # a worker that has gone meanwhile keeps its copy
            self.client.run(discard, self.plan.id, run.name)
        return replace(outcome, packed=None)

    def _hear(self, event: tuple[float, Any]) -> None:
        """News of a worker."""
        with suppress(LookupError, TypeError):
            self.watcher.on_news(event[1]["run"], event[1]["frame"], event[1]["frames"])

    def _stop(self) -> None:
        """Let workers end what they are at; the frames that are done stay."""
        with suppress(Exception):  # they may be gone
            self.client.cancel([future for _, future in self.flying.values()], force=True)
        with suppress(Exception):
            self.client.run(ask_to_stop, self.plan.id, wait=False)

    def _finish(self) -> None:
        """Write the table and the last line of the log, also when the sweep was stopped."""
        with suppress(OSError):  # a full disk has been told of
            write_table(self.writer.folder)
            self.writer.note("end", done=self.done, of=len(self.plan.runs))

    def _reached(self, why: str) -> str:
        return f"{self.writer.folder.path}: {why}; {self.done} of {len(self.plan.runs)} runs are done"

    def _command(self) -> str:
        return f"crumple sweep --resume --out {self.writer.folder.path}"


def workers_here(workers: int | None) -> int:
    """How many workers a sweep on this machine has."""
    return available_cores() if workers is None else workers
