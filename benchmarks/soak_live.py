"""Let random hands play with small sheets for minutes, and watch that nothing goes wrong.

    python benchmarks/soak_live.py --seconds 600 --seeds 20

One to four hands grab, drag, turn and let go, and every tool of a session is used: pressing, cutting, ironing, wind,
gravity, floor, driven creases, obstacles, undo and redo. Each seed is another script on another sheet, which starts
anew after every `--episode` seconds of simulated time. A tool that is refused, or a step that fails with a
`SimulationError`, must leave a safe state from which the session goes on; after two steps in a row that fail it
recovers as the page does. Every `--every` frames all numbers must be
finite and edges and faces must not meet, by the exact count of `tests/oracles`. The last episode of each seed is played
again from its script and must end in the same bits. Prints a line per episode; the exit code is 1 if anything was
wrong.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
import time
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from crumple.recording import state_digest
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Floats
from crumple.scenes import scene_from_tables
from crumple.session.recovery import recover
from crumple.session.simulation import Simulation
from crumple.state import State
from crumple.studio.sheets import FACES, FRAME, SHEETS, sheet_tables

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))
from exact_intersections import sheet_intersections

NUMBER = re.compile(r"-?\d[\d.e+-]*")
"""By which messages of one kind differ."""
PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_HANDS = 4
MOST_FACES = 500
"""Lines are drawn on sheets with fewer faces only: each adds some."""
MOST_ITERATIONS = 500
"""After a frame that takes more, all hands let go: such frames are counted, and would be all that is seen."""
CHANCES = {"grab": 0.05, "release": 0.02, "tool": 0.04}
"""In a frame."""


class WrongError(Exception):
    """What must not happen has happened."""


class Player:
    """Random hands and tools in one session; the same seed does the same."""

    def __init__(self, seed: int, faces: int | None = None) -> None:
        """`faces`: about how many a rectangle has, as `crumple play` has it by default."""
        self._rng = np.random.default_rng(seed)
        self._tables = _tables(seed, faces)
        self.sim = self._start()
        self._goals: dict[str, Floats] = {}
        u = self.sim.state.mesh.u
        self._low, self._extent = u.min(axis=0), np.ptp(u, axis=0)
        self.done: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.spent: list[float] = []
        self._failed = self.longest_way = 0

    def start_anew(self) -> None:
        """A new episode: everything as at the start, but for the random numbers."""
        self.sim.reset()
        self._goals.clear()

    def play_frame(self) -> None:
        """What hands and tools do in a frame, and the frame."""
        draw = self._rng.random
        if len(self.sim.hands) < MOST_HANDS and draw() < CHANCES["grab"] + 0.3 * (not self.sim.hands):
            self._try("grab")
        if self.sim.hands and draw() < CHANCES["release"]:
            self._try("release")
        if draw() < CHANCES["tool"]:
            self._try(str(self._rng.choice(TOOLS)))
        self._move_hands()
        before, begin = self.sim.state.iterations, time.process_time()
        self._try("advance")
        self.spent.append(1e3 * (time.process_time() - begin))
        if self._failed > 1:
            self.done["recovered"] += 1
            self.longest_way = max(self.longest_way, recover(self.sim, FRAME))
            self._goals.clear()
            self._failed = 0
        if self.sim.state.iterations - before > MOST_ITERATIONS:
            self.done[f"frames of more than {MOST_ITERATIONS} iterations"] += 1
            for hand in self.sim.hands:
                self.sim.release(hand)

    def check(self) -> None:
        """`WrongError` unless all numbers are finite, and no edge meets a face."""
        state, model = self.sim.state, self.sim.model
        for name, values in _arrays(state):
            if not np.isfinite(values).all():
                raise WrongError(f"{name} is not finite")
        mesh = state.mesh
        active = [one.faces + first for one, first in zip(model.obstacles, _firsts(model), strict=True)
                  if one.active(self.sim.time)]  # fmt: skip
        faces = np.concatenate(active) if active else np.zeros((0, 3), np.int32)
        met = sheet_intersections(state.x, mesh.face_nodes, state.obstacle_x, faces)
        if len(met):
            raise WrongError(f"{len(met)} pairs of an edge and a face meet, such as {met[0].tolist()}")

    def replay(self) -> None:
        """`WrongError` unless the script of the session ends in the same bits."""
        there, again = state_digest(self.sim.state), self._start()
        if state_digest(again.play(self.sim.script())) != there:
            raise WrongError("the script ends in other bits")

    def _start(self) -> Simulation:
        return Simulation(scene_from_tables(self._tables, source="soak"))

    def _try(self, name: str) -> None:
        """Do it; one that is refused or fails leaves a state that can go on."""
        before = self.sim.state
        try:
            getattr(self, f"_{name}")()
            self.done[name] += 1
            self._failed *= name != "advance"
        except SimulationError as error:
            self.done[f"{name} failed"] += 1
            self.reasons[NUMBER.sub("…", str(error))] += 1
            if name == "advance":
                self._failed += 1
                self.sim.calm()
            if name != "advance" and self.sim.state is not before:
                raise WrongError(f"{name} failed and has changed the state") from error
        except InputError as error:
            if name not in MAY_BE_REFUSED:
                raise WrongError(f"{name}: {error}") from error
            self.done[f"{name} refused"] += 1
            if self.sim.state is not before:
                raise WrongError(f"{name} was refused and has changed the state") from error

    def _advance(self) -> None:
        self.sim.advance(FRAME, keep=self._rng.random() < 0.1)

    def _grab(self) -> None:
        hand = self.sim.grab(self._place())
        self._goals[hand] = self.sim.hand_position(hand)

    def _release(self) -> None:
        hand = str(self._rng.choice(self.sim.hands))
        self.sim.release(hand)

    def _move_hands(self) -> None:
        """Each hand goes to its goal with up to half a metre per second, and then has another; one in ten turns."""
        for hand in self.sim.hands:
            here = self.sim.hand_position(hand)
            goal = self._goals.setdefault(hand, here)
            if np.linalg.norm(goal - here) < 2e-3:
                goal = self._rng.uniform((-0.1, -0.1, 0.002), (0.1, 0.1, 0.15))
                self._goals[hand] = goal
            way = goal - here
            step = min(1.0, 0.5 * FRAME / max(float(np.linalg.norm(way)), 1e-9))
            turn = self._rng.normal(scale=0.3, size=3) if self._rng.random() < 0.1 else None
            self.sim.move(hand, here + step * way, turn)

    def _press(self) -> None:
        if self.sim.state.mesh.face_count < MOST_FACES:
            self.sim.press(self._line(), angle=float(self._rng.uniform(-2.5, 2.5)))

    def _cut(self) -> None:
        if self.sim.state.mesh.face_count < MOST_FACES:
            self.sim.cut(self._line())

    def _flatten(self) -> None:
        self.sim.flatten(float(self._rng.uniform(0.0, 1.0)))

    def _wind(self) -> None:
        self.sim.set_wind(self._rng.uniform(-3.0, 3.0, 3) if self._rng.random() < 0.6 else (0.0, 0.0, 0.0))

    def _gravity(self) -> None:
        self.sim.set_gravity((0.0, 0.0, float(self._rng.choice([-9.81, -9.81, -3.0, 0.0]))))

    def _floor(self) -> None:
        lowest = float(self.sim.state.x[:, 2].min())
        self.sim.set_floor(float(self._rng.uniform(lowest - 0.05, lowest)) if self._rng.random() < 0.8 else None)

    def _lift(self) -> None:
        """Move the floor by hand: it pushes the sheet."""
        self.sim.move_obstacle("floor", (0.0, 0.0, float(self._rng.uniform(-0.004, 0.004))))

    def _drive(self) -> None:
        for group in self.sim.drives():
            self.sim.drive(group, float(self._rng.uniform(0.0, 60.0)))

    def _calm(self) -> None:
        self.sim.calm()

    def _undo(self) -> None:
        if self.sim.undo_count:
            self.sim.undo(int(self._rng.integers(1, min(self.sim.undo_count, 5) + 1)))

    def _redo(self) -> None:
        if self.sim.redo_count:
            self.sim.redo(int(self._rng.integers(1, self.sim.redo_count + 1)))

    def _place(self) -> Floats:
        """A point of the pattern."""
        return self._low + self._rng.uniform(0.0, 1.0, 2) * self._extent

    def _line(self) -> Floats:
        """A line as hands draw it, across part of the pattern and beyond."""
        first, last = (self._low + self._rng.uniform(-0.1, 1.1, 2) * self._extent for _ in range(2))
        t = np.linspace(0.0, 1.0, 20)[:, None]
        return first + t * (last - first) + self._rng.normal(scale=2e-4, size=(20, 2))


TOOLS = ("press", "cut", "flatten", "wind", "gravity", "floor", "lift", "drive", "calm", "undo", "redo")
MAY_BE_REFUSED = ("grab", "press", "cut", "floor")
"""Places that are held already, lines off the sheet or too short, floors that are not below all sheets."""


def soak(
    seed: int, seconds: float, *, every: int = 10, episode: float = 30.0, faces: int | None = None, report: Any = None
) -> Player:
    """Play with a seed for `seconds` of simulated time; `WrongError` when something goes wrong."""
    player = Player(seed, faces)
    per_episode, frames = round(episode / FRAME), round(seconds / FRAME)
    for frame in range(frames):
        if frame and frame % per_episode == 0:
            if report is not None:
                report(player, frame)
            player.start_anew()
        player.play_frame()
        if (frame + 1) % every == 0:
            player.check()
    player.check()
    player.replay()
    if report is not None:
        report(player, frames)
    return player


def _tables(seed: int, faces: int | None = None) -> dict[str, Any]:
    """A sheet to play with; every second rectangle has a driven crease, every third one a face budget."""
    name = list(SHEETS)[seed % len(SHEETS)]
    tables = sheet_tables(name)
    sheet = tables["sheets"][0]
    if sheet["shape"]["kind"] != "rectangle":
        return tables
    if faces is not None:
        sheet["shape"]["size"] *= float(np.sqrt(FACES / faces))
    if seed % 2:
        middle, height = 0.5 * sheet["shape"]["width"], sheet["shape"]["height"]
        line = [[middle, 0.0], [middle, height]]
        sheet["creases"] = [{"name": "hinge", "line": line, "angle": 90, "drive": "spring"}]
    if seed % 3 == 2:
        tables["remeshing"] = {"size_min": 0.005, "size_max": 0.04, "face_budget": 300, "interval": 6}
    return tables


def _arrays(state: State) -> list[tuple[str, Floats]]:
    """All arrays of numbers of a state."""
    found = [(one.name, getattr(state, one.name)) for one in fields(state)]
    return [(name, value) for name, value in found if isinstance(value, np.ndarray) and value.dtype.kind == "f"]


def _firsts(model: Any) -> list[int]:
    """The first node of each obstacle among those of all."""
    counts = [obstacle.node_count for obstacle in model.obstacles]
    return [sum(counts[:k]) for k in range(len(counts))]


def resident_memory() -> float:
    """Resident memory of this process [MB]."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0, help="simulated time of each seed")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--episode", type=float, default=30.0, help="simulated time after which a sheet starts anew")
    parser.add_argument("--every", type=int, default=10, help="frames between two checks")
    parser.add_argument("--faces", type=int, help="about how many a rectangle has")
    options = parser.parse_args()
    wrong = 0
    for seed in range(options.first, options.first + options.seeds):
        begin = time.process_time()

        def report(player: Player, frame: int, seed: int = seed, begin: float = begin) -> None:
            faces, spent = player.sim.state.mesh.face_count, time.process_time() - begin
            memory = resident_memory()
            line = f"seed {seed}  {frame * FRAME:.0f} s  {faces} faces  {spent:.0f} s CPU  {memory:.1f} MB"
            print(line, flush=True)

        try:
            player = soak(
                seed,
                options.seconds,
                every=options.every,
                episode=options.episode,
                faces=options.faces,
                report=report,
            )
            done = ", ".join(f"{name} {count}" for name, count in sorted(player.done.items()))
            median, late = np.percentile(player.spent, (50, 99))
            print(f"seed {seed}: frames {median:.0f} ms CPU, 99 % below {late:.0f}: {done}", flush=True)
            for reason, count in player.reasons.items():
                print(f"seed {seed}: {count} times: {reason}", flush=True)
        except Exception as error:
            wrong += 1
            print(f"seed {seed}: WRONG: {type(error).__name__}: {error}", flush=True)
    print(f"{options.seeds} seeds of {options.seconds:g} s, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
