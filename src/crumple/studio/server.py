"""The studio's server: a fixed page, frames as packets, and a socket for news and commands.

The page names recordings by number and frames by number; no request carries a path, so nothing else can be reached.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from aiohttp import WSMsgType, web

from crumple.recording.log import strict_json
from crumple.runtime.errors import CrumpleError, InputError
from crumple.studio.assets import serve_file
from crumple.studio.guard import Guard, Handler
from crumple.studio.runs import StudioRun

T = TypeVar("T")

MODULES = (
    "address", "colors", "data", "drives", "film", "light", "looks", "main", "measure", "panel", "pieces", "plots",
    "prints", "surface", "taking", "timeline", "view",
)  # fmt: skip
PAGE = {
    "/": ("index.html", "text/html"),
    "/style.css": ("style.css", "text/css"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript") for name in MODULES},
    "/vendor/three.min.js": ("vendor/three.min.js", "text/javascript"),
}
"""Everything that is served from disk, by address."""
LOOK_EVERY = 0.4
"""Time between two looks at the recordings while a page is open [s]."""
MOST_PAGES = 16
"""Pages that may be open at once."""
LARGEST_MESSAGE = 65_536
"""Of what a page may send [bytes]."""
MOST_KNOWN = 64
"""Keys that a page may say it knows."""
KEPT_ERRORS = 16
"""Refusals that wait for a page; the oldest are forgotten first."""
READERS = 2
"""Threads that decode frames; HDF5 lets only one at a time into its library."""


class Page:
    """A page that is open. One that does not listen holds up nobody: it gets the newest status when it has taken the
    last."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.socket, self.told = socket, ""
        self.errors: deque[str] = deque(maxlen=KEPT_ERRORS)
        self._sending: asyncio.Task[None] | None = None

    def tell(self, status: str) -> None:
        """Send errors that wait, and the status if it is another one, unless it is still being sent something."""
        if self._sending is not None and not self._sending.done():
            return
        lines = [strict_json({"error": error}) for error in self.errors] + [status] * (status != self.told)
        self.errors.clear()
        self.told = status
        if lines:
            self._sending = asyncio.ensure_future(self._deliver(lines))

    async def _deliver(self, lines: Sequence[str]) -> None:
        with suppress(ConnectionError):
            for line in lines:
                await self.socket.send_str(line)


class StudioServer:
    """Serves `runs`; `application` is what aiohttp runs."""

    def __init__(self, runs: Sequence[StudioRun], guard: Guard | None = None) -> None:
        self._runs = list(runs)
        self._pool = ThreadPoolExecutor(READERS, "studio")
        self._pages: dict[int, Page] = {}
        self._number = 0
        self._session = secrets.token_hex(8)  # a page that outlives a studio finds another one at its address
        self._wake = asyncio.Event()
        self._guard = guard or Guard()

    def application(self) -> web.Application:
        """The routes, behind the guard."""
        app = web.Application(middlewares=[self._guard.middleware(), _explained], client_max_size=LARGEST_MESSAGE)
        for address, (name, kind) in PAGE.items():
            app.router.add_get(address, serve_file(name, kind))
        app.router.add_get("/socket", self._socket)
        app.router.add_get("/api/runs/{run}", self._run)
        app.router.add_get("/api/runs/{run}/series", self._series)
        app.router.add_get("/api/runs/{run}/frames/{frame}", self._frame)
        app.router.add_get("/api/runs/{run}/frames/{frame}/faces/{face}", self._face)
        app.cleanup_ctx.append(self._watching)
        app.on_shutdown.append(self._close_sockets)
        return app

    async def _run(self, request: web.Request) -> web.Response:
        run, after = self._chosen(request), _number(request.query.get("after", "-1"), "after", low=-1)
        return _json(await self._in_thread(lambda: run.frames_after(after)))

    async def _series(self, request: web.Request) -> web.Response:
        run = self._chosen(request)
        return _json(await self._in_thread(run.series))

    async def _frame(self, request: web.Request) -> web.Response:
        run, frame = self._chosen(request), _number(request.match_info["frame"], "frame")
        field = request.query.get("field") or None
        known = frozenset(request.query.get("known", "").split(",")[:MOST_KNOWN])
        packet = await self._in_thread(lambda: run.store.packet(frame, field, known))
        return web.Response(body=packet, content_type="application/octet-stream")

    async def _face(self, request: web.Request) -> web.Response:
        run, frame = self._chosen(request), _number(request.match_info["frame"], "frame")
        face = _number(request.match_info["face"], "face")
        return _json(await self._in_thread(lambda: run.store.face(frame, face)))

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        """News go out whenever something changed; commands come in as `{"do": "pause", "run": 0}`, those of hands as in
        `holding`."""
        if len(self._pages) >= MOST_PAGES:
            return web.Response(status=503, text=f"{MOST_PAGES} pages are open already; close one")
        socket = web.WebSocketResponse(max_msg_size=LARGEST_MESSAGE, heartbeat=20.0)
        await socket.prepare(request)
        self._number += 1
        page = self._number
        self._pages[page] = Page(socket)
        try:
            self._pages[page].tell(await self._in_thread(self._look))
            self._wake.set()
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    await self._obey(socket, page, message.data)
        finally:
            del self._pages[page]
            for run in self._runs:
                run.forget_page(page)
        return socket

    async def _obey(self, socket: web.WebSocketResponse, page: int, text: str) -> None:
        """Carry out a command; what is wrong with it is told to the page that sent it."""
        try:
            command = json.loads(text)
            run = self._numbered(command["run"])
            if command["do"] in ("grab", "move", "release", "drive"):
                return await self._in_thread(lambda: run.hold(command | {"page": page}))
            await self._in_thread(lambda: run.command(command["do"]))
        except CrumpleError as error:
            await socket.send_str(strict_json({"error": str(error)}))
        except (ValueError, LookupError, TypeError, RecursionError):
            await socket.send_str(strict_json({"error": 'not a command like {"do": "pause", "run": 0}'}))
        self._wake.set()

    async def _watching(self, app: web.Application) -> Any:
        """While the server runs: tell the pages what changes."""
        task = asyncio.create_task(self._watch())
        yield
        while not task.done():  # before Python 3.12 `wait_for` may lose a cancellation
            task.cancel()
            await asyncio.wait([task], timeout=1.0)
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _close_sockets(self, app: web.Application) -> None:
        """Tell the pages that it is over, so that the end need not wait for them."""
        for page in list(self._pages.values()):
            await page.socket.close(message=b"the studio has ended")

    async def _watch(self) -> None:
        while True:
            if not self._pages:
                await self._wake.wait()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), LOOK_EVERY)
            self._wake.clear()
            status = await self._in_thread(self._look)
            for refusal in [one for run in self._runs for one in run.refusals()]:
                if isinstance(refusal.page, int) and refusal.page in self._pages:
                    self._pages[refusal.page].errors.append(refusal.message)
            for page in self._pages.values():
                page.tell(status)

    def _look(self) -> str:
        """The status of all runs as the page gets it."""
        return strict_json({"session": self._session, "runs": [run.refresh() for run in self._runs]})

    def _chosen(self, request: web.Request) -> StudioRun:
        return self._numbered(_number(request.match_info["run"], "run"))

    def _numbered(self, number: object) -> StudioRun:
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(self._runs):
            raise InputError("run", f"the studio has runs 0 to {len(self._runs) - 1}", number)
        return self._runs[number]

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


@web.middleware
async def _explained(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Errors as one line of text: 400 for a bad request, 500 when the disk fails."""
    try:
        return await handler(request)
    except InputError as error:
        return web.Response(status=400, text=str(error))
    except CrumpleError as error:
        return web.Response(status=500, text=str(error))


def _json(value: Any) -> web.Response:
    return web.Response(text=strict_json(value), content_type="application/json")


def _number(text: str, name: str, low: int = 0) -> int:
    """The whole number in `text`, at least `low`; `InputError` when it is none."""
    if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit() or len(text) > 18:
        raise InputError(name, "must be a whole number", text)
    if int(text) < low:
        raise InputError(name, f"must be at least {low}", int(text))
    return int(text)
