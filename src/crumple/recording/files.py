"""Files that are either complete or absent, whatever moment the process is killed at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from crumple.errors import InputError

TEMPORARY_SUFFIX = ".part"
"""Marks a file that is still being written; it never ends in the name of a finished one."""


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` at `path`: temporary file in the same folder, fsync, rename, fsync of the folder."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    _sync_folder(path.parent)


def remove_temporaries(folder: Path) -> None:
    """Delete what interrupted writes left in `folder`."""
    for leftover in folder.glob("*" + TEMPORARY_SUFFIX):
        leftover.unlink(missing_ok=True)


def lock_folder(folder: Path) -> IO[bytes]:
    """Hold `folder` for one writer until the returned file is closed or the process ends.

    Two runs that write the same recording would interleave frames of different states.
    """
    file = open(folder / ".lock", "ab")  # noqa: SIM115
    try:
        _lock(file)
    except OSError:
        file.close()
        raise InputError(str(folder), "another process is writing this recording") from None
    return file


def _lock(file: IO[bytes]) -> None:
    """Take an exclusive lock that the system releases when the process dies; OSError when it is taken."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable (Windows has no such call and needs none)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
