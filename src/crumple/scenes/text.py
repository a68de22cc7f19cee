"""Text of scene files."""

from __future__ import annotations

from pathlib import Path

from crumple.errors import InputError


def read_text(path: Path, label: str) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; `label` names it in errors."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(label, f"cannot be read: {error.strerror or error}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{label}: line {line}", "is not UTF-8 text; is this a scene file?") from None
