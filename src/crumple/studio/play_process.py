"""The process in which a sheet is played with: it simulates in real time, obeys hands, and shows pages what is new.

When a frame takes longer than it lasts, time slows down; no iteration is saved, because states out of balance would
yield.
"""

from __future__ import annotations

import signal
import time as clock
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from crumple.runtime.errors import CrumpleError
from crumple.scenes import scene_from_tables
from crumple.session.engines import PHYSICS
from crumple.session.simulation import Simulation
from crumple.studio.actions import obey
from crumple.studio.player import Player, internal_error
from crumple.studio.sheet_process import Playable

PATIENCE = 0.5
"""Time [s] after which a page is shown even what it has seen already, so that it knows that somebody is there."""
LATEST = 0.05
"""Time [s] by which a frame may be late because commands come without a pause; the rest waits for the next one."""


def play(scene: Playable, engine: str, pipe: Connection) -> None:
    """Play with the scene and the `engine` of this name until the other end of the pipe is closed.

    In: commands with the number of their `page`, `{"do": "show", "known": K, "seen": V}` when a page wants what is
    newer than V, `{"do": "scene", "scene": S}` for another sheet. Out: `{"page": N, "packet": …}`, `{"page": N,
    "error": …}`, and once `{"first": packet}`, then `{"ready": True}`, or `{"failed": …}`.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # they reach the server too, which then closes the pipe
        signal.signal(number, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        try:
            player = Player(simulate(scene, engine))
            pipe.send({"first": player.packet(None, 0)})
            player.frame()  # compiles what frames need
        except CrumpleError as error:
            return pipe.send({"failed": str(error)})
        except Exception as error:  # pages show it in one line; a traceback would scroll by unseen
            return pipe.send({"failed": internal_error(error)})
        pipe.send({"ready": True})
        Loop(player, pipe).run()


def simulate(scene: Playable, engine: str = PHYSICS) -> Simulation:
    """The session of a scene or of its tables."""
    found = scene_from_tables(scene, source="crumple play") if isinstance(scene, dict) else scene
    return Simulation(found, engine=engine)


class Loop:
    """Frames in real time, or as fast as they come, and commands in between."""

    def __init__(self, player: Player, pipe: Connection) -> None:
        self.player, self._pipe = player, pipe
        self._waiting: dict[object, tuple[dict[str, Any], float]] = {}

    def run(self) -> None:
        """Until the pipe is closed."""
        due = clock.perf_counter()
        while True:
            while clock.perf_counter() < due + LATEST and self._pipe.poll(max(due - clock.perf_counter(), 0.0)):
                self.hear(self._pipe.recv())
            self.player.frame()
            self.show_new()
            due = max(due + self.player.session.model.frame_time / self.player.pace, clock.perf_counter())

    def hear(self, command: dict[str, Any]) -> None:
        """Take a command; what is wrong with it is told to its page."""
        try:
            if command.get("do") == "show":
                self._waiting[command["page"]] = command, clock.perf_counter() + PATIENCE
            elif command.get("do") == "scene":
                session = simulate(command["scene"], self.player.session.engine_name)
                self.player = Player(session, self.player.version + 1)
            else:
                obey(self.player, command)
                if command.get("do") == "leave":
                    self._waiting.pop(command.get("page"), None)
        except CrumpleError as error:
            self._pipe.send({"page": command.get("page"), "error": str(error)})
        except OSError as error:  # a full disk, a folder that may not be written
            message = f"{error.filename or 'the disk'}: {error.strerror or error}"
            self._pipe.send({"page": command.get("page"), "error": message})
        except Exception as error:  # whatever it is, the sheet stays on the table
            self._pipe.send({"page": command.get("page"), "error": internal_error(error)})
        self.show_new()

    def show_new(self) -> None:
        """Show what they have not seen to all pages that wait for it."""
        now = clock.perf_counter()
        for page, (command, latest) in list(self._waiting.items()):
            if command["seen"] != self.player.version or now > latest:
                del self._waiting[page]
                self._pipe.send({"page": page} | self._view(page, command["known"]))

    def _view(self, page: object, known: int) -> dict[str, Any]:
        """The packet for a page, or what was wrong with it; the page asks again after a while."""
        try:
            return {"packet": self.player.packet(page, known)}
        except Exception as error:  # the sheet stays on the table
            return {"error": internal_error(error)}
