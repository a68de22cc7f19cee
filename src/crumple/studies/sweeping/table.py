"""The table of a sweep: a row per run with its parameters, its outcome, its metrics and where its recording is."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from crumple.recording.files import write_atomically
from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package
from crumple.studies.sweeping.folder import SweepFolder
from crumple.studies.sweeping.layout import RUNS, TABLES

OUTCOME = ("outcome", "reason", "frames", "time", "seconds")
DONE, FAILED, OPEN = "done", "failed", "unfinished"


def read_sweep(path: str | Path) -> Any:
    """The table of the sweep in a folder as a `pandas.DataFrame`, one row per planned run, indexed by the run's name.

    Columns: the varied keys, `seed` if there are seeds, `outcome` (done, failed, unfinished), `reason`, `frames`,
    simulated `time` [s], `seconds` of computation, the metrics, and the path of the `recording`.
    """
    folder = SweepFolder(path)
    table = make_table(folder)
    table["recording"] = [str(folder.path / place) for place in table["recording"]]
    return table


def make_table(folder: SweepFolder) -> Any:
    """The table from the plan and the log; recordings are named relative to the sweep's folder."""
    pandas = load_package("pandas", "crumple sweep", "sweep")
    plan, outcomes = folder.plan, folder.outcomes()
    metrics = dict.fromkeys(
        [*plan.metrics, *(name for line in outcomes.values() for name in line.get("metrics") or {})]
    )
    rows = []
    for run in plan.runs:
        line = outcomes.get(run.name, {"outcome": OPEN})
        found = line.get("metrics") or {}
        seed = {} if run.seed is None else {"seed": run.seed}
        rows.append(
            {"run": run.name, **run.values, **seed}
            | {name: line.get(name) for name in OUTCOME}
            | {name: found.get(name) for name in metrics}
            | {"recording": f"{RUNS}/{run.name}"}
        )
    table = pandas.DataFrame(rows).set_index("run")
    for name in (*metrics, "frames", "time", "seconds"):
        table[name] = pandas.to_numeric(table[name], errors="coerce")
    for key in rows[0]:
        if key in table and table[key].dtype == object:
            table[key] = [
                None if value is None else value if isinstance(value, str) else _shown(value) for value in table[key]
            ]
    return table


def write_table(folder: SweepFolder) -> None:
    """Write table.csv and table.parquet."""
    table = make_table(folder)
    write_atomically(folder.path / TABLES[0], table.to_csv().encode())
    content = io.BytesIO()
    table.to_parquet(content)
    write_atomically(folder.path / TABLES[1], content.getvalue())


def recordings(path: str | Path, *, only_done: bool = True) -> list[Path]:
    """The folders of a sweep's recordings, of those that are done or of all that are there."""
    folder = SweepFolder(path)
    done = {name for name, line in folder.outcomes().items() if line.get("outcome") == DONE}
    places = [folder.recording_path(run) for run in folder.plan.runs if not only_done or run.name in done]
    found = [place for place in places if (place / "frames").is_dir()]
    if not found:
        raise InputError(str(folder.path), "has no finished run yet")
    return found


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
