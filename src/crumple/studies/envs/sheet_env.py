"""What all environments have in common: a square of paper, grippers that hold points of it, a score.

A gripper pinches one point of the sheet, which may turn freely in it. It is compliant: where the paper cannot follow,
it gives way until it is `LEAD` ahead of it before it moves again, so that it never pulls with more than about 2 N.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from crumple.materials import preset
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Floats, Ints
from crumple.session.simulation import Simulation
from crumple.studies.envs.observing import PatternPoints, grid_points
from crumple.studies.envs.picture import Photographer
from crumple.studies.envs.variation import draw, ranges

SIDE = 0.1
"""Of the sheet [m]."""
STEP = 0.05
"""Simulated time of one action, which is one frame of a recording [s]."""
MOVE = 0.01
"""How far an action of 1 moves a gripper along an axis [m]."""
LEAD, STIFFNESS = 0.005, 100.0
"""How far a gripper may be ahead of the point that it holds [m], and its stiffness [N/m]."""
WORKSPACE = np.array([[-0.12, -0.12, 0.002], [0.12, 0.12, 0.15]])
"""Where grippers can go [m]."""
BOUND = 1.0
"""Observed positions are cut off here [m]; nothing gets that far unless it fell off the table."""
REACH = 0.01
"""How far from a gripper the node may be that it takes hold of [m]."""
GRID = 7
"""Observed material points along each side."""
LEAST_FACES, MOST_FACES = 20, 20_000

Observation = dict[str, np.ndarray]


@dataclass(frozen=True)
class Paper:
    """The sheet: about how many `faces` it has, whether its mesh follows the folds, the preset of its material and
    what it is multiplied by, and its friction."""

    faces: int = 150
    remeshing: bool = False
    material: str = "paper80"
    friction: float = 0.3
    bend_factor: float = 1.0
    stretch_factor: float = 1.0
    density_factor: float = 1.0

    def __post_init__(self) -> None:
        if not LEAST_FACES <= self.faces <= MOST_FACES:
            raise InputError("faces", f"must be {LEAST_FACES} to {MOST_FACES}", self.faces)
        preset(self.material)

    def with_values(self, values: Mapping[str, Any]) -> Paper:
        """The same sheet with other values, by the names of its fields."""
        return replace(self, **values)

    @property
    def edge_length(self) -> float:
        """Of equilateral triangles of which so many cover the sheet [m]."""
        return float(np.sqrt(4.0 * SIDE * SIDE / (np.sqrt(3.0) * self.faces)))

    def tables(self, name: str) -> dict[str, Any]:
        """A scene of this name with the sheet flat on a table and nothing else, as tables to add to."""
        size = self.edge_length
        factors = {key: getattr(self, key) for key in ("bend_factor", "stretch_factor", "density_factor")}
        tables: dict[str, Any] = {
            "name": name,
            "run": {"frame_time": STEP, "duration": 1e3 * STEP},
            "solver": {"integrator": "implicit-euler", "fixed_step": STEP},
            "contact": {"friction": self.friction},
            "sheets": [
                {
                    "name": "sheet",
                    "material": {"preset": self.material, **factors},
                    "shape": {"kind": "rectangle", "width": SIDE, "height": SIDE, "size": size},
                    "transform": {"translate": [0.0, 0.0, 0.002]},
                }
            ],
            "obstacles": [{"name": "table", "shape": {"kind": "plane", "width": 2.0, "height": 2.0}}],
        }
        if self.remeshing:
            tables["remeshing"] = {"size_min": 0.5 * size, "size_max": 1.5 * size}
        return tables


class SheetEnv(gymnasium.Env[Observation | np.ndarray, NDArray[np.float32]]):
    """A sheet of paper and grippers; the tasks derive from it and say how they start and how well they stand.

    A scene may have further sheets. Observed and scored is the one that `sheet` names, the first by default.

    **Action** (gripper_count, 3) in −1 … 1: how each gripper moves in x, y and z, in units of 1 cm.
    **Observation**: `points` (49, 3), the positions of a 7 × 7 grid of material points [m], the same points of the
    paper whatever mesh it has; `grippers` (gripper_count, 3), where the grippers want the points that they hold [m];
    `image` (height, width, 3) if it is asked for.
    With `flat=True` it is one array of all these numbers, in the order of their names.
    **Letting go**: with `release=True` an action has a fourth number for each gripper, before which it moves: below 0
    it opens; above 0 an open one closes, and holds the nearest free node if there is one within 1 cm. Then there is
    `holding` (gripper_count,) among the observations, 1 for a gripper that holds something.
    **Reward**: by how much the score, a number 0 … 1, has grown in this step. The rewards of an episode add up to its
    last score minus its first one.
    **Episode**: terminated as soon as the score is `done`; truncated when the solver gives up, which
    `info["failure"]` then tells, and by Gymnasium after the steps that it was registered with.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": round(1.0 / STEP)}
    grippers: ClassVar[tuple[str, ...]] = ()
    done: ClassVar[float] = 0.95
    """The score at which the task is done."""
    sheet: ClassVar[str] = ""
    """Name of the sheet that is observed and scored; "": the first of the scene."""

    def __init__(
        self,
        *,
        faces: int = 150,
        remeshing: bool = False,
        material: str = "paper80",
        release: bool = False,
        image: tuple[int, int] | None = None,
        render_mode: str | None = None,
        size: tuple[int, int] = (480, 360),
        record: str | Path | None = None,
        flat: bool = False,
        vary: Mapping[str, Any] | None = None,
    ) -> None:
        """`faces`: about how many triangles the sheet has;  `remeshing`: whether the mesh follows the folds;
        `material`: a name that `crumple materials` lists;  `release`: whether grippers can let go and grasp again;
        `image`: width and height of the observed picture, none by default;  `size`: of the picture of `render`;
        `record`: a folder in which every episode becomes a recording, `episode_000000` and so on;
        `flat`: whether observations are arrays instead of dictionaries;  `vary`: what differs from episode to episode,
        by name a number or the two ends of a range to draw from: `friction`, `bend_factor`, `stretch_factor`,
        `density_factor`.
        """
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError("render_mode", "must be rgb_array or None", render_mode)
        self.paper, self.render_mode = Paper(faces, remeshing, material), render_mode
        self._plain_paper, self._vary = self.paper, ranges("vary", vary)
        self._image_size, self._picture_size = _checked_size("image", image), _checked_size("size", size)
        self._record = None if record is None else Path(record)
        self._points: dict[int, PatternPoints] = {}
        self._sim: Simulation | None = None
        self._photographers: dict[tuple[int, int], Photographer] = {}
        self._score, self._is_over = 0.0, True
        self._release, self._places = release, np.zeros((len(self.grippers), 3))
        shape = self._places.shape
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (shape[0], 4 if release else 3), np.float32)
        spaces: dict[str, gymnasium.Space[Any]] = {
            "points": gymnasium.spaces.Box(-BOUND, BOUND, (GRID * GRID, 3), np.float32),
            "grippers": gymnasium.spaces.Box(-BOUND, BOUND, shape, np.float32),
        }
        if release:
            spaces["holding"] = gymnasium.spaces.MultiBinary(len(self.grippers))
        if self._image_size is not None:
            width, height = self._image_size
            spaces["image"] = gymnasium.spaces.Box(0, 255, (height, width, 3), np.uint8)
        self._seen_space = gymnasium.spaces.Dict(spaces)
        self.observation_space = gymnasium.spaces.flatten_space(self._seen_space) if flat else self._seen_space
        self._is_flat = flat

    def start(self, rng: np.random.Generator) -> Simulation:
        """The simulation at the start of an episode."""
        raise NotImplementedError

    def score(self) -> float:
        """How well the task stands, 0 … 1."""
        raise NotImplementedError

    @property
    def simulation(self) -> Simulation:
        """The simulation of the present episode; `InputError` before the first reset."""
        if self._sim is None:
            raise InputError(type(self).__name__, "there is no episode yet; call reset first")
        return self._sim

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation | np.ndarray, dict[str, Any]]:
        """Start an episode; the same `seed` gives the same bits.

        `options`: `record`, a folder for this episode; `friction`, `bend_factor`, `stretch_factor`, `density_factor`, a
        number or a range to draw from, for this episode only. `info["varied"]` tells what they are.
        """
        super().reset(seed=seed)
        self.close()
        wishes = {name: wish for name, wish in (options or {}).items() if name != "record"}
        varied = draw(self._vary | ranges("reset: options", wishes), self.np_random)
        self.paper = self._plain_paper.with_values(varied)
        self._sim = self.start(self.np_random)
        self._photographers.clear()  # another episode may have other sheets and obstacles
        self.sheet_number()  # tells of a name that no sheet has
        folder = (options or {}).get("record") or self._next_folder()
        if folder is not None:
            self._sim.record(folder)
        self._places = np.array([self._sim.handle_position(name) for name in self.grippers])
        self._score, self._is_over = self.score(), False
        return self._observe(), self._info() | ({"varied": varied} if varied else {})

    def step(self, action: NDArray[Any]) -> tuple[Observation | np.ndarray, float, bool, bool, dict[str, Any]]:
        """Move the grippers, go on for 0.05 s, and tell what came of it."""
        if self._is_over:
            raise InputError(f"{type(self).__name__}.step", "the episode is over; call reset first")
        self._send(self._checked(action))
        failure = ""
        try:
            self.simulation.step(STEP)
        except SimulationError as error:
            failure = str(error)
        before, self._score = self._score, self.score()
        terminated = bool(self._score >= self.done)
        self._is_over = terminated or bool(failure)
        info = self._info() | ({"failure": failure} if failure else {})
        return self._observe(), self._score - before, terminated, bool(failure), info

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override]
        """The present picture (height, width, 3), if the mode is "rgb_array"."""
        if self.render_mode is None or self._picture_size is None:
            return None
        return self._draw(self._picture_size)

    def close(self) -> None:
        """End the recording of the present episode, if there is one."""
        if self._sim is not None:
            self._sim.close()

    def _send(self, action: Floats) -> None:
        """Open and close the grippers, then tell each where to go."""
        sim = self.simulation
        for k, (name, command) in enumerate(zip(self.grippers, action, strict=True)):
            if self._release:
                self._open_or_close(k, command[3])
            held = self._held_nodes(name)
            if len(held):
                paper = sim.state.x[held].mean(axis=0)
                ahead = sim.handle_position(name) - paper
                self._places[k] = paper + ahead / max(1.0, float(np.linalg.norm(ahead)) / LEAD)
            self._places[k] = np.clip(self._places[k] + MOVE * command[:3], *WORKSPACE)
            if len(held):
                sim.set_handle(name, self._places[k])

    def _open_or_close(self, k: int, wish: float) -> None:
        """Open gripper number `k` if the `wish` is below 0, close an open one if it is above."""
        name, is_holding = self.grippers[k], len(self._held_nodes(self.grippers[k])) > 0
        if wish < 0.0 and is_holding:
            self.simulation.release(name)
        elif wish > 0.0 and not is_holding:
            self.simulation.grasp(name, self._places[k], reach=REACH)

    def _held_nodes(self, name: str) -> Ints:
        """The nodes that a gripper holds."""
        pins = self.simulation.state.pins
        return pins.node[pins.handle == self.simulation.handles.index(name)]

    def _checked(self, action: NDArray[Any]) -> Floats:
        """The action as numbers within −1 … 1; `InputError` for what is none."""
        try:
            values = np.asarray(action, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError("action", f"must be {self.action_space.shape} numbers", str(action)[:40]) from None
        if values.shape != self.action_space.shape or not np.isfinite(values).all():
            raise InputError("action", f"must be {self.action_space.shape} finite numbers", values.tolist())
        return np.clip(values, -1.0, 1.0)

    def _observe(self) -> Observation | np.ndarray:
        seen: Observation = {"points": _bounded(self.points()), "grippers": _bounded(self._places)}
        if self._release:
            seen["holding"] = np.array([len(self._held_nodes(name)) > 0 for name in self.grippers], np.int8)
        if self._image_size is not None:
            seen["image"] = self._draw(self._image_size)
        if self._is_flat:
            return np.asarray(gymnasium.spaces.flatten(self._seen_space, seen))
        return seen

    def points(self, sheet: str | None = None) -> Floats:
        """Where the observed material points are, (49, 3) [m]: row by row of the pattern, from (−, −) to (+, +).

        `sheet`: the name of another sheet than the observed one.
        """
        number = self.sheet_number(sheet)
        if number not in self._points:
            self._points[number] = PatternPoints(grid_points(SIDE, GRID), number)
        return self._points[number].positions(self.simulation.state)

    def faces(self, sheet: str | None = None) -> Ints:
        """The faces of the observed sheet, or of that named `sheet`, whatever mesh it has now."""
        own = self.simulation.state.mesh.face_sheet == self.sheet_number(sheet)
        return np.flatnonzero(own).astype(np.int32)

    def sheet_number(self, sheet: str | None = None) -> int:
        """Which sheet of the scene is observed, or is named `sheet`; `InputError` when none has this name."""
        name, names = self.sheet if sheet is None else sheet, self.simulation.model.sheet_names
        if name == "":
            return 0
        if name not in names:
            raise InputError(f"{type(self).__name__}: sheet", f"the scene has {', '.join(names)}", name)
        return names.index(name)

    def _info(self) -> dict[str, Any]:
        state = self.simulation.state
        return {
            "score": self._score,
            "is_success": bool(self._score >= self.done),
            "time": state.time,
            "faces": state.mesh.face_count,
        }

    def _draw(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        sim = self.simulation
        if size not in self._photographers:
            self._photographers[size] = Photographer(sim.model, sim.state, size, WORKSPACE, SIDE)
        return self._photographers[size].draw(sim.state)

    def _next_folder(self) -> Path | None:
        """A new folder for this episode; environments in several processes may share the folder above."""
        if self._record is None:
            return None
        self._record.mkdir(parents=True, exist_ok=True)
        number = sum(1 for _ in self._record.glob("episode_*"))
        while True:
            folder = self._record / f"episode_{number:06d}"
            try:
                folder.mkdir()
                return folder
            except FileExistsError:
                number += 1


def gripper_table(name: str, place: Floats, sheet: str | None = None) -> dict[str, Any]:
    """A handle that holds the node nearest to `place` [m]; where there are several sheets, of the one named `sheet`."""
    select = {"kind": "nearest", "points": [[float(value) for value in place]]}
    of = {} if sheet is None else {"sheet": sheet}
    return {"name": name, "select": select, "stiffness": STIFFNESS, **of}


def _bounded(positions: Floats) -> NDArray[np.float32]:
    return np.clip(positions, -BOUND, BOUND).astype(np.float32)


def _checked_size(name: str, size: tuple[int, int] | None) -> tuple[int, int] | None:
    """Width and height as whole numbers."""
    if size is None:
        return None
    values = tuple(size)
    if len(values) != 2 or not all(float(value).is_integer() and 16 <= value <= 4096 for value in values):
        raise InputError(name, "must be width and height, each 16 to 4096 pixels", size)
    return int(values[0]), int(values[1])
