"""Hands in a scene that the studio simulates: pages take the sheet, move it and let go, and fold driven creases, from
frame to frame."""

from __future__ import annotations

from typing import Any

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.session.session import Session
from crumple.studio.commands import Command, hand_key, name_within, number_within, point

GRAB, MOVE, RELEASE, DRIVE, LEAVE = "grab", "move", "release", "drive", "leave"
WISHES = (GRAB, MOVE, RELEASE, DRIVE)
"""What a page may ask of a scene that runs."""
MOST_HANDS = 10
"""Hands at a time, of all pages together."""
FASTEST = 3.0
"""Speed of a hand [m/s]: one that is sent farther comes after."""


def checked_wish(command: Command) -> dict[str, Any]:
    """What a page asks for with plain, checked values; `InputError` when it makes no sense."""
    what = command.get("do")
    if what not in WISHES:
        raise InputError("do", f"must be one of {', '.join(WISHES)}", str(what)[:40])
    page = {"do": what, "page": command.get("page")}
    if what == DRIVE:
        return {
            **page,
            "group": name_within(command, "group"),
            "percent": number_within(command, "percent", 0.0, 100.0),
        }
    needed = {GRAB: ("origin", "direction"), MOVE: ("position",), RELEASE: ()}[str(what)]
    who = {**page, "key": hand_key(command), "hand": command["hand"]}
    return {**who, **{name: point(command, name).tolist() for name in needed}}


class Holding:
    """Hands of pages in a session; `obey` takes commands between two frames, `send` moves hands in the next."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._hands: dict[str, str] = {}
        self._goals: dict[str, Floats] = {}

    def obey(self, command: dict[str, Any]) -> None:
        """Do what a command says; `CrumpleError` when that is not possible, and nothing was changed then."""
        actions = {GRAB: self._grab, MOVE: self._move, RELEASE: self._let_go, DRIVE: self._drive, LEAVE: self._leave}
        actions[command["do"]](command)

    def send(self) -> None:
        """Send every hand towards where it is wanted."""
        session = self._session
        for key, hand in self._hands.items():
            if key in self._goals:
                here = session.hand_position(hand)
                way = self._goals[key] - here
                share = FASTEST * session.model.frame_time / max(float((way @ way) ** 0.5), 1e-12)
                session.move(hand, here + min(share, 1.0) * way)

    def _grab(self, command: dict[str, Any]) -> None:
        if command["key"] in self._hands:
            return
        if len(self._hands) >= MOST_HANDS:
            raise InputError("grab", f"there are {MOST_HANDS} hands already; let one go")
        place = self._session.pick(command["origin"], command["direction"])
        if place is None:
            raise InputError("grab", "the sheet has moved on from there; take it in the newest frame")
        self._hands[command["key"]] = self._session.grab(place.u, sheet=place.sheet)

    def _move(self, command: dict[str, Any]) -> None:
        if command["key"] in self._hands:  # else its page was told why it holds nothing
            self._goals[command["key"]] = point(command, "position")

    def _let_go(self, command: dict[str, Any]) -> None:
        self._release(command["key"])

    def _drive(self, command: dict[str, Any]) -> None:
        self._session.drive(command["group"], command["percent"])

    def _leave(self, command: dict[str, Any]) -> None:
        for key in [key for key in self._hands if key.startswith(f"{command['page']}:")]:
            self._release(key)

    def _release(self, key: str) -> None:
        self._goals.pop(key, None)
        hand = self._hands.pop(key, None)
        if hand is not None and hand in self._session.hands:
            self._session.release(hand)
