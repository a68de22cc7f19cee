"""Files that are either complete or absent, whatever moment the process is killed at; never written through links."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import IO

from crumple.errors import CrumpleError, InputError

TEMPORARY_SUFFIX = ".part"
"""Marks a file that is still being written; it never ends in the name of a finished one."""
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""Opening a symbolic link fails (Windows has no such flag; there `refuse_link` looks first)."""
BINARY = getattr(os, "O_BINARY", 0)


class StorageError(CrumpleError):
    """The disk, not the content, is at fault: names the file, what the system said, and the remedy. Exit code 1."""

    def __init__(self, path: Path, error: OSError, remedy: str) -> None:
        self.path = path
        super().__init__(f"{path}: {error.strerror or error} ({remedy})")


class OccupiedFolder(InputError):  # noqa: N818 (the folder is occupied, nothing is wrong with it)
    """Another process holds the folder; it may be tried again later."""


def read_file(path: Path) -> bytes:
    """The content of a regular file.

    `InputError` when there is none; `StorageError` when it is there but the system does not give it.
    """
    try:
        if path.exists() and not path.is_file():
            raise InputError(str(path), "cannot be read (it is not a regular file)")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(str(path), f"cannot be read ({error.strerror})") from None
    except OSError as error:
        raise StorageError(path, error, "check the disk and the permissions; nothing was changed") from None


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` at `path`: temporary file in the same folder, fsync, rename, fsync of the folder.

    A link at `path` is replaced, not followed. When the disk is full, what was at `path` stays.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    temporary.unlink(missing_ok=True)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o666)
        try:
            write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of `content`; the system may take it in pieces."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def remove_temporaries(folder: Path) -> None:
    """Delete what interrupted writes left in `folder`."""
    for leftover in folder.glob("*" + TEMPORARY_SUFFIX):
        leftover.unlink(missing_ok=True)


def refuse_link(path: Path) -> None:
    """`InputError` when `path` is a symbolic link: what it points to is not the recording's own."""
    if path.is_symlink():
        raise InputError(str(path), "is a symbolic link, and recordings are not written through links; remove it")


def lock_folder(folder: Path) -> IO[bytes]:
    """Hold `folder` for one writer until the returned file is closed or the process ends.

    Two runs that write the same recording would interleave frames of different states.
    """
    path = folder / ".lock"
    refuse_link(path)
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_LINKS | BINARY, 0o666), "ab")
    try:
        lock_file(file)
    except OSError as error:
        file.close()
        if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            raise StorageError(path, error, "this file system cannot lock files; record somewhere else") from None
        raise OccupiedFolder(str(folder), "another process is writing this recording") from None
    return file


def lock_file(file: IO[bytes]) -> None:
    """Take an exclusive lock that the system releases when the process dies; OSError when it is taken."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable (Windows has no such call and needs none)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
