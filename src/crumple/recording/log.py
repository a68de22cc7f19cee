"""`log.jsonl`: one line per step, appended as the run goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crumple.errors import InputError
from crumple.recording.files import write_atomically

Line = dict[str, Any]


class StepLog:
    """Appends lines; each is handed to the system at once, so a killed run loses at most the line being written."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line."""
        self._file.write(json.dumps(plain(line), allow_nan=True) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_log(path: Path) -> list[Line]:
    """The lines of a log; a torn last line is left out, a broken line elsewhere is an `InputError`."""
    if not path.exists():
        return []
    texts = path.read_text(encoding="utf-8", errors="replace").split("\n")
    lines: list[Line] = []
    for number, text in enumerate(texts, 1):
        if number == len(texts):
            break  # what follows the last newline is empty or torn
        try:
            line = json.loads(text)
            if not isinstance(line, dict):
                raise ValueError
        except ValueError:
            raise InputError(f"{path}:{number}", "not a line of a step log", text) from None
        lines.append(line)
    return lines


def cut_log(path: Path, keep: Callable[[Line], bool]) -> None:
    """Keep only the lines that `keep` accepts."""
    lines = [json.dumps(line) + "\n" for line in read_log(path) if keep(line)]
    write_atomically(path, "".join(lines).encode())


def plain(value: Any) -> Any:
    """`value` in terms that JSON knows: dataclasses and mappings as objects, arrays as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
