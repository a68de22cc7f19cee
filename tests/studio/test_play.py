"""The sheet in the browser: what the process does with hands, what the server lets through."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from importlib.resources import files
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
from crumple.studio.actions import ACTIONS, obey
from crumple.studio.guard import Guard
from crumple.studio.play_server import MODULES, MOST_PAGES, Allowance, PlayServer
from crumple.studio.player import Player
from crumple.studio.sheets import MATERIALS, SHEETS, sheet_tables

COARSE = ["sheets[0].shape.size=0.05"]


def player() -> Player:
    return Player(Simulation(load_sheet("note", COARSE)))


def down(x: float, y: float, hand: int = 0, page: int = 1) -> dict[str, Any]:
    return {"do": "grab", "page": page, "hand": hand, "origin": [x, y, 1.0], "direction": [0.0, 0.0, -1.0]}


@pytest.mark.parametrize("name", SHEETS)
def test_every_sheet_can_be_taken(name):
    one = Player(Simulation(load_sheet(name, COARSE if SHEETS[name].shape is None else ())))
    obey(one, down(0.0, 0.0))
    obey(one, {"do": "move", "page": 1, "hand": 0, "position": [0.0, 0.0, 0.1]})
    one.frame()
    values, arrays = decode_packet(one.packet(1, 0))
    assert values["hands"]["1:0"][2] > 0.02
    assert set(arrays) == {"x", "u", "faces", "node", "sheet", "obstacle_x", "obstacle_faces"}
    assert set(decode_packet(one.packet(1, values["topology"]))[1]) == {"x"}


@pytest.mark.slow
def test_random_hands_do_no_harm():
    """Grabs, throws, pins, undos at random: no exception, nothing intersects, the same script gives the same bits."""
    rng, one = np.random.default_rng(3), player()
    for k in range(100):
        if k % 10 == 0:
            obey(one, {"do": rng.choice(["release", "pin", "undo", "redo", "gravity", "unpin"]), "page": 1, "hand": 0})
            with suppress(InputError):  # the sheet may be held there already
                obey(one, down(*rng.uniform(-0.07, 0.07, 2), hand=int(rng.integers(4))))
        place = rng.uniform([-0.1, -0.1, -0.05], [0.1, 0.1, 0.15]).tolist()
        obey(one, {"do": "move", "page": 1, "hand": int(rng.integers(4)), "position": place})
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
    one.packet(1, 0)
    monkeypatch.setattr(one.session, "advance", lambda *_, **__: (_ for _ in ()).throw(SimulationError("too much")))
    before = one.session.state.x
    one.frame()
    values, _ = decode_packet(one.packet(1, 0))
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
    obey(one, down(0.0, 0.0))
    one.frame()
    assert one.session.time > at


def test_hands_of_a_page_that_has_gone_let_go():
    one = player()
    obey(one, down(0.05, 0.05, page=1))
    obey(one, down(-0.05, -0.05, page=12))
    obey(one, {"do": "leave", "page": 1})
    assert list(decode_packet(one.packet(1, 0))[0]["hands"]) == ["12:0"]


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
        {"do": "push", "hand": 0, "obstacle": "floor", "position": [0, 0, 0]},
        {"do": "push", "hand": 0, "obstacle": ["floor"], "position": [0, 0, 0]},
        {"do": "wind", "velocity": [0, float("inf"), 0]},
        {"do": "wind", "velocity": 3},
        {"do": "iron", "fraction": float("nan")},
        {"do": "iron", "fraction": 2},
        {"do": "press", "angle": 9, "points": [[0, 0], [0.1, 0]]},
        {"do": "press", "angle": 1, "points": [[0, 0]]},
        {"do": "press", "angle": 1, "points": [[0, 0], [0, 0]]},
        {"do": "press", "angle": 1, "points": [[0, 0], [0.1, 0]], "sheet": 7},
        {"do": "cut", "points": [[0, 0]] * 1000},
        {"do": "cut", "points": [[0, float("nan")], [0, 1]]},
        {"do": "cut", "points": [[0, 10**400], [0, 1]]},
        {"do": "cut", "points": "everywhere"},
        {"do": "drive", "group": "zigzags", "percent": 10},
        {"do": "drive", "group": {}, "percent": 10},
        {"do": "replay"},
    ],
)
def test_nonsense_is_refused(command):
    with pytest.raises(InputError):
        obey(player(), command)


def test_undo_goes_back_to_before_a_grasp_and_redo_on_again():
    """Not to the moment before the hand let go, from which the next undo could not get away."""
    one = player()
    for place in ((0.06, 0.06), (-0.06, -0.06)):
        obey(one, down(*place))
        obey(one, {"do": "move", "page": 1, "hand": 0, "position": [*place, 0.03]})
        one.frame()
        obey(one, {"do": "release", "page": 1, "hand": 0})
    last = one.session.state.x
    obey(one, {"do": "undo"})
    obey(one, {"do": "undo"})
    assert one.session.time == 0.0
    assert one.session.undo_count == 0
    obey(one, {"do": "redo"})
    obey(one, {"do": "redo"})
    np.testing.assert_array_equal(one.session.state.x, last)
    assert not one.session.hands


def test_tools_and_a_replay_that_does_the_same_again():
    one = player()
    obey(one, {"do": "press", "points": [[0.0, 0.075], [0.15, 0.075]], "angle": -1.0})
    one.frame()
    obey(one, {"do": "floor"})
    obey(one, {"do": "wind", "velocity": [1.0, 0.0, 0.0]})
    one.frame()
    values, _ = decode_packet(one.packet(1, 0))
    assert not values["floor"]
    assert values["wind"]
    obey(one, {"do": "cut", "points": [[0.075, 0.0], [0.075, 0.15]]})
    obey(one, {"do": "iron", "fraction": 0.5})
    one.frame()
    last = state_digest(one.session.state)
    obey(one, {"do": "replay"})
    assert one.session.time == 0.0
    while one.replaying:
        one.frame()
    assert state_digest(one.session.state) == last


def test_creases_are_driven_and_obstacles_pushed():
    one = Player(Simulation(load_sheet("miura")))
    obey(one, {"do": "drive", "group": "zigzags", "percent": 30})
    for _ in range(3):
        one.frame()
    now, goal = decode_packet(one.packet(1, 0))[0]["drives"]["zigzags"]
    assert 0.0 < now < goal == 30.0
    one = Player(Simulation(load_sheet("ball", COARSE)))
    before = one.session.obstacle_position("ball")
    obey(one, {"do": "push", "page": 1, "hand": 0, "obstacle": "ball", "position": [0.0, 0.0, 0.03]})
    topology = decode_packet(one.packet(1, 0))[0]["topology"]
    one.frame()
    assert one.session.obstacle_position("ball")[2] < before[2]
    assert "obstacle_x" in decode_packet(one.packet(1, topology))[1]
    assert "obstacle_x" not in decode_packet(one.packet(1, topology))[1]
    obey(one, {"do": "leave", "page": 1})
    assert not one.pushes


def test_news_reach_every_page_once():
    one = player()
    for page in (1, 2):
        one.packet(page, 0)
    one.tell("snap")
    for page in (1, 2):
        assert [event["kind"] for event in decode_packet(one.packet(page, 0))[0]["events"]] == ["snap"]
        assert not decode_packet(one.packet(page, 0))[0]["events"]


def test_allowances_end():
    every = Allowance("save", 100.0, 5)
    every.take()
    with pytest.raises(InputError, match="wait a moment"):
        every.take()
    some = Allowance("save", 0.0, 2)
    some.take()
    some.take()
    with pytest.raises(InputError, match="2 times"):
        some.take()


@pytest.mark.parametrize(
    "wish",
    [("../x",), ("note", "lead"), ("note", None, [0.1]), ("note", None, [0.1, float("nan")]), ("dart", None, [1, 1])],
)
def test_sheets_that_do_not_exist_are_refused(wish):
    with pytest.raises(InputError):
        sheet_tables(*wish)


def test_hands_are_counted(monkeypatch):
    one, places = player(), ((-0.07, -0.07), (0.07, 0.07), (0.07, -0.07))
    monkeypatch.setattr("crumple.studio.player.MOST_HANDS", 2)
    for hand, (x, y) in enumerate(places[:2]):
        obey(one, down(x, y, hand))
    with pytest.raises(InputError, match="2 hands already"):
        obey(one, down(*places[2], 2))


async def _frame(socket: ClientWebSocketResponse, known: int = 0) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    while True:
        await socket.send_str(json.dumps({"do": "show", "known": known, "seen": -1}))
        message = await asyncio.wait_for(socket.receive(), 120)
        if message.type == WSMsgType.BINARY:
            values, arrays = decode_packet(message.data)
            if values["version"] > 0:  # before that it can be seen, but not taken
                return values, arrays
            continue
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
        for part in (*(f"{name}.js" for name in MODULES), "vendor/three.min.js", "play.css"):
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
                while answer.type == WSMsgType.BINARY or "waiting" in answer.data:  # asked for before
                    answer = await asyncio.wait_for(socket.receive(), 20)
                assert "error" in json.loads(answer.data), text
            await socket.send_str(json.dumps(down(0.06, 0.06)))
            await socket.send_str(json.dumps({"do": "move", "hand": 0, "position": [0.06, 0.06, 0.05]}))
            later, _ = await _frame(socket, values["topology"])
            end = later["frame"] + 20
            while later["frame"] < end:
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


def test_the_page_offers_every_action_sheet_and_material():
    page = (files("crumple.studio") / "page" / "play.html").read_text()
    for name in set(ACTIONS) - {"grab", "move", "release", "push", "leave", "press", "drive"}:
        assert f'id="{name}"' in page, name
    for name in SHEETS:
        assert f'value="{name}"' in page, name
    for name in MATERIALS:
        assert f"<option>{name}</option>" in page, name


def test_a_sheet_that_is_stuck_goes_back_to_where_it_can_go_on(monkeypatch):
    one, take = player(), Simulation.advance
    obey(one, down(0.06, 0.06))
    for k in range(70):
        obey(one, {"do": "move", "page": 1, "hand": 0, "position": [0.06, 0.06, 0.001 * k]})
        one.frame()
    high = one.session.state.x[:, 2].max()

    def advance(session, *arguments, **options):
        if session.state.x[:, 2].max() > 0.7 * high:
            raise SimulationError("too high")
        return take(session, *arguments, **options)

    monkeypatch.setattr(Simulation, "advance", advance)
    one.packet(1, 0)
    for _ in range(2):
        one.frame()
    values, _ = decode_packet(one.packet(1, 0))
    told = [event["kind"] for event in values["events"] if event["kind"] in ("trouble", "slipped")]
    assert told == ["trouble", "slipped"]
    assert not values["hands"]
    assert 0.4 < one.session.time < 1.1
    obey(one, {"do": "undo"})  # passes over the places in between
    assert one.session.time == 0.0


def test_a_sheet_that_falls_off_the_table_is_left_there():
    one = player()
    obey(one, {"do": "floor"})
    for _ in range(40):
        one.frame()
    fallen = [event["kind"] for event in decode_packet(one.packet(1, 0))[0]["events"]].count("fallen")
    time = one.session.time
    for _ in range(5):
        one.frame()
    assert one.session.time == time < 40 / 60
    with pytest.raises(InputError, match="brings it back"):
        obey(one, {"do": "floor"})
    obey(one, {"do": "undo"})
    one.frame()
    assert one.session.time == pytest.approx(1 / 60)
    assert fallen <= 1
