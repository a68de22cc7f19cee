"""What a recording holds and what it cost, from its frames and its step log."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import nan
from typing import Any

from crumple.recording.folder import set_aside_files
from crumple.recording.recording import Recording
from crumple.state import State


@dataclass(frozen=True)
class RecordingInfo:
    """Numbers about a recording; seconds are wall time.

    `frames` on disk (the initial one included), `time` simulated [s], `steps`, `newton_iterations`, `contacts_max`,
    `retries` shortened attempts, `seconds`, `seconds_per_frame`, `phases` seconds by phase, `warnings` as written
    during the run, `energies` [J] at the end, the `linear_solver` used last; `problems`: lines of the log that cannot
    be read, and what was set aside.
    """

    frames: int
    time: float
    faces_last: int
    faces_mean: float
    steps: int
    newton_iterations: int
    contacts_max: int
    retries: int
    seconds: float
    seconds_per_frame: float
    phases: dict[str, float]
    energies: dict[str, float]
    warnings: tuple[str, ...]
    linear_solver: str
    problems: tuple[str, ...] = ()


def summarise_recording(recording: Recording, last: State | None = None) -> RecordingInfo:
    """The numbers of a recording; the log's lines count up to its last frame, whose state is read unless it is
    given as `last`."""
    frames, times = recording.frames, recording.times()
    log = recording.log()
    steps = [line for line in log.lines if frames and line.get("frame", 0) <= frames[-1]]
    ends = [line["frame_end"] for line in steps if "frame_end" in line]
    phases: defaultdict[str, float] = defaultdict(float)
    for end in ends:
        for phase, seconds in end.get("phases", {}).items():
            phases[phase] += seconds
    seconds = sum(end.get("seconds", 0.0) for end in ends)
    if last is None and frames:
        last = recording.load(frames[-1])
    faces = [end.get("faces", 0) for end in ends] or [last.mesh.face_count if last else 0]
    energies = steps[-1].get("energies", {}) if steps else {}
    return RecordingInfo(
        frames=len(frames),
        time=times[frames[-1]] if frames else 0.0,
        faces_last=last.mesh.face_count if last else 0,
        faces_mean=sum(faces) / len(faces),
        steps=len(steps),
        newton_iterations=_total(steps, "iterations"),
        contacts_max=max((line.get("contacts", 0) for line in steps), default=0),
        retries=_total(steps, "retries"),
        seconds=seconds,
        seconds_per_frame=seconds / len(ends) if ends else 0.0,
        phases=dict(phases),
        energies={name: nan if joule is None else joule for name, joule in energies.items()},
        warnings=tuple(warning for end in ends for warning in end.get("warnings", ())),
        linear_solver=ends[-1].get("linear_solver", "") if ends else "",
        problems=(*log.skipped, *(f"{path}: set aside" for path in set_aside_files(recording.path))),
    )


def _total(lines: list[dict[str, Any]], key: str) -> int:
    return sum(line.get(key, 0) for line in lines)
