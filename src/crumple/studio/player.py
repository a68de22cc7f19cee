"""A sheet that pages play with: hands, obstacles that are pushed, and what pages are shown.

It never fails: a step that cannot be taken leaves the last safe state, the sheet comes to rest there, and the pages are
told. A sheet that nothing moves is left alone.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crumple.recording.log import plain
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Floats
from crumple.session.driving import drive_levels
from crumple.session.recovery import recover
from crumple.session.script import Script
from crumple.session.simulation import Simulation
from crumple.session.tape import Playback
from crumple.simulation.surface_view import SurfaceView
from crumple.studio.packets import encode_packet

MOST_HANDS = 10
"""Hands at a time, of all pages together."""
FASTEST = 3.0
"""Speed of a hand [m/s]: one that is sent farther comes after."""
FASTEST_OBSTACLE = 0.6
"""Speed of an obstacle that is pushed [m/s]: sheets have to get out of its way."""
EARTH = (0.0, 0.0, -9.81)
"""Gravity [m/s²] that a page can switch on in a scene that has none."""
AT_REST = 1e-3
"""Speed of all nodes [m/s] below which the sheet lies still."""
ARRIVED = 1e-6
"""Distance [m] from where it is wanted at which a hand or an obstacle is there."""
REST_FRAMES = 30
"""Frames at rest after which nothing is computed until somebody does something."""
FALLEN = 0.6
"""How far below the table [m] a sheet is gone: it is left there until somebody brings it back."""
MARK_FRAMES = 30
"""Frames in hand after which there is another place to go back to when steps fail for good; `undo` passes over it."""
PATIENCE = 2
"""Frames in a row that may fail before the sheet goes back to where it can go on."""
EVENTS = ("snap", "crease", "tear", "bend", "singular", "trouble", "forgotten")
"""Events that pages are told of."""
KEPT_NEWS = 256
"""Events that wait until a page asks; the oldest are forgotten first."""
LARGEST_LOOSE = 0.5
"""Extent of an obstacle [m] up to which a page may take it: not the table."""
TOOLS = ("press", "cut", "flatten")
"""Actions of a session that an engine may refuse, whose buttons a page hides then."""
PIN = "pin "
"""How the keys of hands begin that no page holds."""


@dataclass
class Told:
    """What a page has been told: the number of its last event, and of the last poses of obstacles."""

    news: int
    poses: int = -1


class Player:
    """A session with hands that pages move; `frame` goes on by one frame, `packet` is what a page sees.

    `version` is another number whenever there is something else to be seen.
    """

    def __init__(self, session: Simulation, version: int = 0) -> None:
        self.session, self.version = session, version
        self.is_paused, self.pace = False, 1.0
        self.gravity = session.model.gravity if any(session.model.gravity) else EARTH
        self.floor = session.floor or 0.0
        self._abyss = -np.inf if session.floor is None else session.floor - FALLEN
        self._is_gone = False
        self.hands: dict[str, str] = {}
        self.pins: set[str] = set()
        self.goals: dict[str, Floats] = {}
        self.pushes: dict[str, tuple[str, Floats]] = {}
        self.replaying = Playback()
        self._calm_frames = self._held_frames = self._failed_frames = 0
        self._origin = 4096 * secrets.randbelow(2**18)  # no other sheet of a page has the same topologies
        self._news: deque[tuple[int, dict[str, Any]]] = deque(maxlen=KEPT_NEWS)
        self._news_count = self._poses = 0
        self._told: dict[object, Told] = {}

    def wake(self, is_seen: bool = True) -> None:
        """Something was done: there is more to compute; `is_seen`: and something new to be seen already."""
        self._calm_frames = 0
        self.version += is_seen

    def frame(self) -> None:
        """Go on by one frame, unless it is paused or at rest."""
        if self.is_paused or (not self.replaying and (self._calm_frames > REST_FRAMES or self._has_fallen())):
            return
        before = self.session.state.obstacle_x
        try:
            self._repeat() if self.replaying else self._advance()
            self._failed_frames = 0
        except SimulationError as error:
            self._survive(str(error))
        except Exception as error:  # whatever it is, the page stays open with the last safe state
            self._survive(internal_error(error))
        self._poses += not np.array_equal(before, self.session.state.obstacle_x)
        self.version += 1

    def packet(self, page: object, known: int) -> bytes:
        """What a page that has the topology `known` needs in order to show the present state."""
        session, view = self.session, self.session.view()
        topology = self._origin + view.topology
        self._gather()
        told = self._told.setdefault(page, Told(self._news_count))
        arrays: dict[str, np.ndarray] = {"x": view.x} | ({"normal": view.normal} if view.is_smooth else {})
        values = self._values() | {
            "topology": topology,
            "faces": len(view.faces),
            "events": [event for number, event in self._news if number >= told.news],
        }
        if topology != known:
            arrays |= {"u": view.u, "faces": view.faces, "node": view.node, "sheet": view.sheet}
            arrays |= _overlay(view)
            arrays |= {"obstacle_faces": _obstacle_faces(session)}
            values |= {"name": getattr(session.scene, "name", ""), "obstacles": self.obstacles()}
            values |= {
                "refused": {tool: session.engine.refusal(tool) for tool in TOOLS if session.engine.refusal(tool)}
            }
        if topology != known or told.poses != self._poses:
            arrays["obstacle_x"] = session.state.obstacle_x
        told.news, told.poses = self._news_count, self._poses
        return encode_packet(plain(values), arrays)

    def forget_page(self, page: object) -> None:
        """A page has gone: its hands let go, and what it pushed stays where it is."""
        self._told.pop(page, None)
        for key in [key for key in (*self.hands, *self.pushes) if key.startswith(f"{page}:")]:
            self.let_go(key)

    def tell(self, kind: str, message: str = "", energy: float = 0.0) -> None:
        """Let all pages know."""
        self._news.append((self._news_count, {"kind": kind, "message": message, "energy": energy}))
        self._news_count += 1

    def make_room(self) -> None:
        """`InputError` when there are as many hands as there may be."""
        if len(self.hands) + len(self.pushes) >= MOST_HANDS:
            raise InputError("grab", f"there are {MOST_HANDS} hands already; let one go")

    def let_go(self, key: str) -> None:
        """A hand lets go of the sheet, or of an obstacle."""
        self.pushes.pop(key, None)
        hand = self.hands.pop(key, None)
        if hand is not None:
            self.goals.pop(hand, None)
            self.pins.discard(hand)
            if hand in self.session.hands:
                self.session.release(hand)

    def travel(self, go: Callable[[], Any], count: Callable[[], int]) -> None:
        """Go back, or on again, to where no hand holds the sheet but pins: a grasp and its release are one."""
        while count():
            go()
            if self.pins.issuperset(self.session.hands):
                break
        self.hold_pins()

    def hold_pins(self) -> None:
        """Let go of everything but pins."""
        self.goals, self.pushes = {}, {}
        self.hands = {f"{PIN}{hand}": hand for hand in self.session.hands if hand in self.pins}
        self._release_strangers()

    def begin_again(self) -> None:
        """Back to the start, with nothing in hand."""
        self.session.reset()
        self.hands, self.goals, self.pushes, self.pins = {}, {}, {}, set()
        self.replaying = Playback()

    def replay(self) -> None:
        """Begin again and do, frame by frame, what was done until now."""
        actions = self.session.script().actions
        if not actions:
            raise InputError("replay", "nothing has been done yet")
        self.begin_again()
        self.is_paused = False
        self.replaying = Playback(actions)

    def end_replay(self) -> None:
        """Stop a replay where it is, with nothing in hand."""
        if self.replaying:
            self.replaying = Playback()
            self._release_strangers()

    def _advance(self) -> None:
        session, dt = self.session, self.session.model.frame_time
        is_moving = False
        for hand, goal in self.goals.items():
            here = session.hand_position(hand)
            is_moving |= bool(np.linalg.norm(goal - here) > ARRIVED)
            session.move(hand, _within(here, goal, FASTEST * dt))
        for name, goal in self.pushes.values():
            here = session.obstacle_position(name)
            is_moving |= bool(np.linalg.norm(goal - here) > ARRIVED)
            session.set_obstacle(name, _within(here, goal, FASTEST_OBSTACLE * dt))
        session.advance(dt, keep=self._is_mark())
        is_still = not is_moving and float(np.abs(session.state.v).max(initial=0.0)) < AT_REST
        self._calm_frames = self._calm_frames + 1 if is_still else 0

    def _repeat(self) -> None:
        """Do again what was done within one frame."""
        while self.replaying:
            action = self.replaying.take()
            self.session.play(Script((action,)))
            if action.method == "advance":
                break
        if not self.replaying:
            self._release_strangers()
            self.tell("replayed")

    def _has_fallen(self) -> bool:
        """Whether the sheet has fallen off the table; pages are told once."""
        was_gone, self._is_gone = self._is_gone, bool(self.session.state.x[:, 2].max(initial=-np.inf) < self._abyss)
        if self._is_gone and not was_gone:
            self.tell("fallen")
            self.version += 1
        return self._is_gone

    def _is_mark(self) -> bool:
        """Whether this frame is a place to go back to: now and then, while a page holds the sheet."""
        is_held = not self.pins.issuperset(self.session.hands)
        self._held_frames = self._held_frames + 1 if is_held else 0
        return is_held and self._held_frames % MARK_FRAMES == 0

    def _survive(self, message: str) -> None:
        """Come to rest in the last safe state, and after some failures in a row where it goes on."""
        self._failed_frames += 1
        if self._failed_frames < PATIENCE or self.replaying:
            self.session.calm()
            return self.tell("trouble", message)
        gone = recover(self.session, self.session.model.frame_time, self.pins)
        self.hold_pins()
        self.tell("slipped" if gone >= 0 else "anew", message)

    def _release_strangers(self) -> None:
        """Whatever holds the sheet and is in nobody's hand lets go."""
        for hand in set(self.session.hands) - set(self.hands.values()):
            self.session.release(hand)

    def _gather(self) -> None:
        for event in self.session.events():
            if event.kind in EVENTS:
                self.tell(event.kind, event.message, event.energy)

    def _values(self) -> dict[str, Any]:
        """The plain values of a packet that every page gets."""
        session = self.session
        shown = {f"replay {hand}": hand for hand in session.hands} if self.replaying else self.hands
        return {
            "version": self.version,
            "time": session.time,
            "frame": session.state.frame,
            "hands": {key: session.hand_position(name).tolist() for key, name in shown.items()},
            "undo": session.undo_count,
            "redo": session.redo_count,
            "paused": self.is_paused,
            "pace": self.pace,
            "gravity": any(session.model.gravity),
            "floor": session.floor is not None,
            "wind": session.model.wind.blows,
            "drives": drive_levels(session.model, session.time),
            "replaying": len(self.replaying),
        }

    def obstacles(self) -> list[dict[str, Any]]:
        """The obstacles in their order: their names, nodes, and whether a page may take them."""
        found, first = [], 0
        for obstacle in self.session.model.obstacles:
            x = self.session.state.obstacle_x[first : first + obstacle.node_count]
            first += obstacle.node_count
            is_loose = bool(np.ptp(x, axis=0).max(initial=0.0) <= LARGEST_LOOSE)
            found.append({"name": obstacle.name, "nodes": obstacle.node_count, "loose": is_loose})
        return found


def internal_error(error: Exception) -> str:
    """What pages are told of an error that nobody has foreseen."""
    return f"internal error: {type(error).__name__}: {error} (please report it)"


def _overlay(view: SurfaceView) -> dict[str, np.ndarray]:
    """The structure under a surface that has one."""
    overlay = view.overlay
    if overlay is None:
        return {}
    return {
        "lines": overlay.lines,
        "line_region": overlay.line_region,
        "points": overlay.points,
        "point_kinds": overlay.kinds,
        "region": overlay.region,
    }


def _within(here: Floats, goal: Floats, most: float) -> Floats:
    """The goal, or the place on the way to it from `here` that is not farther than `most` [m]."""
    gone = goal - here
    length = float(np.linalg.norm(gone))
    return goal if length <= most else here + gone * (most / length)


def _obstacle_faces(session: Simulation) -> np.ndarray:
    """The faces of all obstacles together."""
    first, faces = 0, [np.zeros((0, 3), np.int32)]
    for obstacle in session.model.obstacles:
        faces.append(np.asarray(obstacle.faces) + first)
        first += obstacle.node_count
    return np.concatenate(faces)
