"""Serves the page on which a sheet is played with, and hands between it and the process that simulates.

A page asks for a frame, gets it, draws it and asks for the next one: nothing piles up, however slow a page is. Commands
go the other way as JSON. The page carries no path, and what it may ask for is a fixed list.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web

from crumple.recording.log import strict_json
from crumple.runtime.errors import InputError
from crumple.scenes import Scene, scene_from_tables
from crumple.studio.guard import Guard
from crumple.studio.server import serve_file
from crumple.studio.sheets import SHEETS, sheet_tables

PAGE = {
    "/": ("play.html", "text/html"),
    "/play.css": ("play.css", "text/css"),
    **{
        f"/{name}.js": (f"{name}.js", "text/javascript")
        for name in ("play", "table", "patch", "sound", "data", "surface")
    },
    "/vendor/three.min.js": ("vendor/three.min.js", "text/javascript"),
}
MOST_PAGES = 16
"""Pages that may be open at once."""
LARGEST_MESSAGE = 4096
"""Of what a page may send [bytes]."""
NEVER = 0
"""The topology of a page that has nothing yet."""


class SheetProcess:
    """The process that simulates, and who waits for its frames."""

    def __init__(self, scene: Scene) -> None:
        from crumple.studio.player import play

        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=play, args=(scene, other), daemon=True)
        self._process.start()
        other.close()
        self._waiting: list[asyncio.Future[bytes]] = []
        self.is_ready, self.trouble = False, ""
        self.errors: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def listen(self) -> None:
        """Take what the process says; called by the event loop when something is there."""
        try:
            while self._pipe.poll():
                news = self._pipe.recv()
                if isinstance(news, bytes):
                    self._answer(news)
                elif "ready" in news:
                    self.is_ready = True
                elif "failed" in news:
                    self.trouble = news["failed"]
                else:
                    self.errors.put_nowait(news)
        except (EOFError, OSError):
            self._gone()

    def start(self) -> None:
        """Listen from now on."""
        asyncio.get_running_loop().add_reader(self._pipe.fileno(), self.listen)

    def tell(self, command: dict[str, Any]) -> None:
        """Pass a command on."""
        try:
            self._pipe.send(command)
        except OSError:
            self._gone()

    async def frame(self, known: int) -> bytes:
        """The present state, for a page that has the topology `known`."""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        self.tell({"do": "show", "known": known})
        return await answer

    def close(self) -> None:
        """End the process; nothing that was not saved is kept."""
        with suppress(ValueError, OSError):
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
        self._pipe.close()
        self._process.terminate()
        self._process.join(1.0)
        if self._process.is_alive():
            self._process.kill()

    def _answer(self, packet: bytes) -> None:
        if self._waiting:
            answer = self._waiting.pop(0)
            if not answer.done():
                answer.set_result(packet)

    def _gone(self) -> None:
        self.trouble = self.trouble or "the process that simulates has ended; start crumple play again"
        with suppress(ValueError, OSError):
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
        for answer in self._waiting:
            answer.cancel()
        self._waiting.clear()


class PlayServer:
    """Serves one sheet at a time to all pages that are open; a page may ask for another sheet."""

    def __init__(self, scene: Scene, guard: Guard | None = None) -> None:
        self._scene, self._guard = scene, guard or Guard()
        self._sheet: SheetProcess | None = None
        self._pages: dict[int, web.WebSocketResponse] = {}
        self._showing: dict[int, asyncio.Task[None]] = {}
        self._number = 0

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
        self._begin(self._scene)
        yield
        assert self._sheet is not None
        self._sheet.close()

    async def _close_pages(self, app: web.Application) -> None:
        for socket in list(self._pages.values()):
            await socket.close(message=b"crumple play has ended")

    def _begin(self, scene: Scene) -> None:
        """Start with a scene, instead of the one before."""
        if self._sheet is not None:
            self._sheet.close()
        self._sheet = SheetProcess(scene)
        self._sheet.start()

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if len(self._pages) >= MOST_PAGES:
            return web.Response(status=503, text=f"{MOST_PAGES} pages are open already; close one")
        socket = web.WebSocketResponse(max_msg_size=LARGEST_MESSAGE, heartbeat=20.0)
        await socket.prepare(request)
        self._number += 1
        page = self._number
        self._pages[page] = socket
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    await self._hear(page, socket, message.data)
        finally:
            del self._pages[page]
            showing = self._showing.pop(page, None)
            if showing is not None:
                showing.cancel()
            if self._sheet is not None:
                self._sheet.tell({"do": "leave", "page": page})
        return socket

    async def _hear(self, page: int, socket: web.WebSocketResponse, text: str) -> None:
        """A command, or the wish for a frame."""
        try:
            command = json.loads(text)
            if not isinstance(command, dict) or not isinstance(command.get("do"), str):
                raise ValueError
            if command["do"] == "leave":
                raise ValueError
            if command["do"] == "show":
                self._begin_to_show(page, socket, command.get("known"))
            elif command["do"] == "sheet":
                self._begin(scene_from_tables(sheet_tables(_sheet_name(command.get("name"))), source="crumple play"))
            elif self._sheet is not None:
                self._sheet.tell(command | {"page": page})
        except InputError as error:
            await _send(socket, {"error": str(error)})
        except (ValueError, RecursionError):
            await _send(socket, {"error": 'not a command like {"do": "undo"}'})

    def _begin_to_show(self, page: int, socket: web.WebSocketResponse, known: object) -> None:
        """Answer with a frame when there is one, and take commands meanwhile; one frame at a time."""
        before = self._showing.get(page)
        if before is None or before.done():
            self._showing[page] = asyncio.create_task(self._show(socket, known))

    async def _show(self, socket: web.WebSocketResponse, known: object) -> None:
        """Answer with a frame, or with why there is none yet."""
        sheet = self._sheet
        assert sheet is not None
        while not sheet.errors.empty():
            news = sheet.errors.get_nowait()
            await _send(socket, {"error": news.get("error", "")})
        if sheet.trouble:
            return await _send(socket, {"failed": sheet.trouble})
        if not sheet.is_ready:
            await asyncio.sleep(0.1)
            return await _send(socket, {"waiting": "kernels are compiled for this machine, once"})
        with suppress(asyncio.CancelledError, ConnectionResetError):
            await socket.send_bytes(await sheet.frame(known if isinstance(known, int) else NEVER))


def _sheet_name(name: object) -> str:
    if not isinstance(name, str) or name not in SHEETS:
        raise InputError("sheet", f"must be one of {', '.join(SHEETS)}", name)
    return name


async def _send(socket: web.WebSocketResponse, news: dict[str, Any]) -> None:
    with suppress(ConnectionResetError):
        await socket.send_str(strict_json(news))
