"""Pages that mean harm: they talk and do not listen, send bombs, or requests that make no sense."""

from __future__ import annotations

import asyncio
import base64
import logging
from typing import Any

import pytest

pytest.importorskip("aiohttp")
from aiohttp import WSMsgType
from aiohttp.test_utils import TestClient, TestServer

from crumple.studio import play_server, serve
from crumple.studio.play_server import PlayServer

NONSENSE = bytes([0x81, 0x88, 0, 0, 0, 0]) + b"nonsense"
"""A message in a frame of a page, whose mask is zero."""


class NoSheet:
    """Stands for the process that simulates, which never gets ready."""

    first, is_ready, trouble = None, False, ""

    def __init__(self, *_: Any) -> None: ...

    def start(self) -> None: ...

    def close(self) -> None: ...

    def tell(self, command: dict[str, Any]) -> None: ...


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    monkeypatch.setattr(play_server, "SheetProcess", NoSheet)


def visit(work) -> None:
    async def session() -> None:
        server = PlayServer({})
        async with TestClient(TestServer(server.application())) as client:
            await asyncio.wait_for(work(server, client), 60.0)

    asyncio.run(session())


async def open_page(client: TestClient) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A page whose owner reads only when it wants to."""
    host, port = client.server.host, client.server.port
    reader, writer = await asyncio.open_connection(host, port, limit=1024)
    key = base64.b64encode(bytes(16)).decode()
    lines = ("GET /socket HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade")
    writer.write("\r\n".join([*lines, f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", ""]).encode())
    assert (await reader.readuntil(b"\r\n\r\n")).split()[1] == b"101"
    return reader, writer


def test_a_page_that_talks_and_does_not_listen_is_dropped(monkeypatch):
    """Answers to it would fill the memory."""
    monkeypatch.setattr(play_server, "MOST_UNHEARD", 100_000)

    async def work(server: PlayServer, client: TestClient) -> None:
        _, writer = await open_page(client)
        sent = 0
        while server._pages or sent == 0:
            try:
                writer.write(500 * NONSENSE)
                await asyncio.wait_for(writer.drain(), 1.0)
            except (TimeoutError, ConnectionError):
                pass
            await asyncio.sleep(0.01)
            sent += 500
            assert sent < 500_000
        writer.close()
        assert (await client.get("/")).status == 200

    visit(work)


def test_a_message_that_unpacks_to_a_thousand_times_its_size_ends_the_connection_only():
    async def work(server: PlayServer, client: TestClient) -> None:
        socket = await client.ws_connect("/socket", compress=15)
        assert socket.compress
        await socket.send_str(3_000_000 * " ")
        closed = await asyncio.wait_for(socket.receive(), 20.0)
        assert closed.type is WSMsgType.CLOSE
        assert closed.data == 1009, "too big"
        assert (await client.get("/")).status == 200

    visit(work)


@pytest.mark.parametrize(
    "request_text",
    [b"GET / HTTP/1.1\r\n\r\n", b"GET /" + 20_000 * b"a" + b" HTTP/1.1\r\n", b"\x16\x03\x01\r\n\r\n", b"BREW\r\n\r\n"],
)
def test_requests_that_make_no_sense_do_not_fill_the_terminal(request_text, caplog):
    async def session() -> None:
        listening, ready = serve.open_port("127.0.0.1", 0), asyncio.Event()
        task = asyncio.create_task(serve._serve(PlayServer({}).application(), listening, ready.set))
        await asyncio.wait_for(ready.wait(), 10.0)
        reader, writer = await asyncio.open_connection(*listening.getsockname()[:2])
        writer.write(request_text)
        assert (await asyncio.wait_for(reader.readline(), 10.0)).split()[1] == b"400"
        writer.close()
        task.cancel()
        await asyncio.wait([task])

    with caplog.at_level(logging.DEBUG):
        asyncio.run(session())
    assert not [record for record in caplog.records if record.exc_info]


def test_errors_of_our_own_are_told(caplog):
    try:
        raise ValueError("ours")
    except ValueError:
        serve.quiet_logger().exception("told")
    assert "told" in caplog.text
