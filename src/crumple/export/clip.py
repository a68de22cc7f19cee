"""The frames that an export takes from a recording, one after the other."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from crumple.export.resample import Resampler
from crumple.export.surface import Snapshot, Solid, Surface, face_data, require_finite, surface_of
from crumple.mesh.texture import pattern_boxes, texture_coordinates
from crumple.recording.files import read_text_file
from crumple.recording.recording import Recording
from crumple.recording.vtkhdf import open_hdf
from crumple.runtime.errors import CrumpleError, InputError
from crumple.runtime.typing import Floats
from crumple.state import State

Progress = Callable[[int, int], None]
"""Called with the number of finished frames and of all."""

USUAL_RATE = 25.0
"""Frames per second of a recording that has one frame only."""


@dataclass(frozen=True)
class Clip:
    """Chosen `frames` of a recording with their `times` [s], and what is the same in all of them.

    `rate` recorded frames per second;  `sheet_names`;  `boxes` (sheet_count, 2, 2) of the pattern, which the texture is
    laid on;  `resampler` onto the one mesh that all frames shall have, None for each its own;
    `target_texture` of that mesh, see `State.texture`.
    """

    recording: Recording
    frames: list[int]
    times: Floats
    rate: float
    sheet_names: list[str]
    boxes: Floats
    resampler: Resampler | None
    with_obstacles: bool
    progress: Progress | None = None
    target_texture: Floats | None = None

    @property
    def constant(self) -> bool:
        """Whether all frames have one mesh."""
        return self.resampler is not None

    @property
    def codes(self) -> Floats:
        """Times in units of recorded frames, (frame_count,): whole numbers unless the run was cut inside a frame."""
        codes = self.times * self.rate
        whole = np.round(codes)
        return np.where(np.abs(codes - whole) < 1e-6 * np.maximum(whole, 1.0), whole, codes)

    def __iter__(self) -> Iterator[Snapshot]:
        """The frames in order, each loaded when it is asked for."""
        for done, frame in enumerate(self.frames, 1):
            yield self.snapshot(frame)
            if self.progress:
                self.progress(done, len(self.frames))

    def snapshot(self, frame: int) -> Snapshot:
        """One of the frames."""
        state = self.recording.load(frame)
        surface = surface_of(state, self.boxes) if self.resampler is None else self._resampled(state, self.resampler)
        return Snapshot(state.frame, state.time, surface, self._solids(state) if self.with_obstacles else ())

    def _resampled(self, state: State, resampler: Resampler) -> Surface:
        """The sheets of a state on the mesh of the resampler."""
        require_finite(state)
        target = resampler.target
        x, v = resampler.nodes(state.mesh, state.x, state.v)
        face = resampler.faces(state.mesh)
        data = {name: values[face] for name, values in face_data(state).items()}
        return Surface(target, x, v, texture_coordinates(target, self.boxes, self.target_texture), data)

    def _solids(self, state: State) -> tuple[Solid, ...]:
        """The obstacles, each with points of its own."""
        obstacles, solids = self.recording.obstacles_at(state.frame), []
        if obstacles is None:
            return ()
        for index, name in enumerate(obstacles.names):
            mine = np.flatnonzero(obstacles.node_obstacle == index)
            faces = obstacles.faces[obstacles.face_obstacle == index] - (mine[0] if len(mine) else 0)
            active = bool(obstacles.start[index] <= state.time < obstacles.end[index])
            solids.append(Solid(name or f"obstacle_{index}", state.obstacle_x[mine], faces, active))
        return tuple(solids)


def choose_frames(
    recording: Recording,
    frames: str | None = None,
    *,
    constant: bool = False,
    with_obstacles: bool = True,
    progress: Progress | None = None,
) -> Clip:
    """The clip of the frames that `frames` names (see `parse_frames`), all of them by default.

    `constant`: every frame is resampled onto the mesh of the frame with the most faces.
    """
    chosen, times = parse_frames(recording, frames), recording.times()
    first = recording.load(recording.frames[0])
    boxes = pattern_boxes(first.mesh)
    known = list(times)
    span = times[known[-1]] - times[known[0]]
    finest = recording.load(finest_frame(recording, chosen)) if constant else None
    return Clip(
        recording=recording,
        frames=chosen,
        times=np.array([times[frame] for frame in chosen]),
        rate=(known[-1] - known[0]) / span if span > 0.0 else USUAL_RATE,
        sheet_names=sheet_names(recording, len(boxes)),
        boxes=boxes,
        resampler=None if finest is None else Resampler(finest.mesh),
        target_texture=None if finest is None else finest.texture,
        with_obstacles=with_obstacles,
        progress=progress,
    )


def parse_frames(recording: Recording, text: str | None, place: str = "export --frames") -> list[int]:
    """The frames of a recording that `text` names: "12", "-1" (the last), or "first:last:step" with both ends included.

    Parts that are left out mean the first frame, the last frame and 1; frames that are not there are left out.
    `place`: what an error is about.
    """
    known = recording.frames
    if not known:
        raise InputError(str(recording.path), "has no finished frame")
    if text is None:
        return known
    parts = text.split(":")
    try:
        numbers = [int(part) if part.strip() else None for part in parts]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or numbers == [None] or any(step is not None and step < 1 for step in numbers[2:]):
        raise InputError(place, "must be a frame such as 12 or -1, or first:last:step", text)
    ends = [None if n is None else n if n >= 0 else known[max(n, -len(known))] for n in numbers[:2]]
    low = known[0] if ends[0] is None else ends[0]
    high = low if len(ends) == 1 else known[-1] if ends[1] is None else ends[1]
    step = (numbers[2] or 1) if len(numbers) == 3 else 1
    chosen = [frame for frame in known if low <= frame <= high and (frame - low) % step == 0]
    if not chosen:
        raise InputError(place, f"{recording.path} has frames {known[0]} to {known[-1]}", text)
    return chosen


def finest_frame(recording: Recording, frames: list[int]) -> int:
    """The frame with the most faces, the last of several."""
    counts = []
    for frame in frames:
        with open_hdf(recording.frame_path(frame)) as content:
            counts.append(int(content.table("VTKHDF")["Polygons/NumberOfCells"][0]))
    return frames[len(counts) - 1 - int(np.argmax(counts[::-1]))]


def sheet_names(recording: Recording, count: int) -> list[str]:
    """Names of the sheets: those of the scene, `sheet_0` and so on where it gives none; all different.

    Without a scene, those of the model.
    """
    try:
        if not recording.scene_path.is_file():
            listed = [{"name": name} for name in recording.model().sheet_names]
        else:
            listed = tomllib.loads(read_text_file(recording.scene_path)).get("sheets", [])
        given = [sheet.get("name") if isinstance(sheet, dict) else None for sheet in listed]
    except (CrumpleError, ValueError):
        given = []
    names: list[str] = []
    for k in range(count):
        name = str(given[k]) if k < len(given) and given[k] else f"sheet_{k}"
        names.append(name if name not in names else f"{name}_{k}")
    return names
