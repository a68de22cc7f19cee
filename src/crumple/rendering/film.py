"""Pictures and films of a recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crumple.analysis.fields import SheetField, recording_field
from crumple.recording.recording import Recording
from crumple.rendering.camera import CameraPlan, View
from crumple.rendering.legend import Legend
from crumple.rendering.sheets import sheet_kinds
from crumple.rendering.spaces import draw_space, named_spaces
from crumple.rendering.stage import Plan, Stage, signed_volume
from crumple.rendering.style import Style
from crumple.rendering.writers import open_writer, save_picture
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.state import State

SIZE = (1280, 960)
LOOKS_AT = 40
"""Frames looked at to plan camera and colours of a film."""
LEGEND = 0.14
"""Share of the width that a legend takes."""
TURN_TIME, TURN_RATE = 4.0, 25.0
"""Length [s] and frames per second of a film that goes around one frame."""
WATCHABLE = (5.0, 60.0)
"""Frames per second at which films run in real time."""


def render_frame(
    recording: Recording,
    frame: int,
    path: str | Path,
    *,
    size: tuple[int, int] = SIZE,
    camera: str | View = "auto",
    space: str = "world",
    **style: Any,
) -> Path:
    """Write a picture (.png, .jpg) of one frame (-1: the last); the camera fits that frame.

    `camera`: a name in `DIRECTIONS` or a `View`;  `space`: "world", "pattern", "plastic", or "all" for the three side
    by side;  `style`: fields of `Style`.
    """
    state = recording.load(frame)
    panels = Panels(recording, [state], size=size, camera=camera, space=space, style=Style(**style).drawn_as("high"))
    save_picture(panels.draw(state, 0.0), Path(path))
    return Path(path)


def render_film(
    recording: Recording,
    path: str | Path,
    *,
    size: tuple[int, int] = SIZE,
    camera: str | View = "auto",
    space: str = "world",
    fps: float | None = None,
    turntable: int | None = None,
    frames: Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
    **style: Any,
) -> Path:
    """Write all frames in real time (or at `fps`) as a film (.mp4, .webm, .gif) or as numbered pictures (`x.%04d.png`).

    `frames`: only those of these numbers;  `turntable`: instead go around this frame.  Calls
    `progress(done, total)` after every frame; the rest as in `render_frame`.
    """
    frames = recording.frames if frames is None else list(frames)
    if not frames:
        raise InputError(str(recording.path), "has no finished frame")
    view, chosen = _view(camera), Style(**style).drawn_as("normal")
    size = (size[0] // 2 * 2, size[1] // 2 * 2)  # encoders want even numbers
    if turntable is not None:
        return _render_turntable(recording, turntable, Path(path), size, view, space, fps, progress, chosen)
    sampled = [frames[k] for k in np.unique(np.linspace(0, len(frames) - 1, LOOKS_AT).round().astype(int))]
    states = [recording.load(frame) for frame in sampled]
    panels = Panels(recording, states, size=size, camera=view, space=space, style=chosen)
    loop = abs(view.orbit) % 360.0 == 0.0  # a full turn ends one step before where it began
    with open_writer(Path(path), fps or _frame_rate(recording, frames), chosen.quality or "normal") as write:
        for done, frame in enumerate(frames, 1):
            write(panels.draw(recording.load(frame), (done - 1) / max(len(frames) - (not loop), 1)))
            if progress:
                progress(done, len(frames))
    return Path(path)


def _render_turntable(
    recording: Recording,
    frame: int,
    path: Path,
    size: tuple[int, int],
    view: View,
    space: str,
    fps: float | None,
    progress: Callable[[int, int], None] | None,
    style: Style,
) -> Path:
    """Write a film that goes once around a frame (or by `view.orbit`)."""
    state, rate = recording.load(frame), fps or TURN_RATE
    view = replace(view, orbit=view.orbit or 360.0)
    count = max(round(TURN_TIME * rate), 2)
    panels = Panels(recording, [state], size=size, camera=view, space=space, style=style)
    with open_writer(path, rate, style.quality or "normal") as write:
        for k in range(count):
            write(panels.draw(state, k / count))
            if progress:
                progress(k + 1, count)
    return path


class Panels:
    """One picture of the sheets in one space, or in several side by side, planned to suit all `states`."""

    def __init__(
        self,
        recording: Recording,
        states: list[State],
        *,
        size: tuple[int, int],
        camera: str | View,
        space: str,
        style: Style,
    ) -> None:
        names = named_spaces(space)
        width = size[0] // len(names)
        widths = [width] * (len(names) - 1) + [size[0] - width * (len(names) - 1)]
        field = recording_field(style.color_by, recording, "render --color-by") if style.color_by else None
        limits = field_limits(field, states)
        self._recording = recording
        self._legend = Legend(field, limits, (widths[-1], size[1])) if field is not None else None
        self._stages, self._cameras = [], []
        for name, panel in zip(names, widths, strict=True):
            legend = LEGEND if field is not None and name == names[-1] else 0.0
            plan, cameras = plan_stage(recording, states, (panel, size[1]), _view(camera), style, name, legend)
            self._stages.append(Stage(replace(plan, field=field, field_range=limits)))
            self._cameras.append(cameras)

    def draw(self, state: State, share: float) -> NDArray[np.uint8]:
        """The picture of `state`, (height, width, 3), at the fraction `share` of the film."""
        stages = zip(self._stages, self._cameras, strict=True)
        obstacles = self._recording.obstacles_at(state.frame)
        pictures = [stage.draw(state, obstacles, cameras.at(share)) for stage, cameras in stages]
        if self._legend is not None:
            self._legend.put_on(pictures[-1])
        return np.concatenate(pictures, axis=1)


def field_limits(field: SheetField | None, states: list[State]) -> tuple[float, float]:
    """Least and largest value of a field in all states; never equal."""
    if field is None:
        return 0.0, 1.0
    values = np.concatenate([field.values(state) for state in states])
    values = values[np.isfinite(values)]
    least, most = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if least > most:  # no value at all
        return 0.0, 1.0
    return least, most if most > least else least + 1.0


def plan_stage(
    recording: Recording,
    states: list[State],
    size: tuple[int, int],
    view: View,
    style: Style,
    space: str = "world",
    legend: float = 0.0,
) -> tuple[Plan, CameraPlan]:
    """Scale, ground and cameras that suit all `states`; the flat pattern is seen from the top."""
    if space == "pattern" and view == View():
        view = View("top")
    if space == "world":
        subjects = _subjects(recording, states)
    else:
        subjects = [draw_space(state, space).points for state in states]
    everything = np.concatenate(subjects)
    low, high = everything.min(axis=0), everything.max(axis=0)
    scale = float(np.linalg.norm(high - low)) or 1.0
    cameras = CameraPlan(subjects, size[0] / size[1], view, legend)
    floors = _floors(recording, states) if space == "world" else {}
    ground = max(floors.values(), default=float(low[2])) - 1e-3 * scale
    first = cameras.at(0.0)
    away = first.position - first.target
    plan = Plan(
        size=size,
        scale=scale,
        centre=0.5 * (low + high)[:2],
        ground=ground,
        azimuth=float(np.arctan2(away[1], away[0])) + np.pi / 2 if np.hypot(*away[:2]) > 1e-9 * scale else 0.0,
        style=style,
        kinds=sheet_kinds(recording),
        boxes=_pattern_boxes(states[0]),
        space=space,
        floors=frozenset(floors),
    )
    return plan, cameras


def _pattern_boxes(state: State) -> Floats:
    """Left, bottom, width, height of the pattern of each sheet [m], (sheet_count, 4)."""
    mesh, boxes = state.mesh, []
    for sheet in range(int(mesh.face_sheet.max()) + 1):
        u = mesh.u[np.unique(mesh.faces[mesh.face_sheet == sheet])]
        low, extent = (u.min(axis=0), np.ptp(u, axis=0)) if len(u) else (np.zeros(2), np.ones(2))
        boxes.append([*low, *np.maximum(extent, 1e-9)])
    return np.array(boxes)


def _subjects(recording: Recording, states: list[State]) -> list[Floats]:
    """Points that must be in the picture: the sheets, and closed obstacles of about their size (not floors, not
    shells around them)."""
    size = np.linalg.norm(np.ptp(np.concatenate([state.x for state in states]), axis=0))
    subjects = []
    for state in states:
        parts, obstacles = [state.x], recording.obstacles_at(state.frame)
        for faces in obstacles.active_parts(state.time) if obstacles is not None else []:
            shape = state.obstacle_x[np.unique(faces)]
            small = np.linalg.norm(np.ptp(shape, axis=0)) < 1.5 * size
            if small and signed_volume(state.obstacle_x, faces) > 0:
                parts.append(shape)
        subjects.append(np.concatenate(parts))
    return subjects


def _floors(recording: Recording, states: list[State]) -> dict[int, float]:
    """Obstacles that are level floors below the sheets and never move: their height [m] by number."""
    obstacles, floors = recording.obstacles, {}
    for index in range(len(obstacles.names) if obstacles is not None else 0):
        assert obstacles is not None
        nodes = obstacles.node_obstacle == index
        height = np.concatenate([state.obstacle_x[nodes, 2] for state in states])
        lowest = min(float(state.x[:, 2].min()) for state in states)
        size = float(np.ptp(states[0].obstacle_x[nodes], axis=0).max())
        if np.ptp(height) < 1e-6 * size and height[0] <= lowest + 1e-3 * size:
            floors[index] = float(height[0])
    return floors


def _view(camera: str | View) -> View:
    return View(camera) if isinstance(camera, str) else camera


def _frame_rate(recording: Recording, frames: Sequence[int]) -> float:
    """These frames per simulated second, so that the film runs in real time, or 25 where nobody could watch that."""
    known = recording.times()
    times = [known[frame] for frame in frames]
    if len(times) < 2 or not times[-1] > times[0]:
        return 25.0
    rate = (len(times) - 1) / (times[-1] - times[0])
    return rate if WATCHABLE[0] <= rate <= WATCHABLE[1] else 25.0
