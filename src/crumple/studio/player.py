"""The process in which a sheet is played with: it simulates in real time and obeys hands.

It never fails: a step that cannot be taken leaves the last safe state, the sheet comes to rest there, and the page is
told. When a frame takes longer than it lasts, time slows down; no iteration is saved, because states out of balance
would yield. A sheet that nothing moves is left alone.
"""

from __future__ import annotations

import secrets
import signal
import time as clock
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from crumple.recording.log import plain
from crumple.runtime.errors import CrumpleError, InputError, SimulationError
from crumple.runtime.typing import Floats
from crumple.scenes import Scene
from crumple.session.arguments import vector
from crumple.session.simulation import Simulation
from crumple.studio.packets import encode_packet

MOST_HANDS = 10
"""Hands at a time, of all pages together."""
FASTEST = 3.0
"""Speed of a hand [m/s]: one that is sent farther comes after."""
AT_REST = 1e-3
"""Speed of all nodes [m/s] below which the sheet lies still."""
REST_FRAMES = 30
"""Frames at rest after which nothing is computed until somebody does something."""
EVENTS = ("snap", "crease", "tear", "trouble")
"""Events that pages are told of."""


class Player:
    """A session with hands that pages move; `obey` takes their commands, `frame` goes on by one frame."""

    def __init__(self, session: Simulation) -> None:
        self.session = session
        self.is_paused = False
        self.pace = 1.0
        self._gravity = session.model.gravity
        self._hands: dict[str, str] = {}
        self._goals: dict[str, Floats] = {}
        self._calm_frames = 0
        self._origin = 4096 * secrets.randbelow(2**18)  # no other sheet of a page has the same topologies
        self._news: list[dict[str, Any]] = []

    def obey(self, command: Mapping[str, Any]) -> None:
        """Do what a page asks for; `InputError` when that makes no sense."""
        name = command.get("do")
        action = ACTIONS.get(name) if isinstance(name, str) else None
        if action is None:
            raise InputError("do", f"must be one of {', '.join(ACTIONS)}", name)
        action(self, command)
        self._calm_frames = 0

    def frame(self) -> None:
        """Go on by one frame, unless it is paused or at rest."""
        if self.is_paused or self._calm_frames > REST_FRAMES:
            return
        session, dt = self.session, self.session.model.frame_time
        for hand, goal in self._goals.items():
            session.move(hand, _within(session.hand_position(hand), goal, FASTEST * dt))
        try:
            session.advance(dt, keep=False)
        except SimulationError as error:
            session.calm()
            self._news.append({"kind": "trouble", "message": str(error), "energy": 0.0})
        is_still = not self._goals and float(np.abs(session.state.v).max(initial=0.0)) < AT_REST
        self._calm_frames = self._calm_frames + 1 if is_still else 0

    def packet(self, known: int) -> bytes:
        """What a page that has the topology `known` needs in order to show the present state."""
        session, view = self.session, self.session.view()
        topology = self._origin + view.topology
        for event in session.events():
            if event.kind in EVENTS:
                self._news.append({"kind": event.kind, "message": event.message, "energy": event.energy})
        values = {
            "time": session.time,
            "frame": session.state.frame,
            "topology": topology,
            "hands": {key: session.hand_position(name).tolist() for key, name in self._hands.items()},
            "events": self._news,
            "undo": session.undo_count,
            "redo": session.redo_count,
            "paused": self.is_paused,
            "pace": self.pace,
            "gravity": any(session.model.gravity),
            "faces": len(view.faces),
        }
        self._news = []
        arrays: dict[str, np.ndarray] = {"x": view.x}
        if topology != known:
            nodes = session.state.mesh.vertex_node
            arrays |= {"u": view.u, "faces": view.faces, "node": nodes, **_obstacles(session)}
        return encode_packet(plain(values), arrays)

    def grab(self, command: Mapping[str, Any]) -> None:
        """A hand takes hold where its ray meets a sheet; nothing happens where it meets none."""
        key = _key(command)
        if key in self._hands:
            return
        if len(self._hands) >= MOST_HANDS:
            raise InputError("grab", f"there are {MOST_HANDS} hands already; let one go")
        place = self.session.pick(_numbers(command, "origin"), _numbers(command, "direction"))
        if place is None:
            return
        hand = self.session.grab(place.u, sheet=place.sheet)
        self._hands[key], self._goals[hand] = hand, place.position

    def move(self, command: Mapping[str, Any]) -> None:
        """A hand is wanted at a position [m]."""
        hand = self._hands.get(_key(command))
        if hand is not None:
            self._goals[hand] = _numbers(command, "position")

    def release(self, command: Mapping[str, Any]) -> None:
        """A hand lets go."""
        self._let_go(_key(command))

    def pin(self, command: Mapping[str, Any]) -> None:
        """A hand stays where it is, whatever its page does, until all pins are taken out."""
        hand = self._hands.pop(_key(command), None)
        if hand is not None:
            self._hands[f"pin {hand}"] = hand

    def unpin(self, command: Mapping[str, Any]) -> None:
        """All pins are taken out."""
        for key in [key for key in self._hands if key.startswith("pin ")]:
            self._let_go(key)

    def leave(self, command: Mapping[str, Any]) -> None:
        """A page has gone: its hands let go."""
        page = f"{command.get('page')}:"
        for key in [key for key in self._hands if key.startswith(page)]:
            self._let_go(key)

    def undo(self, command: Mapping[str, Any]) -> None:
        """Back to before the last grasp, release or change."""
        self._travel(self.session.undo, self.session.undo_count)

    def redo(self, command: Mapping[str, Any]) -> None:
        """On again after an undo."""
        self._travel(self.session.redo, self.session.redo_count)

    def reset(self, command: Mapping[str, Any]) -> None:
        """Back to the start."""
        self.session.reset()
        self._forget_hands()

    def pause(self, command: Mapping[str, Any]) -> None:
        """Time stands still, or goes on."""
        self.is_paused = not self.is_paused

    def slow(self, command: Mapping[str, Any]) -> None:
        """Slow motion, or not."""
        self.pace = 0.25 if self.pace == 1.0 else 1.0

    def weigh(self, command: Mapping[str, Any]) -> None:
        """Gravity is switched off, or on again."""
        self.session.set_gravity((0.0, 0.0, 0.0) if any(self.session.model.gravity) else self._gravity)

    def save(self, command: Mapping[str, Any]) -> None:
        """The present state as a recording beside what was done, in a new folder in `out`."""
        folder = _new_folder(Path("out"), "play")
        self.session.save(folder)
        self.session.script().save(folder / "script.json")
        self._news.append({"kind": "saved", "message": str(folder), "energy": 0.0})

    def _travel(self, go: Callable[[], Any], count: int) -> None:
        if count:
            go()
            self._forget_hands()

    def _let_go(self, key: str) -> None:
        hand = self._hands.pop(key, None)
        if hand is not None:
            self._goals.pop(hand, None)
            if hand in self.session.hands:
                self.session.release(hand)

    def _forget_hands(self) -> None:
        """Whatever is held now is held by nobody's hand, and let go."""
        self._hands, self._goals = {}, {}
        for hand in self.session.hands:
            self.session.release(hand)


ACTIONS: dict[str, Callable[[Player, Mapping[str, Any]], None]] = {
    "grab": Player.grab,
    "move": Player.move,
    "release": Player.release,
    "pin": Player.pin,
    "unpin": Player.unpin,
    "leave": Player.leave,
    "undo": Player.undo,
    "redo": Player.redo,
    "reset": Player.reset,
    "pause": Player.pause,
    "slow": Player.slow,
    "gravity": Player.weigh,
    "save": Player.save,
}
"""What a page may ask for, by the word for it."""


def play(scene: Scene, pipe: Connection) -> None:
    """Play with the scene until the other end of the pipe is closed; the entry point of the process.

    In: commands, and `{"do": "show", "known": K}` when a page wants a frame. Out: packets, and `{"error": …}`.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # they reach the server too, which then closes the pipe
        signal.signal(number, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        try:
            player = Player(Simulation(scene))
            player.frame()  # compiles what frames need
        except CrumpleError as error:
            pipe.send({"failed": str(error)})
            return
        pipe.send({"ready": True})
        _serve(player, pipe)


def _serve(player: Player, pipe: Connection) -> None:
    """Frames in real time, or as fast as they come, and commands in between."""
    due = clock.perf_counter()
    while True:
        wait = max(due - clock.perf_counter(), 0.0)
        while pipe.poll(wait):
            command = pipe.recv()
            if command.get("do") == "show":
                pipe.send(player.packet(int(command["known"])))
            else:
                try:
                    player.obey(command)
                except CrumpleError as error:
                    pipe.send({"error": str(error), "page": command.get("page")})
            wait = max(due - clock.perf_counter(), 0.0)
        player.frame()
        due = max(due + player.session.model.frame_time / player.pace, clock.perf_counter())


def _key(command: Mapping[str, Any]) -> str:
    """What a hand of a page is known by: its page and its number there."""
    number = command.get("hand")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**31:
        raise InputError("hand", "must be a whole number", number)
    return f"{command.get('page')}:{number}"


def _numbers(command: Mapping[str, Any], name: str) -> Floats:
    values = command.get(name)
    if not isinstance(values, list):
        raise InputError(name, "must be three finite numbers", values)
    return np.clip(vector(name, values), -1e3, 1e3)


def _within(here: Floats, goal: Floats, most: float) -> Floats:
    """The goal, or the place on the way to it from `here` that is not farther than `most` [m]."""
    gone = goal - here
    length = float(np.linalg.norm(gone))
    return goal if length <= most else here + gone * (most / length)


def _obstacles(session: Simulation) -> dict[str, np.ndarray]:
    """The surfaces of all obstacles."""
    model, first, faces = session.model, 0, [np.zeros((0, 3), np.int32)]
    for obstacle in model.obstacles:
        faces.append(np.asarray(obstacle.faces) + first)
        first += obstacle.node_count
    return {"obstacle_x": session.state.obstacle_x, "obstacle_faces": np.concatenate(faces)}


def _new_folder(parent: Path, name: str) -> Path:
    """A folder that is not there yet."""
    number = 1
    while (parent / f"{name}{number}").exists():
        number += 1
    return parent / f"{name}{number}"
