"""The one way in which crumple opens files that others may have made: regular files only, of a bounded size.

Opening a named pipe waits for its other end, where no signal handler of Python runs; a device may never end. Both are
refused before they are opened.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 2**30
"""No file that crumple reads as a whole is larger [bytes]: frames have 300 to 400 bytes per face."""
MOST_TEXT = 2**26
"""The same for scenes, marks, indices and other text that is parsed as a whole [bytes]."""
MOST_LINES = 5_000_000
"""No log has more lines."""
LONGEST_LINE = 2**24
"""What is longer is no line of a log [bytes]."""
BINARY = getattr(os, "O_BINARY", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def open_regular(path: str | Path, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """A descriptor of the regular file at `path`, opened with `flags` of `os.open`; `mode` is for a new one.

    `OSError` when it is a pipe, a device, a socket or a folder.
    """
    try:
        check_regular(path)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    descriptor = os.open(path, flags | BINARY | _AT_ONCE, mode)
    try:
        _check_mode(os.fstat(descriptor).st_mode, path)  # it may have been exchanged meanwhile
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The content of the regular file at `path`; `OSError` when there is none, or it has more than `most` bytes."""
    with os.fdopen(open_regular(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        content = b"" if size > most else file.read(size + 1)  # `read` makes room for all that it is asked for
        if len(content) > size:  # it grows
            content += file.read(most - size)
        if size > most or len(content) > most:
            raise OSError(errno.EFBIG, f"is larger than {most} bytes", str(path))
        return content


def read_lines(path: str | Path) -> Iterator[bytes]:
    """The complete lines of the regular file at `path`, one after the other; what follows the last newline is torn.

    A line beyond `LONGEST_LINE` is cut there. `OSError` when there is no such file, or it has more than `MOST_LINES`.
    """
    with os.fdopen(open_regular(path), "rb") as file:
        if os.fstat(file.fileno()).st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, f"is larger than {MOST_BYTES} bytes", str(path))
        for _ in range(MOST_LINES):
            line = file.readline(LONGEST_LINE)
            rest = line
            while len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
                rest = file.readline(LONGEST_LINE)
            if not rest.endswith(b"\n"):
                return
            yield line.removesuffix(b"\n")
        if file.read(1):
            raise OSError(errno.EFBIG, f"has more than {MOST_LINES} lines", str(path))


def begins_with(path: str | Path, start: bytes) -> bool:
    """Whether the content of the regular file at `path` begins so."""
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read(len(start)) == start


def is_torn(path: str | Path) -> bool:
    """Whether the regular file at `path` ends within a line."""
    with os.fdopen(open_regular(path), "rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        return file.read(1) not in (b"", b"\n")


def check_regular(path: str | Path) -> None:
    """`OSError` unless there is a regular file at `path`, or behind a link there."""
    _check_mode(os.stat(path).st_mode, path)


def _check_mode(mode: int, path: str | Path) -> None:
    if not stat.S_ISREG(mode):
        kind = "is a folder" if stat.S_ISDIR(mode) else "is not a regular file"
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, kind, str(path))
