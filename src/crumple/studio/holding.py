"""Hands in a scene that the studio simulates: pages take the sheet, move it and let go, from frame to frame."""

from __future__ import annotations

from typing import Any

from crumple.runtime.errors import CrumpleError, InputError
from crumple.runtime.typing import Floats
from crumple.session.session import Session
from crumple.studio.commands import Command, hand_key, point

GRAB, MOVE, RELEASE, LEAVE = "grab", "move", "release", "leave"
HOLDS = (GRAB, MOVE, RELEASE)
"""What a page may ask of a hand."""
MOST_HANDS = 10
"""Hands at a time, of all pages together."""
FASTEST = 3.0
"""Speed of a hand [m/s]: one that is sent farther comes after."""


def checked_hold(command: Command) -> dict[str, Any]:
    """A command for a hand with plain, checked values; `InputError` when it makes no sense."""
    what = command.get("do")
    if what not in HOLDS:
        raise InputError("do", f"must be one of {', '.join(HOLDS)}", str(what)[:40])
    needed = {GRAB: ("origin", "direction"), MOVE: ("position",), RELEASE: ()}[str(what)]
    who = {"key": hand_key(command), "page": command.get("page"), "hand": command["hand"]}
    return {"do": what, **who, **{name: point(command, name).tolist() for name in needed}}


class Holding:
    """Hands of pages in a session; `obey` takes commands between two frames, `send` moves hands in the next."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._hands: dict[str, str] = {}
        self._goals: dict[str, Floats] = {}

    def obey(self, command: dict[str, Any]) -> None:
        """Do what a command says; what is not possible is left undone."""
        try:
            if command["do"] == LEAVE:
                for key in [key for key in self._hands if key.startswith(f"{command['page']}:")]:
                    self._release(key)
            else:
                {GRAB: self._grab, MOVE: self._move, RELEASE: self._let_go}[command["do"]](command)
        except CrumpleError:
            return  # the sheet is held there already, or the hand is there no more

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
        if command["key"] in self._hands or len(self._hands) >= MOST_HANDS:
            return
        place = self._session.pick(command["origin"], command["direction"])
        if place is not None:
            self._hands[command["key"]] = self._session.grab(place.u, sheet=place.sheet)

    def _move(self, command: dict[str, Any]) -> None:
        if command["key"] in self._hands:
            self._goals[command["key"]] = point(command, "position")

    def _let_go(self, command: dict[str, Any]) -> None:
        self._release(command["key"])

    def _release(self, key: str) -> None:
        self._goals.pop(key, None)
        hand = self._hands.pop(key, None)
        if hand is not None and hand in self._session.hands:
            self._session.release(hand)
