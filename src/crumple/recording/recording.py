"""A recording on disk, for reading.

scene.toml                       the resolved scene; none when the model was built by hand
model.h5                         the model: all that is constant during the run
frames/frame_000000.vtkhdf …     one file per frame, each the complete state
run.vtkhdf.series                index that ParaView opens as a time series
obstacles/…, obstacles.vtkhdf.series   the obstacles for viewing
log.jsonl                        one line per step
set-aside/…                      what `resume` could not use, never deleted
.crumple, .lock                  the mark of a recording, and the lock of the run that writes it
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from crumple.model.model import Model
from crumple.recording.files import read_file, write_atomically
from crumple.recording.frame import decode_frame, frame_time
from crumple.recording.log import Line, Log, read_log
from crumple.recording.mark import marked_scene
from crumple.recording.model_file import MODEL, StoredModel, decode_model, scene_digest
from crumple.recording.obstacles import ObstacleSurface, decode_obstacles
from crumple.recording.table import TABLES, frame_table, step_table
from crumple.runtime.errors import CrumpleError, InputError
from crumple.state import State

FRAME_NAME = re.compile(r"frame_([0-9]{6}|[1-9][0-9]{6,17})\.vtkhdf")
OBSTACLES_NAME = re.compile(r"obstacles_([0-9]{6}|[1-9][0-9]{6,17})\.vtkhdf")
Series = list[tuple[str, float]]
"""File names, relative to the recording, and times [s]."""
FRAME_INDEX, OBSTACLE_INDEX = "run.vtkhdf.series", "obstacles.vtkhdf.series"


class Recording:
    """The recording in folder `path`; `InputError` when there is none.

    >>> recording = Recording("out/demo")            # doctest: +SKIP
    >>> state = recording.load(recording.frames[-1])  # doctest: +SKIP
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_dir():
            raise InputError(str(self.path), "no such recording folder")
        if not self.frames_path.is_dir():
            raise InputError(str(self.path), "not a recording (it has no frames folder)")
        self._newest_obstacles: tuple[tuple[int, int], ObstacleSurface] | None = None

    @property
    def frames_path(self) -> Path:
        return self.path / "frames"

    @property
    def obstacles_path(self) -> Path:
        return self.path / "obstacles"

    @property
    def scene_path(self) -> Path:
        return self.path / "scene.toml"

    @property
    def model_path(self) -> Path:
        return self.path / MODEL

    @property
    def log_path(self) -> Path:
        return self.path / "log.jsonl"

    @property
    def frames(self) -> list[int]:
        """Numbers of the finished frames, ascending (looked up anew each time: a run may be adding to them)."""
        return _numbers(self.frames_path, FRAME_NAME)

    def __len__(self) -> int:
        return len(self.frames)

    def frame_path(self, frame: int) -> Path:
        """The file of a frame, there or not."""
        return self.frames_path / f"frame_{frame:06d}.vtkhdf"

    def load(self, frame: int = -1) -> State:
        """The complete state at a frame, the last one by default; `InputError` when it is missing or damaged."""
        number = self.frame_number(frame)
        return decode_frame(self.frame_path(number), number)

    def frame_number(self, frame: int, place: str | None = None) -> int:
        """The number of a finished frame, counted from the end where `frame` is negative; `InputError` when there is
        none, at `place`: what the user has said it with."""
        frames = self.frames
        if not frames:
            raise InputError(str(self.path), "has no finished frame")
        if -len(frames) <= frame < 0:
            return frames[frame]
        if frame not in frames:
            remedy = f"{self.path} has frames {frames[0]} to {frames[-1]}; -1 is the last"
            raise InputError(place or f"{self.path}: frame", remedy, frame)
        return frame

    def stored_model(self) -> StoredModel | None:
        """What is stored of the model, as it was at the newest frame; None in recordings from before it was."""
        return decode_model(self.model_path) if self.model_path.is_file() else None

    def present_model(self) -> Model | None:
        """The stored model; None when there is none, or when scene.toml says something else by now.

        The user's own terms and sizing criteria are not in it.
        """
        stored = self.stored_model()
        if stored is None or stored.model is None:
            return None
        scene = marked_scene(self.path)
        is_edited = self.scene_path.is_file() and (scene is None or read_file(self.scene_path) != scene.encode())
        return None if is_edited or stored.scene != scene_digest(scene or "") else stored.model

    def model(self) -> Model:
        """The model that the recording was made with, but for the user's own terms and sizing criteria.

        `InputError` when it is not stored, or scene.toml was edited since; then `build(recording.scene_path)`.
        """
        model = self.present_model()
        if model is not None:
            return model
        stored = self.stored_model()
        if stored is not None and stored.obstruction:
            raise InputError(str(self.model_path), f"does not hold the model: cannot store {stored.obstruction}")
        why = "has no model.h5" if stored is None else "has a scene.toml that was edited since model.h5 was written"
        raise InputError(str(self.path), f"{why}; crumple.build makes the model from its scene.toml")

    def times(self) -> dict[int, float]:
        """The simulated time of every finished frame [s], from the index where it knows, else from the frame."""
        known = dict(read_series(self.path / FRAME_INDEX))
        times: dict[int, float] = {}
        for frame in self.frames:
            path = self.frame_path(frame)
            name = f"frames/{path.name}"
            times[frame] = known[name] if name in known else frame_time(path)
        return times

    def steps(self) -> list[Line]:
        """The lines of the step log that can be read; see `log` for those that cannot."""
        return list(self.log().lines)

    def log(self) -> Log:
        """The step log."""
        return read_log(self.log_path)

    def table(self, rows: str = "steps") -> Any:
        """A `pandas.DataFrame` of the run's numbers, one row for each of the "steps" or of the "frames".

        Columns are what the log holds: times [s], faces, Newton iterations, contacts, `energy_…` [J], wall time
        `seconds`, for frames `phase_…` [s], and of each handle `force_…` [N], `displacement_…` [m] and `work_…` [J].
        """
        if rows not in TABLES:
            raise InputError("Recording.table", f"rows must be {' or '.join(TABLES)}", rows)
        return step_table(self.steps()) if rows == "steps" else frame_table(self.steps())

    def show(self, count: int = 6, **look: Any) -> Any:
        """Pictures of `count` frames side by side, which a notebook shows; see `rendering.strip.render_strip`."""
        from crumple.rendering.strip import render_strip  # upwards, for the user's convenience, and only when called

        return render_strip(self, count, **look)

    @cached_property
    def obstacles(self) -> ObstacleSurface | None:
        """The obstacles, `None` when the scene has none."""
        files = self.obstacle_frames
        return decode_obstacles(self.obstacle_path(files[0])).surface if files else None

    def obstacles_at(self, frame: int) -> ObstacleSurface | None:
        """The obstacles with the times for which they were there as of a frame: a session may put in a floor later, or
        take it away. `None` when the scene has none."""
        files = [number for number in self.obstacle_frames if number <= frame] or self.obstacle_frames[:1]
        if not files:
            return None
        path = self.obstacle_path(files[-1])
        if not path.is_file():
            return self.obstacles
        known = (files[-1], path.stat().st_mtime_ns)
        if self._newest_obstacles is None or self._newest_obstacles[0] != known:
            self._newest_obstacles = known, decode_obstacles(path).surface
        return self._newest_obstacles[1]

    @property
    def obstacle_frames(self) -> list[int]:
        """The frames at which an obstacle file was written: the first and those where something moved."""
        return _numbers(self.obstacles_path, OBSTACLES_NAME)

    def obstacle_path(self, frame: int) -> Path:
        """The obstacle file written at a frame, there or not."""
        return self.obstacles_path / f"obstacles_{frame:06d}.vtkhdf"


def write_series(path: Path, entries: Series) -> None:
    """The index that ParaView opens as a time series: file names relative to it, and their times [s]."""
    # Written by hand, a line per entry: it is written anew with every frame, and json with an indent is slow.
    files = ",\n".join(f'{{"name": "{name}", "time": {float(time)!r}}}' for name, time in entries if isfinite(time))
    write_atomically(path, f'{{"file-series-version": "1.0", "files": [\n{files}\n]}}\n'.encode())


def read_series(path: Path) -> Series:
    """The entries of an index; empty when it is missing or unreadable (frames tell their time too)."""
    try:
        files = json.loads(read_file(path).decode())["files"]
        entries = [(str(file["name"]), float(file["time"])) for file in files]
    except (CrumpleError, OSError, ValueError, LookupError, TypeError, RecursionError, OverflowError):
        return []
    return entries if all(isfinite(time) for _, time in entries) else []


def _numbers(folder: Path, name: re.Pattern[str]) -> list[int]:
    """Ascending frame numbers of the files in `folder` that match `name` in full."""
    if not folder.is_dir():
        return []
    matches = (name.fullmatch(file.name) for file in folder.iterdir())
    return sorted(int(match[1]) for match in matches if match)
