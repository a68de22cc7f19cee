"""Standard streams that are closed or go away: a run goes on without somebody to tell."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, TextIO


def secure_streams() -> None:
    """Make sure that stdin, stdout and stderr are open, and that nobody reading stderr is no error.

    A closed one is replaced by the null device: else the next file that is opened, a log, would get its number, and
    whatever a library writes to stderr would end up in it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = _null_device()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names that are no text in the user's encoding are shown with \\x…
            stream.reconfigure(errors="backslashreplace")
    sys.stderr = Heedless(sys.stderr or _null_device())  # type: ignore[assignment]


class Heedless:
    """A text stream whose write errors do not matter."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _null_device() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
