"""Mishaps at a chosen system call: a process does some work, and at its n-th call it is killed or gets an error."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CALLS = ("open", "write", "fsync", "close", "replace", "rename", "unlink", "mkdir")
"""All calls by which a recorder changes the disk."""
COMPLETED, FAILED, KILLED, SPARED = "completed", "failed", "killed", "spared"
"""How it ends: with or without errors after the mishap, by it, or before it could happen."""


@dataclass
class Mishap:
    """What happens at call number `at`, counted from 1.

    "before", "after", "within": the process is killed before or after the call, or in a write when half of it is done;
    "full": this and every later write fails for want of room;  "error": this call fails;
    "vanish": the folder is gone.
    """

    kind: str
    at: int
    folder: Path
    count: int = 0
    real: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def install(self) -> None:
        """Count the calls of this process from now on."""
        for name in CALLS:
            self.real[name] = getattr(os, name)
            setattr(os, name, self._wrapper(name))

    def _wrapper(self, name: str) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            self.count += 1
            if self.kind == "full" and self.count >= self.at and name == "write":
                raise OSError(errno.ENOSPC, "No space left on device")
            if self.count == self.at:
                self._strike(name, args)
            result = self._call(name, *args, **options)
            if self.count == self.at and self.kind == "after":
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return wrapped

    def _call(self, name: str, *args: Any, **options: Any) -> Any:
        # A kill leaves what the system has taken; only a power cut needs fsync, and it takes most of the time.
        return None if name == "fsync" else self.real[name](*args, **options)

    def _strike(self, name: str, args: tuple[Any, ...]) -> None:
        if self.kind == "within" and name == "write":
            self.real["write"](args[0], bytes(args[1])[: len(args[1]) // 2])
        if self.kind in ("before", "within"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind == "error":
            raise OSError(errno.EIO, "Input/output error")
        if self.kind == "vanish":
            for call, function in self.real.items():
                setattr(os, call, function)
            shutil.rmtree(self.folder)


def befall(
    mishap: Mishap, work: Callable[[Callable[[int], None]], None], errors: type | tuple
) -> tuple[str, list[int]]:
    """How a process ends that does `work(report)` while the mishap befalls it, and the numbers that it reported.

    An exception that is not among `errors` is one too many: it is printed and fails the test.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        put, leave = os.write, os._exit
        try:
            mishap.install()
            work(lambda number: put(write, bytes([number])))
            leave(0 if mishap.count >= mishap.at else 5)
        except errors:
            leave(3)
        except BaseException:
            traceback.print_exc()
        leave(4)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        reported = list(pipe.read())
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return KILLED, reported
    ends = {0: COMPLETED, 3: FAILED, 5: SPARED}
    assert os.WEXITSTATUS(status) in ends, f"{mishap} ended with {os.WEXITSTATUS(status)}"
    return ends[os.WEXITSTATUS(status)], reported
