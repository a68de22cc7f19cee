"""Commands that wait for a process that is busy: no more than it can catch up with, and none that lets go is lost."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from crumple.runtime.errors import InputError

MOST_UNSENT = 1000
"""Commands that wait for a process that is busy; more are refused."""
NEVER_REFUSED = ("show", "leave")
"""Commands of which a page has one at a time: whoever talks without a pause does not keep the others from seeing."""
TAKE, CARRY, LET_GO = ("grab", "push"), ("move", "push", "drive"), ("release", "pin")
"""What takes hold, what may be left out when the same comes again, and what ends a grasp."""

Command = dict[str, Any]
Grasp = tuple[object, int | str]


class Outbox:
    """A queue for one reader; `put` and `take` may be called from different threads.

    A hand that moves on while its last place still waits is sent to the new place alone, and so is a slider. A grasp
    that was passed on can always be ended: a release that is refused would leave a sheet in the hand for ever.
    """

    def __init__(self) -> None:
        self._waiting: deque[Command] = deque()
        self._moves: dict[Grasp, Command] = {}
        self._held: set[Grasp] = set()
        self._lock = threading.Lock()

    def put(self, command: Command) -> bool:
        """Add a command, and say whether there is one more now; `InputError` when too many wait."""
        grasp, what = _grasp(command), command["do"]
        with self._lock:
            if grasp in self._moves and what == self._moves[grasp]["do"] and what in CARRY:
                self._moves[grasp].update(command)
                return False
            if len(self._waiting) >= MOST_UNSENT and what not in NEVER_REFUSED and not self._ends(what, grasp):
                raise InputError("commands", "too many commands at a time; the rest is left out")
            self._note(what, grasp, command)
            self._waiting.append(command)
            return True

    def take(self) -> Command | None:
        """The command that has waited longest, None when there is none."""
        with self._lock:
            if not self._waiting:
                return None
            command = self._waiting.popleft()
            grasp = _grasp(command)
            if grasp is not None and self._moves.get(grasp) is command:
                del self._moves[grasp]
            return command

    def _ends(self, what: str, grasp: Grasp | None) -> bool:
        return what in LET_GO and grasp in self._held

    def _note(self, what: str, grasp: Grasp | None, command: Command) -> None:
        """Keep in mind what is held, and which command the next move of a hand may replace: none from before another
        command of its page."""
        if what == "leave":
            self._held = {one for one in self._held if one[0] != command.get("page")}
        if what not in CARRY and what != "show":
            self._moves = {one: move for one, move in self._moves.items() if one[0] != command.get("page")}
        if grasp is None:
            return
        if what in CARRY:
            self._moves[grasp] = command
        if what in TAKE and len(self._held) < MOST_UNSENT:
            self._held.add(grasp)
        elif what in LET_GO:
            self._held.discard(grasp)


def _grasp(command: Command) -> Grasp | None:
    """The hand of a page that a command is for, or the driven creases; None when it names none."""
    name, kind = ("group", str) if command["do"] == "drive" else ("hand", int)
    return (command.get("page"), command[name]) if isinstance(command.get(name), kind) else None
