"""The process that simulates a sheet, as the server sees it: commands go in, news come out, and neither side waits."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeAlias

from crumple.studio.outbox import Outbox

if TYPE_CHECKING:
    from crumple.scenes import Scene

Playable: TypeAlias = "Scene | dict[str, Any]"
"""A scene, or the tables of one, which only the process that simulates has to understand."""

ENDED = "the process that simulates has ended; start crumple play again"


def _enter(scene: Playable, engine: str, pipe: Connection) -> None:
    """The entry point of the process: what simulates is loaded there, and while the page is served already."""
    from crumple.studio.play_process import play

    play(scene, engine, pipe)


class SheetProcess:
    """Runs `play` of a scene with an engine; `hear` gets its news.

    `first`: a packet of the sheet at its start, `is_ready`: whether it can be played with, `trouble`: why not.
    """

    def __init__(self, scene: Playable, engine: str, hear: Callable[[dict[str, Any]], None]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_enter, args=(scene, engine, other), daemon=True)
        self._process.start()
        other.close()
        self._hear = hear
        self._writer = ThreadPoolExecutor(1, "play")  # a pipe to a busy process may be full
        self._unsent = Outbox()
        self.first: bytes | None = None
        self.is_ready, self.trouble = False, ""

    def start(self) -> None:
        """Listen from now on."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._pipe.fileno(), self._listen)

    def tell(self, command: dict[str, Any]) -> None:
        """Pass a command on; `InputError` when too many wait already."""
        if self._unsent.put(command):
            self._writer.submit(self._write)

    def close(self) -> None:
        """End the process; nothing that was not saved is kept."""
        self._stop_listening()
        self._pipe.close()  # which ends it, unless it is busy
        self._process.join(1.0)
        if self._process.is_alive():
            self._process.kill()
        self._writer.shutdown(wait=False, cancel_futures=True)

    def _write(self) -> None:
        command = self._unsent.take()
        if command is not None:
            with suppress(OSError):  # the process has ended, of which the reader tells
                self._pipe.send(command)

    def _listen(self) -> None:
        """Take what the process says; called by the event loop when something is there."""
        try:
            while self._pipe.poll():
                self._take(self._pipe.recv())
        except (EOFError, OSError):
            self._stop_listening()
            self._take({"failed": self.trouble or ENDED})

    def _take(self, news: dict[str, Any]) -> None:
        self.first = news.get("first", self.first)
        self.is_ready = (self.is_ready or "ready" in news) and "failed" not in news
        self.trouble = news.get("failed", self.trouble)
        self._hear(news)

    def _stop_listening(self) -> None:
        with suppress(ValueError, OSError):
            self._loop.remove_reader(self._pipe.fileno())
