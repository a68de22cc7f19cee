"""Opens a port, serves the studio there until Ctrl-C, and ends what it has started."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import time as clock
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from crumple.runtime.errors import InputError
from crumple.studio.guard import Guard

if TYPE_CHECKING:
    from crumple.studio.runs import StudioRun
    from crumple.studio.sheet_process import Playable

PORT = 8765
"""Where the studio is found if nothing else is there."""
IDLE_PATIENCE = 15.0
"""How long a connection may be open without a request [s]."""
MOST_IDLE = 64
"""Connections without a request that are kept at a time."""
LOOK_EVERY = 0.5
"""Time between two looks at idle connections [s]."""
NEIGHBOURS = 20
"""Ports after it that are tried before any free one is taken."""


def open_port(host: str, port: int | None) -> socket.socket:
    """A listening socket on `host`; without a `port` a free one is found, 0 is any free one.

    `InputError` when the port is taken or the host is not one of this machine.
    """
    wanted = [port] if port is not None else [*range(PORT, PORT + NEIGHBOURS), 0]
    for number in wanted:
        try:
            return _listen(host, number)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and port is None:
                continue
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                raise InputError(
                    "--port", f"{error.strerror}; leave --port out to have a free one found", port
                ) from None
            raise InputError("--host", f"cannot be served ({error.strerror or error})", host) from None
    raise InputError("--port", "no free port was found")


def address(guard: Guard, host: str, port: int) -> str:
    """What to open in a browser; on all interfaces, the name of this machine stands for it."""
    name = socket.gethostname() if host in ("0.0.0.0", "::") else host
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}/" + (f"?token={guard.token}" if guard.token else "")


def serve_studio(
    runs: Sequence[StudioRun],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve `runs` until Ctrl-C or SIGTERM; `announce` gets the address, and how simulations ended.

    Simulations begin, and replace what they were forced to, when the page is served and not before.
    """
    from crumple.studio.server import StudioServer  # here, because a sheet to play with needs none of what it loads

    guard = Guard.for_host(host)
    try:
        listening = open_port(host, port)
        url = address(guard, host, listening.getsockname()[1])
        with suppress(KeyboardInterrupt):
            application = StudioServer(runs, guard).application()
            asyncio.run(_serve(application, listening, lambda: _begin(runs, url, browser, announce)))
    finally:
        for run in runs:
            message = run.close()
            if message:
                announce(message)


def serve_play(
    scene: Playable,
    *,
    engine: str = "physics",
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve the page on which `scene` is played with until Ctrl-C or SIGTERM; `announce` gets the address.

    `engine`: the name of the engine that simulates it.
    """
    from crumple.studio.play_server import PlayServer

    guard = Guard.for_host(host)
    listening = open_port(host, port)
    url = address(guard, host, listening.getsockname()[1])
    with suppress(KeyboardInterrupt):
        application = PlayServer(scene, guard, engine).application()
        asyncio.run(_serve(application, listening, lambda: _ready("play", url, browser, announce)))


async def _serve(application: web.Application, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until the task is cancelled or SIGTERM comes."""
    ended = asyncio.Event()
    with suppress(NotImplementedError):  # Windows has no such handlers; there Ctrl-C cancels this task
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    runner = web.AppRunner(
        application, access_log=None, logger=quiet_logger(), shutdown_timeout=1.0, keepalive_timeout=IDLE_PATIENCE
    )
    await runner.setup()
    idle = IdleConnections()
    try:
        await web.SockSite(runner, listening).start()
        ready()
        while not ended.is_set():
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(ended.wait(), LOOK_EVERY)
            if runner.server is not None:
                idle.close_old(runner.server.connections)
    finally:
        await runner.cleanup()


def quiet_logger() -> logging.Logger:
    """Tells of our own errors, but not of requests that make no sense and of connections that end: whoever reaches the
    port could fill the terminal with these."""
    logger = logging.getLogger("crumple.studio")
    logger.filters = [_is_ours]
    return logger


def _is_ours(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | ConnectionError)


class IdleConnections:
    """Connections on which no request has come yet, or none after the last: closed when they are too old or too many.

    A browser asks at once; what only holds a connection open would use up the files that a process may have.
    """

    def __init__(self) -> None:
        self._since: dict[Any, float] = {}

    def close_old(self, connections: Iterable[Any]) -> None:
        """Look at the open `connections` of aiohttp, and close those that have been idle for too long, oldest first."""
        now = clock.monotonic()
        idle = [one for one in connections if one.transport is not None and one._current_request is None]
        self._since = {one: self._since.get(one, now) for one in idle}
        oldest = sorted(idle, key=lambda one: self._since[one])
        for k, one in enumerate(oldest):
            if now - self._since[one] > IDLE_PATIENCE or k < len(oldest) - MOST_IDLE:
                one.force_close()


def _begin(runs: Sequence[StudioRun], url: str, browser: bool, announce: Callable[[str], None]) -> None:
    for run in runs:
        run.start()
    _ready("studio", url, browser, announce)


def _ready(what: str, url: str, browser: bool, announce: Callable[[str], None]) -> None:
    announce(f"crumple {what}: {url}   (Ctrl-C ends it)")
    if browser:
        with suppress(webbrowser.Error):
            webbrowser.open(url)


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens on `host` and `port`; OSError when that is not possible."""
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
        0
    ]
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name != "nt":  # there it would let two programs have one port; elsewhere only what has just ended
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(64)
    except OSError:
        listening.close()
        raise
    return listening
