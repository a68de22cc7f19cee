"""What others may try at the page's server: it refuses or survives, and the sheet stays safe."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

pytest.importorskip("aiohttp")
from aiohttp import ClientWebSocketResponse, WSMsgType, WSServerHandshakeError
from aiohttp.test_utils import TestClient, TestServer
from packets import decode_packet

from crumple.cli.playing import load_sheet
from crumple.runtime.errors import InputError
from crumple.session.script import Script
from crumple.session.simulation import Simulation
from crumple.studio.guard import Guard
from crumple.studio.play_server import LARGEST_MESSAGE, MOST_PAGES, PAGE, PlayServer

COARSE = ["sheets[0].shape.size=0.05"]
FOREIGN = (
    {"Origin": "http://elsewhere.example"},
    {"Origin": "null"},
    {"Origin": "https://127.0.0.1.elsewhere.example"},
    {"Host": "elsewhere.example"},
    {"Sec-Fetch-Site": "cross-site"},
)


def visit(work: Callable[[TestClient], Awaitable[None]], guard: Guard | None = None) -> None:
    async def session() -> None:
        app = PlayServer(load_sheet("note", COARSE), guard).application()
        async with TestClient(TestServer(app)) as client:
            await work(client)

    asyncio.run(session())


def grab(hand: int = 0, at: tuple[float, float] = (0.06, 0.06)) -> str:
    return json.dumps({"do": "grab", "hand": hand, "origin": [*at, 1.0], "direction": [0.0, 0.0, -1.0]})


def move(height: float, hand: int = 0, at: tuple[float, float] = (0.06, 0.06)) -> str:
    return json.dumps({"do": "move", "hand": hand, "position": [*at, height]})


async def see(socket: ClientWebSocketResponse, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Ask for packets until one is as wanted; all of them must have finite positions."""
    end = asyncio.get_running_loop().time() + 180
    while asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.01)
        await socket.send_str(json.dumps({"do": "show", "known": 0, "seen": -1}))
        message = await asyncio.wait_for(socket.receive(), 120)
        if message.type == WSMsgType.BINARY:
            values, arrays = decode_packet(message.data)
            assert np.isfinite(arrays["x"]).all()
            if values["version"] > 0 and wanted(values):
                return values
        else:
            assert message.type == WSMsgType.TEXT
            assert "failed" not in json.loads(message.data)
    raise AssertionError("never seen")


def test_foreign_pages_get_nothing():
    async def work(client: TestClient) -> None:
        for headers in FOREIGN:
            with pytest.raises(WSServerHandshakeError, match="403"):
                await client.ws_connect("/socket", headers=headers)
            assert (await client.get("/play.js", headers=headers)).status == 403, headers

    visit(work)


def test_without_the_token_there_is_nothing_to_be_had():
    async def work(client: TestClient) -> None:
        for address in ("/socket", "/socket?token=wrong", "/socket?token=", "/socket?token=secre%74x"):
            with pytest.raises(WSServerHandshakeError):
                await client.ws_connect(address)
        for address in PAGE:
            assert (await client.get(address)).status == 403, address
            assert (await client.get(f"{address}?token=wrong")).status == 403, address
        for address in (
            "/../pyproject.toml",
            "/..%2fpyproject.toml",
            "/page/play.js",
            "/api/runs/0",
            "/%2e%2e/etc/passwd",
        ):
            answer = await client.get(address, headers={"Authorization": "Bearer secret"})
            assert answer.status == 404, address
        for method in ("post", "put", "delete"):
            answer = await getattr(client, method)("/", headers={"Authorization": "Bearer secret"}, data=b"x" * 9000)
            assert answer.status == 405, method

    visit(work, Guard("secret"))


def test_a_connection_that_is_lost_in_a_drag_lets_go_and_the_sheet_goes_on():
    async def work(client: TestClient) -> None:
        watcher = await client.ws_connect("/socket")
        await see(watcher, lambda _: True)
        holder = await client.ws_connect("/socket")  # not before: one that does not listen for long is dropped
        await holder.send_str(grab())
        await holder.send_str(move(0.06))
        held = await see(watcher, lambda values: len(values["hands"]) == 1)
        holder._response.connection.transport.abort()  # no farewell
        free = await see(watcher, lambda values: not values["hands"])
        await see(watcher, lambda values: values["frame"] > free["frame"] >= held["frame"])

    visit(work)


def test_two_pages_that_drag_one_corner_share_it_and_neither_moves_the_hand_of_the_other():
    async def work(client: TestClient) -> None:
        one = await client.ws_connect("/socket")
        await see(one, lambda _: True)
        other = await client.ws_connect("/socket")
        for socket in (one, other):
            await socket.send_str(grab())
            await see(one, lambda values: len(values["hands"]) >= 1)
        await one.send_str(move(0.05))
        await other.send_str(move(0.01))
        values = await see(one, lambda values: max(place[2] for place in values["hands"].values()) > 0.045)
        assert 1 <= len(values["hands"]) <= 2  # the second may have found nothing left to hold
        await other.send_str(json.dumps({"do": "release", "hand": 0}))
        await see(one, lambda values: [place[2] > 0.045 for place in values["hands"].values()] == [True])

    visit(work)


def test_huge_and_binary_messages_floods_and_twenty_pages():
    async def work(client: TestClient) -> None:
        watcher = await client.ws_connect("/socket")
        await see(watcher, lambda _: True)
        loud = await client.ws_connect("/socket")
        await loud.send_bytes(b"\x00" * 1000)
        await loud.send_str("x" * (LARGEST_MESSAGE + 1))
        while (answer := await asyncio.wait_for(loud.receive(), 20)).type in (WSMsgType.TEXT, WSMsgType.BINARY):
            pass
        assert answer.type in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.CLOSING)
        flood = await client.ws_connect("/socket")
        await flood.send_str(grab())
        for k in range(3000):
            await flood.send_str(move(0.02 + 1e-5 * (k % 7)))
        await see(watcher, lambda values: len(values["hands"]) == 1)
        await flood.close()
        await see(watcher, lambda values: not values["hands"])
        pages = []
        for _ in range(20):
            with suppress(WSServerHandshakeError):
                pages.append(await client.ws_connect("/socket"))
        assert len(pages) == MOST_PAGES - 1
        with pytest.raises(WSServerHandshakeError, match="503"):
            await client.ws_connect("/socket")
        for page in pages:
            await page.send_str(json.dumps({"do": "show", "known": 0, "seen": -1}))
        await see(watcher, lambda _: True)
        for page in (*pages, watcher):
            await page.close()

    visit(work)


def test_a_page_goes_on_seeing_while_commands_are_refused_because_too_many_wait(monkeypatch):
    async def work(client: TestClient) -> None:
        watcher = await client.ws_connect("/socket")
        await see(watcher, lambda _: True)
        monkeypatch.setattr("crumple.studio.outbox.MOST_UNSENT", 0)
        loud = await client.ws_connect("/socket")
        await loud.send_str(grab())
        refused = json.loads((await asyncio.wait_for(loud.receive(), 60)).data)
        assert "too many commands" in refused["error"]
        for _ in range(20):  # some answers may have been on their way
            assert not (await see(watcher, lambda _: True))["hands"]

    visit(work)


@pytest.mark.parametrize(
    "action",
    [
        ["__class__", {}],
        ["close", {}],
        ["save", {"path": "/elsewhere"}],
        ["record", {"path": "/elsewhere"}],
        ["engine", {}],
        ["grab", {"u": [0, 0], "path": "x"}],
        ["advance", {"dt": float("inf")}],
        ["advance", {"dt": 1e300}],
        ["run", {"frames": -1}],
        ["press", {"points": [[0, float("nan")], [1, 1]]}],
        ["set_obstacle", {"name": "../floor", "position": [0, 0, 0]}],
        ["undo", {"count": 10**9}],
    ],
)
def test_a_hostile_script_reaches_nothing_but_what_hands_and_tools_may_do(action, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sim = Simulation(load_sheet("note", COARSE))
    with pytest.raises(InputError):
        sim.play(Script.from_plain({"crumple_script": 1, "start": "", "actions": [action]}))
    assert sim.time == 0.0
    assert not list(tmp_path.iterdir())


def test_a_page_cannot_hand_in_a_script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    elsewhere = str(tmp_path / "elsewhere")

    async def work(client: TestClient) -> None:
        socket = await client.ws_connect("/socket")
        await see(socket, lambda _: True)
        hostile = {"do": "replay", "script": {"actions": [["save", {"path": elsewhere}]]}, "path": elsewhere}
        await socket.send_str(json.dumps(hostile))
        before = await see(socket, lambda _: True)
        await see(socket, lambda values: values["version"] > before["version"])
        assert not list(tmp_path.iterdir())

    visit(work)
