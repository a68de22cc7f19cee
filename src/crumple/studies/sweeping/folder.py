"""The folder of a sweep.

sweep.toml                 what is swept; scene.toml is the scene before any override
runs/0000 …                the recordings
table.parquet, table.csv   parameters, outcome and metrics, a row per run
log.jsonl                  one line for everything that happened; the tables are made from it
.lock                      the lock of the sweep that writes here
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import tomli_w
from pydantic import BaseModel, ConfigDict, ValidationError

from crumple.recording.files import (
    TEMPORARY_SUFFIX,
    OccupiedFolder,
    lock_folder,
    read_file,
    told_errors,
    write_all,
    write_atomically,
)
from crumple.recording.log import StepLog
from crumple.runtime.errors import InputError
from crumple.runtime.reading import is_torn, read_lines
from crumple.studies.sweeping.layout import LOCK, LOG, PLAN, RUNS, SCENE, is_sweep
from crumple.studies.sweeping.plan import Plan, PlannedRun, plan_tables, read_plan

Line = dict[str, Any]


class _RunLine(BaseModel):
    """Types of what the log says of a run."""

    model_config = ConfigDict(extra="allow", strict=True)

    run: str
    outcome: str
    reason: str = ""
    frames: int = 0
    time: float | None = None
    seconds: float | None = None
    metrics: dict[str, float | bool | None] = {}


class SweepFolder:
    """The sweep in folder `path`; `InputError` when there is none."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not is_sweep(self.path):
            raise InputError(
                str(self.path), "is not a sweep (it has no sweep.toml and no runs); `crumple sweep` makes one"
            )
        texts = [read_file(self.path / name).decode(errors="replace") for name in (PLAN, SCENE)]
        self.plan = read_plan(texts[0], texts[1], str(self.path / PLAN))

    def recording_path(self, run: PlannedRun | str) -> Path:
        """The folder of a run's recording, there or not."""
        return self.path / RUNS / (run if isinstance(run, str) else run.name)

    def outcomes(self) -> dict[str, Line]:
        """What the log says of each run that has ended, by its name: the last word counts, if it makes sense."""
        found: dict[str, Line] = {}
        for line in self.log():
            if line.get("event") == "run":
                with suppress(ValidationError):
                    found[_RunLine.model_validate(line).run] = line
        return found

    def log(self) -> list[Line]:
        """The lines of the log; what a kill has torn is left out."""
        path = self.path / LOG
        lines = []
        with told_errors(path):
            for text in read_lines(path) if path.exists() else ():
                with suppress(ValueError, RecursionError):
                    line = json.loads(text)
                    if isinstance(line, dict):
                        lines.append(line)
        return lines

    def unfinished(self) -> list[PlannedRun]:
        """The runs that are not done: those that failed are tried again."""
        done = {name for name, line in self.outcomes().items() if line.get("outcome") == "done"}
        return [run for run in self.plan.runs if run.name not in done or not self.recording_path(run).is_dir()]


class SweepWriter:
    """Holds the lock of a sweep's folder, and writes its log."""

    def __init__(self, folder: SweepFolder, lock: IO[bytes]) -> None:
        self.folder, self._lock = folder, lock
        path = folder.path / LOG
        self._log = StepLog(path)
        if is_torn(path):
            write_all(self._log._file, b"\n")  # after a line that a kill has torn

    def note(self, event: str, **values: Any) -> None:
        """Add a line to the log."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._log.append({"at": now, "event": event, **values})

    def close(self) -> None:
        """Give the folder free."""
        self._log.close()
        self._lock.close()

    def __enter__(self) -> SweepWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def create_sweep(path: str | Path, plan: Plan) -> SweepWriter:
    """Make the folder of a new sweep; `InputError` when there is anything in it, also a sweep."""
    folder = Path(path)
    check_vacant(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = _lock(folder)
        check_vacant(folder)  # again, now that nobody else writes here
        write_atomically(folder / SCENE, tomli_w.dumps(_plain(plan.tables)).encode())
        (folder / RUNS).mkdir(exist_ok=True)
        write_atomically(folder / PLAN, tomli_w.dumps(plan_tables(plan)).encode())
    except OSError as error:
        raise InputError(str(folder), f"cannot be created ({error.strerror})") from None
    return SweepWriter(SweepFolder(folder), lock)


def open_sweep(path: str | Path) -> SweepWriter:
    """Go on with the sweep in `path`; `InputError` when another process does so already."""
    folder = SweepFolder(path)
    return SweepWriter(folder, _lock(folder.path))


def check_vacant(folder: Path) -> None:
    """`InputError` unless a new sweep may be written into `folder`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(str(folder), "is a file; choose a folder for the sweep")
    if is_sweep(folder):
        raise InputError(str(folder), "already holds a sweep; --resume goes on with it, or choose a new folder")
    begun = {LOCK, SCENE, RUNS, f"{SCENE}{TEMPORARY_SUFFIX}", f"{PLAN}{TEMPORARY_SUFFIX}"}  # killed at its very start
    rest = {item.name for item in folder.iterdir()} - begun if folder.is_dir() else set()
    if rest:
        some = ", ".join(sorted(rest)[:3])
        raise InputError(str(folder), f"holds other files ({some}); choose a new folder for the sweep")


def _lock(folder: Path) -> IO[bytes]:
    try:
        return lock_folder(folder)
    except OccupiedFolder:
        raise InputError(
            str(folder), "another sweep is writing this folder; wait for it or choose another one"
        ) from None


def _plain(value: Any) -> Any:
    """Tables that TOML can write: what is None is left out."""
    if isinstance(value, Mapping):
        return {key: _plain(below) for key, below in value.items() if below is not None}
    return [_plain(below) for below in value] if isinstance(value, list | tuple) else value
