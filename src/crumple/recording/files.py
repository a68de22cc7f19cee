"""Files that are either complete or absent, whatever moment the process is killed at; never written through links."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from crumple.runtime.errors import CrumpleError, InputError
from crumple.runtime.reading import BINARY, MOST_TEXT, open_regular, read_regular

TEMPORARY_SUFFIX = ".part"
"""Marks a file that is still being written; it never ends in the name of a finished one."""
STAGE_PREFIX = ".crumple-"
"""How the names of folders begin in which output is prepared."""
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""Opening a symbolic link fails (Windows has no such flag; there `refuse_link` looks first)."""


class StorageError(CrumpleError):
    """The disk, not the content, is at fault: names the file, what the system said, and the remedy. Exit code 1."""

    def __init__(self, path: Path, error: OSError, remedy: str) -> None:
        self.path = path
        super().__init__(f"{path}: {error.strerror or error} ({remedy})")


class OccupiedFolder(InputError):  # noqa: N818 (the folder is occupied, nothing is wrong with it)
    """Another process holds the folder; it may be tried again later."""


def read_file(path: Path, most: int = MOST_TEXT) -> bytes:
    """The content of a regular file of at most `most` bytes.

    `InputError` when there is none; `StorageError` when it is there but the system does not give it.
    """
    with told_errors(path):
        return read_regular(path, most)


@contextmanager
def told_errors(path: Path) -> Iterator[None]:
    """Errors of the system on reading `path` become an `InputError` (no such file) or a `StorageError` (the disk)."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.EFBIG):
            raise InputError(str(path), f"cannot be read ({error.strerror})") from None
        raise StorageError(path, error, "check the disk and the permissions; nothing was changed") from None


def read_text_file(path: Path) -> str:
    """The text of a UTF-8 file of a recording; errors as with `read_file`, ValueError for bytes that are no text."""
    return read_file(path).decode()


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


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """Where to write the file that is to be at `path` once it is complete: the same name in a new folder beside it.

    Nobody else can have put anything there, and two writers do not meet. A link at `path` is replaced, not followed.
    When writing fails nothing is left, and what was at `path` stays; `StorageError` when the disk is at fault.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=STAGE_PREFIX, dir=path.absolute().parent))
    except OSError as error:
        raise StorageError(path, error, "nothing was written") from None
    try:
        yield folder / path.name
        descriptor = open_regular(folder / path.name)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(folder / path.name, path)
    except OSError as error:
        raise StorageError(path, error, "nothing was written, and what was there stays") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def staged_together(folder: Path) -> Iterator[Path]:
    """Where to write several files that are to be in `folder` once all of them are complete: a new folder in it.

    When one of them fails nothing is left, and what was in `folder` stays.
    """
    try:
        stage = Path(tempfile.mkdtemp(prefix=STAGE_PREFIX, dir=folder))
    except OSError as error:
        raise StorageError(folder, error, "nothing was written") from None
    try:
        yield stage
        for item in sorted(stage.iterdir()):
            os.replace(item, folder / item.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def write_output(path: Path, content: bytes) -> None:
    """Put `content` at `path`, a place of the user's own choice; errors as with `staged`."""
    with staged(path) as place:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o666)
        try:
            write_all(descriptor, content)
        finally:
            os.close(descriptor)


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
    file = os.fdopen(open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_LINKS), "ab")
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
