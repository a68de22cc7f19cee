"""Serves the page on which a sheet is played with, and hands between it and the process that simulates.

A page asks for what is newer than it has seen, gets it, draws it and asks again: nothing piles up, however slow a page
is. Commands go the other way as JSON. The page carries no path, and what it may ask for is a fixed list.
"""

from __future__ import annotations

import asyncio
import json
import time as clock
from contextlib import suppress
from typing import Any, NamedTuple

from aiohttp import WSMsgType, web

from crumple.runtime.errors import InputError
from crumple.studio.assets import serve_file
from crumple.studio.guard import Guard
from crumple.studio.sheet_process import Playable, SheetProcess
from crumple.studio.sheets import sheet_tables

MODULES = (
    "choices", "data", "drives", "facets", "film", "flat_shadow", "light", "lines", "link", "looks", "marks", "motion",
    "overlay", "patch", "play", "pointers", "prints", "quality", "sheet", "sound", "surface", "table", "tools",
)  # fmt: skip
PAGE = {
    "/": ("play.html", "text/html"),
    "/play.css": ("play.css", "text/css"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript") for name in MODULES},
    "/vendor/three.min.js": ("vendor/three.min.js", "text/javascript"),
}
MOST_PAGES = 16
"""Pages that may be open at once."""
LARGEST_MESSAGE = 4096
"""Of what a page may send [bytes]."""
MOST_UNHEARD = 16_000_000
"""Of what a page has been sent and does not take [bytes]; more, and it is gone: a page asks before it is shown more."""
ASK_AGAIN = 1.0
"""Time [s] after which a page that has not been shown anything may ask again."""
COMPILING = "kernels are compiled for this machine, once; the sheet can be taken in a minute or two"


class Allowance:
    """How often something may be done: once in `every` [s], and at most `most` times."""

    def __init__(self, what: str, every: float, most: int) -> None:
        self._what, self._every, self._most = what, every, most
        self._count, self._last = 0, -float("inf")

    def take(self) -> None:
        """Count one more; `InputError` when it is too early or too often."""
        now = clock.monotonic()
        if self._count >= self._most:
            raise InputError(self._what, f"was done {self._most} times; start crumple play again to do it more often")
        if now - self._last < self._every:
            raise InputError(self._what, f"can be done once in {self._every:g} s; wait a moment")
        self._count, self._last = self._count + 1, now


class Page(NamedTuple):
    """A page that is open: its `socket`, and the `transport` under it."""

    socket: web.WebSocketResponse
    transport: asyncio.Transport | None


class Wish(NamedTuple):
    """What a page wants to see, and since when [s]."""

    command: dict[str, Any]
    since: float


class PlayServer:
    """Serves one sheet at a time to all pages that are open; a page may ask for another sheet, of the same engine."""

    def __init__(self, scene: Playable, guard: Guard | None = None, engine: str = "physics") -> None:
        self._scene, self._engine, self._guard = scene, engine, guard or Guard()
        self._sheet: SheetProcess | None = None
        self._pages: dict[int, Page] = {}
        self._asked: dict[int, Wish] = {}  # pages that wait for a packet, and what they asked
        self._sending: set[asyncio.Task[None]] = set()
        self._number = 0
        self._saves, self._sheets = Allowance("save", 2.0, 100), Allowance("sheet", 0.3, 10_000)

    def application(self) -> web.Application:
        """The routes, behind the guard."""
        app = web.Application(middlewares=[self._guard.middleware()], client_max_size=LARGEST_MESSAGE)
        for address, (name, kind) in PAGE.items():
            app.router.add_get(address, serve_file(name, kind))
        app.router.add_get("/socket", self._socket)
        app.cleanup_ctx.append(self._playing)
        app.on_shutdown.append(self._close_pages)
        return app

    async def _playing(self, app: web.Application) -> Any:
        self._sheet = SheetProcess(self._scene, self._engine, self._hear_sheet)
        self._sheet.start()
        yield
        self._sheet.close()

    async def _close_pages(self, app: web.Application) -> None:
        for page in list(self._pages.values()):
            await page.socket.close(message=b"crumple play has ended")

    @property
    def sheet(self) -> SheetProcess:
        assert self._sheet is not None  # from the start of the application on
        return self._sheet

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if len(self._pages) >= MOST_PAGES:
            return web.Response(status=503, text=f"{MOST_PAGES} pages are open already; close one")
        socket = web.WebSocketResponse(max_msg_size=LARGEST_MESSAGE, heartbeat=20.0)
        await socket.prepare(request)
        self._number += 1
        page = self._number
        self._pages[page] = Page(socket, request.transport)
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    self._hear(page, message.data)
                await asyncio.sleep(0)  # one that talks without a pause does not keep the others waiting
        finally:
            del self._pages[page]
            self._asked.pop(page, None)
            self.sheet.tell({"do": "leave", "page": page})
        return socket

    def _hear(self, page: int, text: str) -> None:
        """A command of a page, or its wish to see what is new; what is wrong with it is told to this page."""
        try:
            self._obey(page, json.loads(text))
        except InputError as error:
            self._send(page, {"error": str(error)})
        except (ValueError, RecursionError):
            self._send(page, {"error": 'not a command like {"do": "undo"}'})

    def _obey(self, page: int, command: object) -> None:
        if not isinstance(command, dict) or command.get("do") in ("leave", "scene"):
            raise ValueError
        if command.get("do") == "show":
            return self._ask(page, command)
        if not self.sheet.is_ready:
            raise InputError("crumple play", self.sheet.trouble or COMPILING)
        if command.get("do") == "save":
            self._saves.take()
        if command.get("do") == "sheet":
            tables = sheet_tables(command.get("name"), command.get("material"), command.get("sides"))
            self._sheets.take()
            command = {"do": "scene", "scene": tables}
        self.sheet.tell(command | {"page": page})

    def _ask(self, page: int, command: dict[str, Any]) -> None:
        """A page wants to see what is new; one wish at a time, which it may repeat when nothing comes."""
        now = clock.monotonic()
        if page in self._asked and now - self._asked[page].since < ASK_AGAIN:
            return
        known, seen = (value if isinstance(value, int) else 0 for value in (command.get("known"), command.get("seen")))
        wish = {"do": "show", "page": page, "known": known, "seen": seen}
        self._asked[page] = Wish(wish, now)
        if self.sheet.trouble:
            self._send(page, {"failed": self.sheet.trouble})
        elif self.sheet.is_ready:
            self.sheet.tell(wish)
        else:
            self._send(page, {"waiting": COMPILING})
            if self.sheet.first is not None and known == 0:
                self._show(page, self.sheet.first)

    def _hear_sheet(self, news: dict[str, Any]) -> None:
        """What the process says, to the page that it is for, or to all."""
        if "packet" in news:
            self._show(news["page"], news["packet"])
        elif "error" in news:
            self._send(news["page"], {"error": news["error"]})
        elif "first" in news:
            for page in list(self._asked):
                self._show(page, news["first"])
        elif "ready" in news:
            for wish in self._asked.values():
                self.sheet.tell(wish.command)
        else:
            for page in self._pages:
                self._send(page, {"failed": news["failed"]})

    def _show(self, page: int, packet: bytes) -> None:
        self._asked.pop(page, None)
        self._begin(page, packet)

    def _send(self, page: int, news: dict[str, Any]) -> None:
        self._begin(page, json.dumps(news))

    def _begin(self, page: int, message: bytes | str) -> None:
        """Send in the background: a page that does not listen holds up nobody, and is dropped in the end."""
        to = self._pages.get(page)
        if to is None or to.transport is None:
            return
        if to.transport.get_write_buffer_size() > MOST_UNHEARD:
            to.transport.abort()
            return
        task = asyncio.ensure_future(_deliver(to.socket, message))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)


async def _deliver(socket: web.WebSocketResponse, message: bytes | str) -> None:
    with suppress(ConnectionError):
        await (socket.send_bytes(message) if isinstance(message, bytes) else socket.send_str(message))
