"""Going on with an interrupted run from its last intact frame, without ever deleting a frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crumple.recording.files import lock_folder, remove_temporaries
from crumple.recording.folder import SET_ASIDE, refuse_links, set_aside
from crumple.recording.frame import frame_time
from crumple.recording.log import cut_log
from crumple.recording.recorder import Recorder
from crumple.recording.recording import FRAME_INDEX, Recording, read_series
from crumple.recording.vtkhdf import DamagedFile
from crumple.runtime.errors import InputError
from crumple.state import State

DAMAGED, REPLACED = "damaged", "replaced"


@dataclass(frozen=True)
class Beginning:
    """Where a run goes on: the state, and the frames that cannot be used, each with the reason."""

    state: State
    damaged: dict[int, str]


def resume_recording(
    path: str | Path,
    *,
    frame: int | None = None,
    check: Callable[[State], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> tuple[State, Recorder]:
    """The state to go on from and the recorder that continues the recording at `path`.

    Goes on from `frame`, or from the last intact frame. Frames that are damaged, and those after the one to go on
    from, are moved to the folder `set-aside`; `warn` is told of each, and of lines of the log that are left out.
    Half-written files and lines of the log after the frame are dropped. `check` may raise to stop before anything is
    touched, as frames of a newer crumple and errors of the disk do.
    """
    recording = Recording(path)
    lock = lock_folder(recording.path)
    try:
        refuse_links(recording.path)
        begin = find_beginning(recording, frame)
        if check is not None:
            check(begin.state)
        replaced = _tidy(recording, begin, warn or (lambda message: None))
        return begin.state, Recorder(path, lock=lock, replaced=replaced)
    except BaseException:
        lock.close()
        raise


def find_beginning(recording: Recording, frame: int | None = None) -> Beginning:
    """The newest state that is intact, or that of `frame`, and what is damaged; `InputError` when there is none.

    Frames before it are only looked into where the index does not know their time.
    """
    damaged: dict[int, str] = {}
    state = None if frame is None else recording.load(frame)
    for number in reversed(recording.frames if frame is None else []):
        try:
            state = recording.load(number)
            break
        except DamagedFile as error:
            damaged[number] = error.remedy
    if state is None:
        raise InputError(str(recording.path), "has no intact frame to resume from; start again with `crumple run`")
    known = {name for name, _ in read_series(recording.path / FRAME_INDEX)}
    for number in (number for number in recording.frames if number < state.frame):
        path = recording.frame_path(number)
        if f"frames/{path.name}" not in known:
            try:
                frame_time(path)
            except DamagedFile as error:
                damaged[number] = error.remedy
    return Beginning(state, damaged)


def _tidy(recording: Recording, begin: Beginning, warn: Callable[[str], None]) -> dict[int, Path]:
    """Move aside what the run will not go on with, the newest first: a kill in between leaves a valid recording.

    Returns where frames after the one to go on from are now.
    """
    for folder in (recording.path, recording.frames_path, recording.obstacles_path, recording.path / SET_ASIDE):
        remove_temporaries(folder)
    last = begin.state.frame
    replaced: dict[int, Path] = {}
    for number in reversed(recording.frames):
        if number in begin.damaged:
            moved = set_aside(recording.path, recording.frame_path(number), DAMAGED)
            warn(f"frame {number} is damaged ({begin.damaged[number]}); moved to {moved}")
        elif number > last:
            replaced[number] = set_aside(recording.path, recording.frame_path(number), REPLACED)
    if replaced:
        warn(f"frames {min(replaced)} to {max(replaced)} moved to {recording.path / SET_ASIDE}")
    for number in reversed([k for k in recording.obstacle_frames if k > last]):
        recording.obstacle_path(number).unlink()
    log = recording.log()
    if log.skipped:
        for message in log.skipped:
            warn(message)
        warn(f"the log as it was is kept as {set_aside(recording.path, recording.log_path, DAMAGED, copy=True)}")
    cut_log(recording.log_path, lambda line: line.get("frame", 0) <= last)
    return replaced
