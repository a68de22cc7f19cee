"""The sheet in the browser: what the process does with hands, what the server lets through."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

pytest.importorskip("aiohttp")
from aiohttp import ClientWebSocketResponse, WSMsgType, WSServerHandshakeError
from aiohttp.test_utils import TestClient, TestServer
from packets import decode_packet

from crumple.cli.playing import load_sheet
from crumple.contact import find_intersections
from crumple.model.derived import Derived
from crumple.recording import state_digest
from crumple.runtime.errors import InputError, SimulationError
from crumple.session.simulation import Simulation
from crumple.studio.guard import Guard
from crumple.studio.play_server import MOST_PAGES, PlayServer
from crumple.studio.player import ACTIONS, Player
from crumple.studio.sheets import SHEETS

COARSE = ["sheets[0].shape.size=0.05"]


def player() -> Player:
    return Player(Simulation(load_sheet("note", COARSE)))


def down(x: float, y: float, hand: int = 0, page: int = 1) -> dict[str, Any]:
    return {"do": "grab", "page": page, "hand": hand, "origin": [x, y, 1.0], "direction": [0.0, 0.0, -1.0]}


@pytest.mark.parametrize("name", SHEETS)
def test_every_sheet_can_be_taken(name):
    one = Player(Simulation(load_sheet(name, COARSE)))
    one.obey(down(0.0, 0.0))
    one.obey({"do": "move", "page": 1, "hand": 0, "position": [0.0, 0.0, 0.05]})
    one.frame()
    values, arrays = decode_packet(one.packet(0))
    assert values["hands"]["1:0"][2] > 0.02
    assert set(arrays) == {"x", "u", "faces", "node", "obstacle_x", "obstacle_faces"}
    assert set(decode_packet(one.packet(values["topology"]))[1]) == {"x"}


@pytest.mark.slow
def test_random_hands_do_no_harm():
    """Grabs, throws, pins, undos at random: no exception, nothing intersects, the same script gives the same bits."""
    rng, one = np.random.default_rng(3), player()
    for k in range(100):
        if k % 10 == 0:
            one.obey({"do": rng.choice(["release", "pin", "undo", "redo", "gravity", "unpin"]), "page": 1, "hand": 0})
            with suppress(InputError):  # the sheet may be held there already
                one.obey(down(*rng.uniform(-0.07, 0.07, 2), hand=int(rng.integers(4))))
        place = rng.uniform([-0.1, -0.1, -0.05], [0.1, 0.1, 0.15]).tolist()
        one.obey({"do": "move", "page": 1, "hand": int(rng.integers(4)), "position": place})
        one.frame()
        if k % 25 == 24:
            state = one.session.state
            assert np.isfinite(state.x).all()
            surface = Derived(one.session.model, state).surface(state.time)
            assert len(find_intersections(surface, np.concatenate([state.x, state.obstacle_x]))) == 0
    again = Simulation(load_sheet("note", COARSE))
    again.play(one.session.script())
    assert state_digest(again.state) == state_digest(one.session.state)


def test_a_step_that_fails_leaves_the_sheet_at_rest(monkeypatch):
    one = player()
    one.frame()
    monkeypatch.setattr(one.session, "advance", lambda *_, **__: (_ for _ in ()).throw(SimulationError("too much")))
    before = one.session.state.x
    one.frame()
    values, _ = decode_packet(one.packet(0))
    assert "trouble" in [event["kind"] for event in values["events"]]
    np.testing.assert_array_equal(one.session.state.x, before)
    assert not one.session.state.v.any()


def test_a_sheet_at_rest_costs_nothing():
    one = player()
    for _ in range(120):
        one.frame()
    at = one.session.time
    assert at < 119 / 60
    one.frame()
    assert one.session.time == at
    one.obey(down(0.0, 0.0))
    one.frame()
    assert one.session.time > at


def test_hands_of_a_page_that_has_gone_let_go():
    one = player()
    one.obey(down(0.05, 0.05, page=1))
    one.obey(down(-0.05, -0.05, page=12))
    one.obey({"do": "leave", "page": 1})
    assert list(decode_packet(one.packet(0))[0]["hands"]) == ["12:0"]


@pytest.mark.parametrize(
    "command",
    [
        {},
        {"do": "__init__"},
        {"do": ["grab"]},
        {"do": "grab", "hand": 0},
        {"do": "grab", "hand": True, "origin": [0, 0, 1], "direction": [0, 0, -1]},
        {"do": "grab", "hand": 0, "origin": [0, 0, 1], "direction": [0, 0, 0]},
        {"do": "grab", "hand": 0, "origin": [0, 0, "x"], "direction": [0, 0, 1]},
        {"do": "grab", "hand": 0, "origin": [0, 0, float("nan")], "direction": [0, 0, 1]},
        {"do": "grab", "hand": 0, "origin": [10**400, 0, 0], "direction": [0, 0, 1]},
        {"do": "move", "hand": -1, "position": [0, 0, 0]},
    ],
)
def test_nonsense_is_refused(command):
    with pytest.raises(InputError):
        player().obey(command)


def test_hands_are_counted(monkeypatch):
    one, places = player(), ((-0.07, -0.07), (0.07, 0.07), (0.07, -0.07))
    monkeypatch.setattr("crumple.studio.player.MOST_HANDS", 2)
    for hand, (x, y) in enumerate(places[:2]):
        one.obey(down(x, y, hand))
    with pytest.raises(InputError, match="2 hands already"):
        one.obey(down(*places[2], 2))


async def _frame(socket: ClientWebSocketResponse, known: int = 0) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    while True:
        await socket.send_str(json.dumps({"do": "show", "known": known}))
        message = await asyncio.wait_for(socket.receive(), 120)
        if message.type == WSMsgType.BINARY:
            return decode_packet(message.data)
        assert "failed" not in json.loads(message.data)


def visit(work, guard: Guard | None = None) -> None:
    async def session() -> None:
        app = PlayServer(load_sheet("note", COARSE), guard).application()
        async with TestClient(TestServer(app)) as client:
            await work(client)

    asyncio.run(session())


def test_pages_play_and_bad_ones_do_no_harm():
    async def work(client: TestClient) -> None:
        page = await client.get("/")
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
        for part in (
            "play.js",
            "table.js",
            "patch.js",
            "sound.js",
            "data.js",
            "surface.js",
            "vendor/three.min.js",
            "play.css",
        ):
            assert (await client.get(f"/{part}")).status == 200, part
        with pytest.raises(WSServerHandshakeError):
            await client.ws_connect("/socket", headers={"Origin": "http://elsewhere.example"})
        async with client.ws_connect("/socket") as socket:
            values, arrays = await _frame(socket)
            for text in (
                "",
                "[]",
                "{",
                '{"do": 1}',
                '{"do": "leave", "page": 1}',
                '{"do": "sheet", "name": "../x"}',
                "[" * 2000,
            ):
                await socket.send_str(text)
                answer = await asyncio.wait_for(socket.receive(), 20)
                assert "error" in json.loads(answer.data), text
            await socket.send_str(json.dumps(down(0.06, 0.06)))
            await socket.send_str(json.dumps({"do": "move", "hand": 0, "position": [0.06, 0.06, 0.05]}))
            later = values
            while later["frame"] < values["frame"] + 20:
                later, moved = await _frame(socket, values["topology"])
            assert moved["x"][:, 2].max() > arrays["x"][:, 2].max() + 0.01
            assert len(later["hands"]) == 1
        others = [await client.ws_connect("/socket") for _ in range(MOST_PAGES)]
        with pytest.raises(WSServerHandshakeError):
            await client.ws_connect("/socket")
        values, _ = await _frame(others[0])
        assert not values["hands"], "the page that held it has gone"
        await others[1].send_str("x" * 5000)
        closed = await asyncio.wait_for(others[1].receive(), 20)
        assert closed.type in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.CLOSING)
        await _frame(others[0])
        for socket in others:
            await socket.close()

    visit(work)


def test_a_token_is_asked_for_elsewhere():
    async def work(client: TestClient) -> None:
        assert (await client.get("/")).status == 403
        assert (await client.get("/?token=secret")).status == 200

    visit(work, Guard("secret"))


def test_every_action_has_a_method_of_its_own():
    assert set(ACTIONS) >= {"grab", "move", "release", "pin", "unpin", "undo", "redo", "reset", "pause", "slow", "save"}
