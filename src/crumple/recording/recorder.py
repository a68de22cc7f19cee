"""The observer that writes a recording while a run goes on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import tomli_w

from crumple.model.model import Model
from crumple.recording.files import lock_folder, read_file, remove_temporaries, write_atomically
from crumple.recording.folder import FOLDERS, LOG, SCENE, check_vacant, is_marked, refuse_links, set_aside
from crumple.recording.frame import encode_frame
from crumple.recording.log import Line, StepLog, plain
from crumple.recording.mark import mark_folder, marked_scene
from crumple.recording.model_file import MODEL, encode_model
from crumple.recording.obstacles import ObstacleSurface, decode_obstacles, encode_obstacles, obstacle_surface
from crumple.recording.recording import FRAME_INDEX, OBSTACLE_INDEX, Recording, Series, read_series, write_series
from crumple.recording.vtkhdf import DamagedFile
from crumple.runtime.errors import CrumpleError, InputError
from crumple.runtime.reading import MOST_BYTES
from crumple.runtime.typing import Bools, Floats
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport


class Recorder(Observer):
    """Writes every frame and every step into an existing recording folder; `create_recording` makes one.

    A frame exists once its file has its final name; everything else (index, obstacles) can be rebuilt.
    """

    def __init__(
        self, path: str | Path, *, lock: IO[bytes] | None = None, replaced: Mapping[int, Path] | None = None
    ) -> None:
        """`lock`: that of the folder, if it is held already; else it is taken here.  `replaced`: where frames are that
        were moved aside when the recording was taken up."""
        self.replaced = dict(replaced or {})
        self.recording = Recording(path)
        self._lock = lock or lock_folder(self.recording.path)
        refuse_links(self.recording.path)
        self._log = StepLog(self.recording.log_path)
        self._frame_series, self._obstacle_series = repair_indices(self.recording)
        self._shown: Floats | None = None
        self._model: Model | None = None
        self._line: Line | None = None

    def on_start(self, model: Model, state: State) -> None:
        """Write the model, and the state that the run starts from unless it is the frame that the run resumes from."""
        self._write_model(model)
        if state.frame not in self.recording.frames:
            self._write_frame(model, state)
        else:
            self._take_up_obstacles(model, state)

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        """Note the step; its line is written when the next one comes, so that the last can tell of the frame."""
        self._write_line()
        self._line = {"frame": state.frame + 1, "faces": state.mesh.face_count, **plain(report)}

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        """Write the frame `state.frame`; the line of its last step gets the frame's sums as `"frame_end"`."""
        if self._line is not None:
            self._line["frame_end"] = plain(report)
        self._write_line()
        self._write_model(model)
        self._write_frame(model, state)

    def on_end(self, model: Model, state: State) -> None:
        """Write the last line (the run may have ended in the middle of a frame)."""
        self._write_line()

    def close(self) -> None:
        """Give the folder free."""
        try:
            self._write_line()
        finally:
            self._log.close()
            self._lock.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write_line(self) -> None:
        """Hand the pending line to the log."""
        line, self._line = self._line, None  # a line that a full disk refused is not tried again
        if line is not None:
            self._log.append(line)

    def _write_model(self, model: Model) -> None:
        """Write the model if it is another than before: handles that are moved by hand change it."""
        if model is self._model:
            return
        path, content = self.recording.model_path, encode_model(model, marked_scene(self.recording.path) or "")
        if not path.is_file() or read_file(path, MOST_BYTES) != content:
            write_atomically(path, content)
        self._model = model

    def _write_frame(self, model: Model, state: State) -> None:
        """Obstacles first: the frame file says that all of it is there."""
        self._write_obstacles(model, state)
        write_atomically(self.recording.frame_path(state.frame), encode_frame(state))
        _extend(self._frame_series, (_frame_entry(state.frame), state.time))
        write_series(self.recording.path / FRAME_INDEX, self._frame_series)

    def _take_up_obstacles(self, model: Model, state: State) -> None:
        """Remember what the newest obstacle file shows, so that it is not written again while nothing moves."""
        files = [frame for frame in self.recording.obstacle_frames if frame <= state.frame]
        if not model.obstacles or not files:
            return
        with suppress(DamagedFile):  # then it is written anew
            kept = decode_obstacles(self.recording.obstacle_path(files[-1]))
            if kept.surface.is_same(obstacle_surface(model)):
                self._shown = _shown(kept.surface, kept.positions, kept.active)

    def _write_obstacles(self, model: Model, state: State) -> None:
        """Write the obstacles if they moved since the last file, and assign the newest file to this time."""
        if not model.obstacles:
            return
        surface = obstacle_surface(model)
        shown = _shown(surface, state.obstacle_x, surface.active_faces(state.time))
        if self._shown is None or not np.array_equal(shown, self._shown):
            content = encode_obstacles(surface, state.obstacle_x, state.time)
            write_atomically(self.recording.obstacle_path(state.frame), content)
            self._shown, name = shown, f"obstacles/obstacles_{state.frame:06d}.vtkhdf"
        else:
            name = self._obstacle_series[-1][0]
        _extend(self._obstacle_series, (name, state.time))
        write_series(self.recording.path / OBSTACLE_INDEX, self._obstacle_series)


class Resolved(Protocol):
    """A scene, as far as a recording needs to know it (see `crumple.scenes.Scene`)."""

    def tables(self) -> dict[str, Any]:
        """The resolved scene as plain tables."""
        ...


def create_recording(path: str | Path, scene: Resolved | str | None = None, *, force: bool = False) -> Recorder:
    """A recorder for a new recording in folder `path` of a `scene`, or of its resolved text (TOML).

    `scene`: none when the model was built by hand. Either way the recorder writes the model when the run starts.
    Refuses a folder that crumple did not make or that holds anything else, and a recording with frames unless `force`.
    """
    folder = Path(path)
    if scene is not None and not isinstance(scene, str):
        scene = tomli_w.dumps(scene.tables())
    check_vacant(folder, force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = lock_folder(folder)
    except OSError as error:
        raise InputError(str(folder), f"cannot be created ({error.strerror})") from None
    try:
        check_vacant(folder, force)  # again, now that nobody else writes here
        if not is_marked(folder):
            mark_folder(folder, scene or "")
        for name in FOLDERS:
            (folder / name).mkdir(exist_ok=True)
        _clear(Recording(folder))
        mark_folder(folder, scene or "")
        if scene is None:
            (folder / SCENE).unlink(missing_ok=True)
        else:
            write_atomically(folder / SCENE, scene.encode())
        return Recorder(folder, lock=lock)
    except BaseException:
        lock.close()
        raise


def _clear(recording: Recording) -> None:
    """Delete the frames (last first, so that a kill leaves a shorter recording), obstacles, indices, log and model.

    A scene.toml that the user edited is moved aside.
    """
    edited = marked_scene(recording.path)
    if edited is not None and recording.scene_path.is_file() and read_file(recording.scene_path) != edited.encode():
        set_aside(recording.path, recording.scene_path, "edited")
    for frame in reversed(recording.frames):
        recording.frame_path(frame).unlink()
    for frame in recording.obstacle_frames:
        recording.obstacle_path(frame).unlink()
    for folder in (recording.path, recording.frames_path, recording.obstacles_path):
        remove_temporaries(folder)
    for name in (FRAME_INDEX, OBSTACLE_INDEX, LOG, MODEL):
        (recording.path / name).unlink(missing_ok=True)


def repair_indices(recording: Recording) -> tuple[Series, Series]:
    """Make both indices list the frames that are there, and give them; the caller holds the lock.

    A kill between a frame and its index leaves an index that is one frame short.
    """
    frames = [(_frame_entry(frame), time) for frame, time in recording.times().items()]
    obstacles = _obstacle_series(recording)
    for name, series in ((FRAME_INDEX, frames), (OBSTACLE_INDEX, obstacles)):
        if series and read_series(recording.path / name) != series:
            write_series(recording.path / name, series)
    return frames, obstacles


def repair_if_idle(recording: Recording) -> None:
    """Repair the indices unless they are right, a run is writing them, or the folder cannot be written."""
    with suppress(OSError, CrumpleError):
        if [name for name, _ in read_series(recording.path / FRAME_INDEX)] == list(map(_frame_entry, recording.frames)):
            return
        with lock_folder(recording.path):
            refuse_links(recording.path)
            repair_indices(recording)


def _obstacle_series(recording: Recording) -> Series:
    """The index of obstacle files that goes with the frames already there: to each the newest not after it."""
    files = recording.obstacle_frames
    newest = ((bisect_right(files, frame), time) for frame, time in recording.times().items())
    return [(f"obstacles/obstacles_{files[k - 1]:06d}.vtkhdf", time) for k, time in newest if k]


def _shown(surface: ObstacleSurface, positions: Floats, active: Bools) -> Floats:
    """What can be seen of the obstacles: the corners of each face, and whether it is active, (face_count, 10)."""
    return np.column_stack([positions[surface.faces].reshape(-1, 9), active])


def _extend(series: Series, entry: tuple[str, float]) -> None:
    """Append `entry`, or replace the last one when it has the same time (the frame that a run resumes from)."""
    if series and series[-1][1] == entry[1]:
        series.pop()
    series.append(entry)


def _frame_entry(frame: int) -> str:
    return f"frames/frame_{frame:06d}.vtkhdf"
