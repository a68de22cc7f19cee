"""Nobody waits for ever: replies that are owed, commands that wait, and frames while pages talk."""

from __future__ import annotations

import time as clock
from typing import Any

import pytest

pytest.importorskip("aiohttp")
from packets import decode_packet

from crumple.cli.playing import load_sheet
from crumple.runtime.errors import InputError
from crumple.session.simulation import Simulation
from crumple.studio import actions, outbox
from crumple.studio.outbox import Outbox
from crumple.studio.play_process import Loop
from crumple.studio.play_server import ASK_AGAIN, PlayServer
from crumple.studio.player import Player

COARSE = ["sheets[0].shape.size=0.05"]


def drained(box: Outbox) -> list[dict[str, Any]]:
    found = []
    while (command := box.take()) is not None:
        found.append(command)
    return found


def hand(do: str, page: int = 1, hand: int = 0, **more: Any) -> dict[str, Any]:
    return {"do": do, "page": page, "hand": hand, **more}


def test_a_hand_that_moves_on_is_sent_to_its_last_place_in_the_order_of_things():
    box = Outbox()
    for command in (
        hand("grab"),
        hand("move", position=1),
        hand("move", hand=1, position=5),
        hand("move", position=2),
        hand("release"),
        hand("grab"),
        hand("move", position=3),
    ):
        box.put(command)
    told = [(one["do"], one["hand"], one.get("position")) for one in drained(box)]
    assert told == [
        ("grab", 0, None), ("move", 0, 2), ("move", 1, 5), ("release", 0, None), ("grab", 0, None), ("move", 0, 3),
    ]  # fmt: skip
    box.put(hand("move", position=4))
    assert [one["position"] for one in drained(box)] == [4], "what was taken is not changed any more"


def test_what_was_taken_can_be_let_go_however_much_waits(monkeypatch):
    monkeypatch.setattr(outbox, "MOST_UNSENT", 3)
    box = Outbox()
    for command in (hand("grab"), {"do": "undo", "page": 2}, {"do": "undo", "page": 2}):
        box.put(command)
    for refused in ({"do": "undo", "page": 2}, hand("grab", hand=1), hand("release", hand=1), hand("release", page=2)):
        with pytest.raises(InputError, match="too many commands"):
            box.put(refused)
    box.put(hand("release"))
    with pytest.raises(InputError, match="too many commands"):
        box.put(hand("release"))
    box.put({"do": "show", "page": 2})
    box.put({"do": "leave", "page": 2})
    assert [one["do"] for one in drained(box)] == ["grab", "undo", "undo", "release", "show", "leave"]


@pytest.mark.parametrize("number", [None, [], {}, "0", 1.5, 10**30])
def test_odd_hands_pass_through(number):
    box = Outbox()
    for do in ("grab", "move", "move", "release"):
        box.put({"do": do, "page": 1, "hand": number})
    assert [one["do"] for one in drained(box)][-1] == "release"


class Talker:
    """A pipe at whose other end somebody talks without a pause, for `seconds`."""

    def __init__(self, command: dict[str, Any], seconds: float = 0.6) -> None:
        self.command, self.sent, self.taken = command, [], 0
        self._end = clock.perf_counter() + seconds

    def poll(self, timeout: float = 0.0) -> bool:
        return True

    def recv(self) -> dict[str, Any]:
        if clock.perf_counter() > self._end:
            raise EOFError
        self.taken += 1
        clock.sleep(1e-4)
        return dict(self.command)

    def send(self, news: dict[str, Any]) -> None:
        self.sent.append(news)


@pytest.fixture
def player():
    one = Player(Simulation(load_sheet("note", COARSE)))
    one.frame()
    return one


def test_time_goes_on_while_a_page_talks_without_a_pause(player):
    pipe = Talker({"do": "move", "page": 1, "hand": 0, "position": [0.0, 0.0, 0.1]})
    before = player.session.state.frame
    with pytest.raises(EOFError):
        Loop(player, pipe).run()
    assert pipe.taken > 10
    assert player.session.state.frame > before + 2


def test_an_error_that_nobody_has_foreseen_is_told_and_the_sheet_stays(player, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("of all things")

    loop = Loop(player, pipe := Talker({}))
    monkeypatch.setitem(actions.ACTIONS, "iron", fail)
    loop.hear({"do": "iron", "page": 3, "fraction": 1.0})
    assert pipe.sent.pop()["error"].startswith("internal error: ZeroDivisionError")
    with monkeypatch.context() as patch:
        patch.setattr(Player, "packet", fail)
        loop.hear({"do": "show", "page": 3, "known": 0, "seen": -1})
        assert "internal error" in pipe.sent.pop()["error"]
    loop.hear({"do": "show", "page": 3, "known": 0, "seen": -1})
    values, _ = decode_packet(pipe.sent.pop()["packet"])
    assert values["faces"] > 0


class Silent:
    """A sheet that takes wishes and never answers."""

    is_ready, trouble, first = True, "", None

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def tell(self, command: dict[str, Any]) -> None:
        self.told.append(command)


def test_a_page_that_was_shown_nothing_may_ask_again(monkeypatch):
    server, now = PlayServer({}), [100.0]
    server._sheet = sheet = Silent()
    monkeypatch.setattr("crumple.studio.play_server.clock.monotonic", lambda: now[0])
    for _ in range(5):
        server._hear(1, '{"do": "show", "known": 0, "seen": -1}')
    assert len(sheet.told) == 1
    now[0] += 1.1 * ASK_AGAIN
    server._hear(1, '{"do": "show", "known": 0, "seen": -1}')
    assert len(sheet.told) == 2


def test_recovery_passes_over_errors_of_any_kind(player, monkeypatch):
    take = Simulation.advance
    actions.obey(player, {"do": "grab", "page": 1, "hand": 0, "origin": [0.06, 0.06, 1.0], "direction": [0, 0, -1.0]})
    for k in range(35):
        actions.obey(player, hand("move", position=[0.06, 0.06, 0.001 * k]))
        player.frame()
    late = player.session.time

    def advance(session, *arguments, **options):
        if session.time >= late:
            raise ZeroDivisionError("of all things")
        return take(session, *arguments, **options)

    monkeypatch.setattr(Simulation, "advance", advance)
    player.packet(1, 0)
    for _ in range(2):
        player.frame()
    values, _ = decode_packet(player.packet(1, 0))
    kinds = [event["kind"] for event in values["events"]]
    assert "trouble" in kinds
    assert "slipped" in kinds
    assert player.session.time < late


def test_a_session_that_cannot_go_on_from_anywhere_says_that_it_begins_anew(player, monkeypatch):
    def advance(session, *arguments, **options):
        raise ZeroDivisionError("of all things")

    player.packet(1, 0)
    monkeypatch.setattr(Simulation, "advance", advance)
    for _ in range(2):
        player.frame()
    values, _ = decode_packet(player.packet(1, 0))
    assert [event["kind"] for event in values["events"]][-1] == "anew"
    assert player.session.time == 0.0


def test_a_flood_of_sliders_waits_as_one_wish_of_each_page_and_group():
    box = Outbox()
    for percent in range(5000):
        for page in range(16):
            box.put({"do": "drive", "page": page, "group": "wings", "percent": percent})
    waiting = drained(box)
    assert [one["percent"] for one in waiting] == 16 * [4999]
    for number in range(outbox.MOST_UNSENT):
        box.put({"do": "drive", "page": 1, "group": f"group {number}", "percent": 1})
    with pytest.raises(InputError, match="too many commands"):
        box.put({"do": "drive", "page": 1, "group": "one more", "percent": 1})
