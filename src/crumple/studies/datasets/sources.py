"""Where the runs of a dataset come from: recordings, or sweeps, which are folders of recordings with a table."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.runtime.reading import MOST_TEXT, read_regular

SWEEP, TABLE = "sweep.toml", "table.csv"
PLACES = ("recording", "folder", "path")
"""Columns of a sweep's table in which the folder of a run may stand."""


@dataclass(frozen=True)
class Source:
    """A recording, the `name` of the run in the dataset, and what the table of its sweep says of it."""

    name: str
    recording: Recording
    parameters: dict[str, Any] = field(default_factory=dict)


def find_sources(paths: Sequence[str | Path]) -> list[Source]:
    """The runs in recordings and sweeps, in order; `InputError` when there is none, or one is given twice."""
    if not paths:
        raise InputError("dataset", "name at least one recording or sweep")
    found: list[Source] = []
    for path in map(Path, paths):
        is_sweep = (path / SWEEP).is_file() and not (path / "frames").is_dir()
        found += _runs_of_sweep(path) if is_sweep else [Source(shown_name(path), Recording(path))]
    seen: set[Path] = set()
    for source in found:
        place = source.recording.path.resolve()
        if place in seen:
            raise InputError("dataset", "this recording is given twice", str(source.recording.path))
        seen.add(place)
    empty = [str(source.recording.path) for source in found if not source.recording.frames]
    if empty:
        raise InputError(empty[0], "has no finished frame")
    return _distinct(found)


def _runs_of_sweep(path: Path) -> list[Source]:
    """The recordings of a sweep that have frames, with the rows of its table."""
    rows = _table_rows(path)
    folders = sorted(folder for folder in _recording_folders(path) if Recording(folder).frames)
    if not folders:
        raise InputError(str(path), "is a sweep without a recording that has frames; run it first")
    name = shown_name(path)
    return [Source(f"{name}/{shown_name(one)}", Recording(one), rows.get(one.resolve(), {})) for one in folders]


def shown_name(path: Path) -> str:
    """The name of a folder as text that every file can hold: bytes that are no UTF-8 become "\ufffd"."""
    return os.fsencode(path.absolute().name).decode("utf-8", "replace")


def _recording_folders(path: Path) -> Iterator[Path]:
    """The recordings in the folder of a sweep, or one level below."""
    for pattern in ("*/frames", "*/*/frames"):
        for frames in path.glob(pattern):
            if frames.is_dir() and not (frames.parent.parent / "frames").is_dir():
                yield frames.parent


def _table_rows(path: Path) -> dict[Path, dict[str, Any]]:
    """The rows of the table of a sweep by the folder of their run; empty when there is no table yet."""
    table = path / TABLE
    if not table.is_file():
        return {}
    try:
        rows = list(csv.DictReader(io.StringIO(read_regular(table, MOST_TEXT).decode(), newline="")))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(str(table), f"cannot be read as a table ({error})") from None
    found: dict[Path, dict[str, Any]] = {}
    for row in rows:
        for place in PLACES:
            if row.get(place) and "\0" not in row[place]:
                cells = [(key, text) for key, text in row.items() if key is not None and key not in PLACES]
                values = {key: _value(text) for key, text in cells if text}
                found[(path / row[place]).resolve()] = values
                break
    return found


def _value(text: str) -> Any:
    """A number or truth where the text is one."""
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except ValueError:
        return text


def _distinct(sources: list[Source]) -> list[Source]:
    """The same with different names."""
    taken: dict[str, int] = {}
    result = []
    for source in sources:
        count = taken[source.name] = taken.get(source.name, 0) + 1
        name = source.name if count == 1 else f"{source.name} ({count})"
        result.append(Source(name, source.recording, source.parameters))
    return result
