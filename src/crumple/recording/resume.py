"""Going on with an interrupted run from its last intact frame."""

from __future__ import annotations

from pathlib import Path

from crumple.errors import InputError
from crumple.recording.files import lock_folder, remove_temporaries
from crumple.recording.log import cut_log
from crumple.recording.recorder import Recorder
from crumple.recording.recording import Recording
from crumple.state import State


def resume_recording(path: str | Path, *, frame: int | None = None) -> tuple[State, Recorder]:
    """The state to go on from and the recorder that continues the recording at `path`.

    Goes on from `frame`, or from the last intact frame; whatever is newer is deleted: damaged frames, half-written
    files, lines of the log.
    """
    recording = Recording(path)
    with lock_folder(recording.path):
        state = recording.load(frame) if frame is not None else last_intact_state(recording)
        drop_after(recording, state.frame)
    return state, Recorder(path)


def last_intact_state(recording: Recording) -> State:
    """The newest state that can be read; `InputError` when there is none."""
    for frame in reversed(recording.frames):
        try:
            return recording.load(frame)
        except InputError:
            continue
    raise InputError(str(recording.path), "has no intact frame to resume from; start again with `crumple run`")


def drop_after(recording: Recording, frame: int) -> None:
    """Delete everything newer than `frame`, the newest first, so that a kill in between leaves a valid recording."""
    for folder in (recording.path, recording.frames_path, recording.obstacles_path):
        remove_temporaries(folder)
    for newer in reversed([k for k in recording.frames if k > frame]):
        recording.frame_path(newer).unlink()
    for newer in reversed([k for k in recording.obstacle_frames if k > frame]):
        recording.obstacle_path(newer).unlink()
    cut_log(recording.log_path, lambda line: line.get("frame", 0) <= frame)
