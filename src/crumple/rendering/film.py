"""Pictures and films of a recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from crumple.errors import InputError
from crumple.recording.recording import Recording
from crumple.rendering.camera import fit_camera
from crumple.rendering.engine import load_imageio, load_pyvista
from crumple.rendering.fields import color_field
from crumple.rendering.spaces import draw_space, named_spaces
from crumple.rendering.stage import Look, Stage, save_picture, signed_volume
from crumple.state import State
from crumple.typing import Floats

SIZE = (1280, 960)
SAMPLES = 40
"""Frames looked at to find the bounding box of a film."""


def render_frame(
    recording: Recording,
    frame: int,
    path: str | Path,
    *,
    size: tuple[int, int] = SIZE,
    camera: str = "auto",
    color_by: str | None = None,
    edges: bool = False,
    space: str = "world",
) -> Path:
    """Write a PNG of one frame (-1: the last); the camera fits that frame.

    `space`: "world", "pattern", "plastic", or "all" for the three side by side.
    """
    state = recording.load(frame)
    stage = Panels(recording, [state], size=size, camera=camera, color_by=color_by, edges=edges, space=space)
    try:
        save_picture(stage.draw(state), Path(path))
    finally:
        stage.close()
    return Path(path)


def render_film(
    recording: Recording,
    path: str | Path,
    *,
    size: tuple[int, int] = SIZE,
    camera: str = "auto",
    color_by: str | None = None,
    edges: bool = False,
    space: str = "world",
    fps: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write an MP4 of all frames in real time (or at `fps`); calls `progress(done, total)` after every frame."""
    frames = recording.frames
    if not frames:
        raise InputError(str(recording.path), "has no finished frame")
    load_pyvista()
    sampled = [frames[k] for k in np.unique(np.linspace(0, len(frames) - 1, SAMPLES).round().astype(int))]
    size = (size[0] // 2 * 2, size[1] // 2 * 2)  # the encoder wants even numbers
    states = [recording.load(frame) for frame in sampled]
    stage = Panels(recording, states, size=size, camera=camera, color_by=color_by, edges=edges, space=space)
    writer = load_imageio().get_writer(
        path, fps=fps or _frame_rate(recording), codec="libx264", quality=8, macro_block_size=2
    )
    try:
        for done, frame in enumerate(frames, 1):
            writer.append_data(stage.draw(recording.load(frame)))
            if progress:
                progress(done, len(frames))
    finally:
        writer.close()
        stage.close()
    return Path(path)


class Panels:
    """One picture of the sheets in one space, or in several side by side, with looks that suit all `states`."""

    def __init__(
        self, recording: Recording, states: list[State], *, size: tuple[int, int], space: str, **look: Any
    ) -> None:
        names = named_spaces(space)
        width = size[0] // len(names)
        widths = [width] * (len(names) - 1) + [size[0] - width * (len(names) - 1)]
        self._obstacles = recording.obstacles
        self._stages = [
            Stage(plan_look(recording, states, size=(w, size[1]), space=name, legend=name == names[-1], **look))
            for w, name in zip(widths, names, strict=True)
        ]

    def draw(self, state: State) -> Floats:
        """The picture of `state`, (height, width, 3) uint8."""
        return np.concatenate([stage.draw(state, self._obstacles) for stage in self._stages], axis=1)

    def close(self) -> None:
        for stage in self._stages:
            stage.close()


def plan_look(
    recording: Recording,
    states: list[State],
    *,
    size: tuple[int, int],
    camera: str,
    color_by: str | None,
    edges: bool,
    space: str = "world",
    legend: bool = True,
) -> Look:
    """Camera, ground and colour range that suit all `states`; the flat pattern is seen from the top."""
    if space == "pattern" and camera == "auto":
        camera = "top"
    if space == "world":
        subject = _subject(recording, states)
    else:
        subject = np.concatenate([draw_space(state, space).points for state in states])
    low, high = subject.min(axis=0), subject.max(axis=0)
    scale = float(np.linalg.norm(high - low)) or 1.0
    field = color_field(color_by, recording) if color_by else None
    values = np.concatenate([field.values(state) for state in states]) if field else np.zeros(1)
    least, most = float(values.min()), float(values.max())
    return Look(
        size=size,
        camera=fit_camera(subject, size[0] / size[1], camera, legend=0.14 if field and legend else 0.0),
        scale=scale,
        centre=0.5 * (low + high),
        ground=float(low[2]) - 1e-3 * scale,
        field=field,
        field_range=(least, most if most > least else least + 1.0),
        edges=edges,
        space=space,
        legend=legend,
    )


def _subject(recording: Recording, states: list[State]) -> Floats:
    """Points that must be in the picture: the sheets, and closed obstacles of about their size (not floors, not
    shells around them)."""
    points = np.concatenate([state.x for state in states])
    size = np.linalg.norm(np.ptp(points, axis=0))
    obstacles, parts = recording.obstacles, [points]
    for state in states:
        for faces in obstacles.active_parts(state.time) if obstacles is not None else []:
            shape = state.obstacle_x[np.unique(faces)]
            small = np.linalg.norm(np.ptp(shape, axis=0)) < 1.5 * size
            if small and signed_volume(state.obstacle_x, faces) > 0:
                parts.append(shape)
    return np.concatenate(parts)


def _frame_rate(recording: Recording) -> float:
    """Frames per simulated second, so that the film runs in real time."""
    times = list(recording.times().values())
    return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 and times[-1] > times[0] else 25.0
