"""The history of measurements: a file with one run of `crumple bench` per line, and the comparison with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crumple.recording.files import read_file
from crumple.recording.log import StepLog, plain
from crumple.runtime.errors import InputError
from crumple.runtime.reading import MOST_TEXT
from crumple.studies.benchmarking.report import Record, Report

NEW, GONE = "new", "not measured"
"""What a comparison says of rows that only one of the runs has."""


@dataclass(frozen=True)
class Entry:
    """One run of the benchmarks: `date` (UTC), whether it was `quick`, the `machine` and the records by benchmark."""

    date: str
    quick: bool
    machine: Mapping[str, str]
    records: Mapping[str, Sequence[Mapping[str, Any]]]


def make_entry(reports: Mapping[str, Report], machine: Mapping[str, str], *, quick: bool) -> Entry:
    """What a run that ends now adds to the history."""
    records = {name: plain(report.records) for name, report in reports.items()}
    return Entry(datetime.now(UTC).isoformat(timespec="seconds"), quick, dict(machine), records)


def append_entry(path: Path, entry: Entry) -> None:
    """Add a line to the history at `path`, which is made if it is not there."""
    log = StepLog(path)
    try:
        log.append(plain(entry))
    finally:
        log.close()


def read_history(path: Path) -> tuple[Entry, ...]:
    """The runs in the file at `path`, the oldest first: a history, or what `crumple bench --json` has printed.

    Lines that are torn or of another program are left out; InputError where none is left.
    """
    texts = read_file(path, MOST_TEXT).decode(errors="replace").splitlines()
    entries = [entry for text in texts if (entry := _parse(text)) is not None]
    if not entries:
        raise InputError(str(path), "has no line of `crumple bench --history` or `crumple bench --json`")
    return tuple(entries)


def find_entry(history: Sequence[Entry], name: str, *, quick: bool) -> Entry | None:
    """The last run in the history with the benchmark `name`, of the same length."""
    return next((entry for entry in reversed(history) if name in entry.records and entry.quick == quick), None)


def compare(report: Report, before: Sequence[Mapping[str, Any]]) -> list[Record]:
    """The costs of a report over those of the records `before`, row by row: above one, it takes more than it did.

    A row that only one of both has says so, and a cost that only one has is left out of its row.
    """
    then = {_key(record, report.names): record for record in before}
    now = {_key(record, report.names): record for record in report.records}
    rows: list[Record] = []
    for key in (*now, *(key for key in then if key not in now)):
        row: Record = dict(zip(report.names, key, strict=True))
        if key in now and key in then:
            row |= {f"{cost} ×": ratio for cost in report.costs if (ratio := _ratio(now[key], then[key], cost))}
        else:
            row["only"] = NEW if key in now else GONE
        rows.append(row)
    return rows


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """What is not the same of two machines, as "then → now"; ratios say little about the program where this is much."""
    keys = dict.fromkeys((*before, *now))
    return {key: f"{before.get(key, '–')} → {now.get(key, '–')}" for key in keys if before.get(key) != now.get(key)}


def _parse(text: str) -> Entry | None:
    """The run that one line tells of, None when it is none."""
    try:
        line = json.loads(text)
        records = {name: [dict(record) for record in rows] for name, rows in line["records"].items()}
        return Entry(str(line["date"]), bool(line["quick"]), dict(line["machine"]), records)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _key(record: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    """What a row is known by."""
    return tuple(record.get(name, "") for name in names)


def _ratio(now: Mapping[str, Any], before: Mapping[str, Any], cost: str) -> float | None:
    """A cost over what it was; None where there is none of both, or none to divide by."""
    new, old = now.get(cost), before.get(cost)
    if not isinstance(new, int | float) or not isinstance(old, int | float) or new <= 0.0 or not old > 0.0:
        return None
    return new / old
