"""Text of scene files."""

from __future__ import annotations

from pathlib import Path

from crumple.runtime.errors import InputError
from crumple.runtime.reading import MOST_TEXT, read_regular


def read_text(path: Path, label: str) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; `label` names it in errors."""
    try:
        data = read_regular(path, MOST_TEXT)
    except OSError as error:
        raise InputError(label, f"cannot be read: {error.strerror or error}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{label}: line {line}", "is not UTF-8 text; is this a scene file?") from None
