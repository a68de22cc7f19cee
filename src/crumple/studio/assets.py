"""The files of the pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files

from aiohttp import web


def serve_file(name: str, kind: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Answers with a file of the page."""
    content = files("crumple.studio").joinpath("page", *name.split("/")).read_bytes()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=content, content_type=kind, charset="utf-8")

    return answer
