"""The one way in which crumple opens files that others may have made: regular files only, of a bounded size.

Opening a named pipe waits for its other end, where no signal handler of Python runs; a device may never end. Both are
refused before they are opened.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 2**32
"""No file that crumple reads as a whole is larger [bytes]."""
MOST_TEXT = 2**28
"""The same for scenes, indices and other text [bytes]."""
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
        content = b"" if os.fstat(file.fileno()).st_size > most else file.read(most + 1)
        if os.fstat(file.fileno()).st_size > most or len(content) > most:
            raise OSError(errno.EFBIG, f"is larger than {most} bytes", str(path))
        return content


def check_regular(path: str | Path) -> None:
    """`OSError` unless there is a regular file at `path`, or behind a link there."""
    _check_mode(os.stat(path).st_mode, path)


def _check_mode(mode: int, path: str | Path) -> None:
    if not stat.S_ISREG(mode):
        kind = "is a folder" if stat.S_ISDIR(mode) else "is not a regular file"
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, kind, str(path))
