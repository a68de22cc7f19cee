"""Numbers over the frames of a recording for the plots, read from its log as that grows."""

from __future__ import annotations

import json
import os
from math import isfinite
from pathlib import Path
from typing import IO, Any

from crumple.runtime.reading import LONGEST_LINE, MOST_BYTES, open_regular

MOST_NAMES = 64
"""Different energies or phases that are plotted; a log that names more is not one of crumple's."""


class SeriesReader:
    """Follows a log: each call of `series` reads only what was written since the last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._forget()

    def series(self) -> dict[str, Any]:
        """Frames with their faces, contacts, Newton iterations, wall seconds, seconds by phase and energies [J].

        Every list is as long as `frame`; None stands where the log has no number.
        """
        self._read_on()
        frames = sorted(self._rows)
        rows = [self._rows[frame] for frame in frames]
        columns = {name: [row[name] for row in rows] for name in ("faces", "contacts", "iterations", "seconds")}
        return {"frame": frames, **columns, "phases": _columns(rows, "phases"), "energies": _columns(rows, "energies")}

    def _forget(self) -> None:
        self._place, self._begin = 0, b""
        self._rows: dict[int, dict[str, Any]] = {}

    def _read_on(self) -> None:
        """Read the complete lines that came since; a log that was replaced or cut is read from its beginning."""
        try:
            with os.fdopen(open_regular(self._path), "rb") as file:
                begin, end = file.read(256), file.seek(0, os.SEEK_END)
                if not begin.startswith(self._begin) or end < self._place or end > MOST_BYTES:
                    self._forget()
                if end <= MOST_BYTES:
                    self._read_pieces(file)
                self._begin = begin[: self._place]
        except OSError:
            return self._forget()

    def _read_pieces(self, file: IO[bytes]) -> None:
        """Take the lines from the place reached, in pieces of at most `LONGEST_LINE` bytes."""
        file.seek(self._place)
        while piece := file.read(LONGEST_LINE):
            text, newline, _ = piece.rpartition(b"\n")
            if not newline and len(piece) < LONGEST_LINE:
                return
            for line in text.split(b"\n"):
                self._take(line)
            self._place += len(text) + 1 if newline else len(piece)
            file.seek(self._place)

    def _take(self, text: bytes) -> None:
        """Note the end of a frame; other lines, and those that cannot be read, are left out."""
        if b'"frame_end"' not in text:
            return
        try:
            line = json.loads(text)
            end = line["frame_end"]
            frame = int(end["frame"])
            self._rows[frame] = {
                "faces": _number(end.get("faces")),
                "contacts": _number(end.get("contacts_max")),
                "iterations": _number(end.get("iterations")),
                "seconds": _number(end.get("seconds")),
                "phases": _numbers(end.get("phases")),
                "energies": _numbers(end.get("energies") or line.get("energies")),
            }
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
            return


def _columns(rows: list[dict[str, Any]], key: str) -> dict[str, list[float | None]]:
    """Nested numbers as a list for each name, in the order in which the names appear."""
    names = list(dict.fromkeys(name for row in rows for name in row[key]))[:MOST_NAMES]
    return {name: [row[key].get(name) for row in rows] for name in names}


def _numbers(value: Any) -> dict[str, float | None]:
    return {str(name): _number(number) for name, number in value.items()} if isinstance(value, dict) else {}


def _number(value: Any) -> float | None:
    """A finite number, else None."""
    return value if isinstance(value, int | float) and isfinite(value) else None
