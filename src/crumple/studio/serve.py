"""Opens a port, serves the studio there until Ctrl-C, and ends what it has started."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress

from aiohttp import web

from crumple.errors import InputError
from crumple.studio.guard import Guard
from crumple.studio.runs import StudioRun
from crumple.studio.server import StudioServer

PORT = 8765
"""Where the studio is found if nothing else is there."""
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
    """Serve `runs` until Ctrl-C or SIGTERM; `announce` gets the address, and how simulations ended."""
    guard = Guard.for_host(host)
    try:
        listening = open_port(host, port)
        url = address(guard, host, listening.getsockname()[1])
        with suppress(KeyboardInterrupt):
            asyncio.run(_serve(runs, guard, listening, lambda: _ready(url, browser, announce)))
    finally:
        for run in runs:
            message = run.close()
            if message:
                announce(message)


async def _serve(runs: Sequence[StudioRun], guard: Guard, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until the task is cancelled or SIGTERM comes."""
    ended = asyncio.Event()
    with suppress(NotImplementedError):  # Windows has no such handlers; there Ctrl-C cancels this task
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    runner = web.AppRunner(StudioServer(runs, guard).application(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        ready()
        await ended.wait()
    finally:
        await runner.cleanup()


def _ready(url: str, browser: bool, announce: Callable[[str], None]) -> None:
    announce(f"crumple studio: {url}   (Ctrl-C ends it)")
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
