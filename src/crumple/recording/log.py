"""`log.jsonl`: one line per step, appended as the run goes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from crumple.recording.files import NO_LINKS, read_file, refuse_link, told_errors, write_all, write_atomically
from crumple.runtime.reading import MOST_BYTES, open_regular, read_lines

Line = dict[str, Any]
MOST_SHOWN = 60
"""Characters of a bad line that a message quotes."""
MOST_NAMED = 100
"""Bad lines that get a message of their own."""


class _Checked(BaseModel):
    """Types of the keys that crumple reads; others may be there too."""

    model_config = ConfigDict(extra="allow", strict=True)


class _FrameEnd(_Checked):
    seconds: float = 0.0
    faces: int = 0
    phases: dict[str, float] = {}
    warnings: list[str] = []
    linear_solver: str = ""


class _Pull(_Checked):
    force: list[float | None] = []
    displacement: list[float | None] = []
    work: float | None = None


class _LogLine(_Checked):
    frame: int = 0
    iterations: int = 0
    contacts: int = 0
    retries: int = 0
    energies: dict[str, float | None] = {}
    handles: dict[str, _Pull] = {}
    obstacles: dict[str, _Pull] = {}
    losses: dict[str, float | None] = {}
    ledger: dict[str, float | None] = {}
    frame_end: _FrameEnd = _FrameEnd()


@dataclass(frozen=True)
class Log:
    """The lines of a log that can be read, and a message for each that cannot."""

    lines: tuple[Line, ...]
    skipped: tuple[str, ...] = ()


class StepLog:
    """Appends lines; each is handed to the system at once, so a killed run loses at most the line being written."""

    def __init__(self, path: Path) -> None:
        refuse_link(path)
        self._file = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_LINKS)

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line."""
        write_all(self._file, (strict_json(line) + "\n").encode())

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def read_log(path: Path) -> Log:
    """The log at `path`, empty when there is none; a torn last line is left out, broken ones are named and left out."""
    if not path.exists():
        return Log(())
    lines: list[Line] = []
    skipped: list[str] = []
    bad = 0
    with told_errors(path):
        for number, text in enumerate(read_lines(path), 1):
            line = _take_line(text)
            if isinstance(line, str):
                bad += 1
                if bad <= MOST_NAMED:
                    skipped.append(f"{path}:{number}: not a line of a step log{line}; left out")
            else:
                lines.append(line)
    if bad > MOST_NAMED:
        skipped.append(f"{path}: {bad - MOST_NAMED} more lines are not of a step log; left out")
    return Log(tuple(lines), tuple(skipped))


def _take_line(content: bytes) -> Line | str:
    """The values of a line, or what of it is wrong."""
    text = content.decode(errors="replace")
    try:
        line: Line = json.loads(text)
        _LogLine.model_validate(line)
    except ValidationError as error:
        key = ".".join(str(step) for step in error.errors()[0]["loc"])
        return f" ({key})" if key else ""
    except (ValueError, RecursionError):
        shown = text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"
        return f": {shown!r}"
    return line


def cut_log(path: Path, keep: Callable[[Line], bool]) -> None:
    """Keep only the lines that `keep` accepts."""
    lines = [strict_json(line) + "\n" for line in read_log(path).lines if keep(line)]
    content = "".join(lines).encode()
    if not path.exists() or read_file(path, MOST_BYTES) != content:
        write_atomically(path, content)


def strict_json(value: Any, **options: Any) -> str:
    """`value` as JSON that every parser takes: numbers that are not finite become null."""
    return json.dumps(plain(value), allow_nan=False, **options)


def plain(value: Any) -> Any:
    """`value` in terms that JSON knows: dataclasses and mappings as objects, arrays as lists, no number as None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
