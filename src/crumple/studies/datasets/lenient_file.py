"""A file that HDF5 can write to on a disk that runs full."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from crumple.recording.files import NO_LINKS, StorageError, lock_file
from crumple.runtime.errors import InputError
from crumple.runtime.reading import open_regular


class LenientFile(io.FileIO):
    """A new file for one writer, whose writes never fail: the first error is kept in `error`, and what could not be
    written reads as zeros.

    HDF5 crashes when it closes a file that it could not write to. So it is not told; whoever writes has to look at
    `error` and throw the file away.
    """

    def __init__(self, path: Path) -> None:
        """`InputError` when another process is writing this file, `StorageError` when it cannot be made."""
        self.error: OSError | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = open_regular(path, os.O_RDWR | os.O_CREAT | NO_LINKS)
        except OSError as error:
            raise StorageError(path, error, "choose another place for the dataset") from None
        super().__init__(descriptor, "r+b")
        try:
            lock_file(self)
        except OSError:
            self.close()
            raise InputError(str(path), "another process is writing this dataset") from None
        super().truncate(0)

    def write(self, data: Any) -> int:
        """Write all of `data`, or keep the error."""
        view = memoryview(data).cast("B")
        end = self.tell() + len(view)
        try:
            while view:
                view = view[super().write(view) :]
        except OSError as error:
            self.error = self.error or error
            self.seek(end)
        return len(memoryview(data).cast("B"))

    def readinto(self, buffer: Any) -> int:
        """Fill the `buffer`, with zeros beyond the end."""
        view = memoryview(buffer).cast("B")
        count = super().readinto(view) or 0
        view[count:] = bytes(len(view) - count)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Change the length, or keep the error."""
        try:
            return super().truncate(size)
        except OSError as error:
            self.error = self.error or error
            return self.tell() if size is None else size

    def settle(self) -> None:
        """Raise the error if there was one; else the content is on the disk."""
        if self.error is not None:
            raise self.error
        os.fsync(self.fileno())
