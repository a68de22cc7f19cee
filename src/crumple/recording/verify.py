"""Rechecks every frame of a recording, independently of the run that wrote it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from crumple.contact import find_intersections, make_surface
from crumple.mesh.validate import validate_mesh
from crumple.recording.codec import flatten
from crumple.recording.files import StorageError
from crumple.recording.frame import check_view, frame_time
from crumple.recording.model_file import fit_problem
from crumple.recording.obstacles import ObstacleSurface, decode_obstacles
from crumple.recording.recording import FRAME_INDEX, FRAME_NAME, Recording, read_series
from crumple.recording.verify_creases import verify_creases
from crumple.runtime.errors import InputError
from crumple.state import State
from crumple.state.problems import state_problems


@dataclass(frozen=True)
class FrameCheck:
    """What is wrong with one frame: pairs of an edge and a face that intersect, numbers that are not finite,
    problems of the mesh, what its file shows otherwise than its state, and why it cannot be read, else ""."""

    frame: int
    intersections: int = 0
    nonfinite: int = 0
    mesh_problems: tuple[str, ...] = ()
    unreadable: str = ""
    view_problems: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not (self.intersections or self.nonfinite or self.mesh_problems or self.unreadable or self.view_problems)

    def describe(self) -> str:
        """One line."""
        found = [f"{self.intersections} intersections"] if self.intersections else []
        found += [f"{self.nonfinite} values are not finite"] if self.nonfinite else []
        found += [*self.mesh_problems, *self.view_problems, *([self.unreadable] if self.unreadable else [])]
        return f"frame {self.frame}: {'; '.join(found) or 'fine'}"


@dataclass(frozen=True)
class Verification:
    """The checks of all frames, the ranges of frames that are missing, and what is wrong besides, a line each."""

    checks: tuple[FrameCheck, ...]
    missing: tuple[range, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is at least one frame, none is missing, and nothing is wrong with anything."""
        return (
            bool(self.checks) and not self.missing and not self.problems and all(check.passed for check in self.checks)
        )

    def describe(self) -> list[str]:
        """Everything that is wrong, a line each."""
        lines = [
            f"frame {gap[0]}: is missing" if len(gap) == 1 else f"frames {gap[0]} to {gap[-1]}: are missing"
            for gap in self.missing
        ]
        return [*lines, *self.problems, *(check.describe() for check in self.checks if not check.passed)]

    def summary(self) -> dict[str, int]:
        """The numbers that `crumple verify --json` prints."""
        return {
            "frames": len(self.checks),
            "intersections": sum(check.intersections for check in self.checks),
            "nonfinite": sum(check.nonfinite for check in self.checks),
            "invalid_meshes": sum(bool(check.mesh_problems) for check in self.checks),
            "unreadable": sum(bool(check.unreadable) for check in self.checks),
            "invalid_views": sum(bool(check.view_problems) for check in self.checks),
            "missing": sum(map(len, self.missing)),
            "problems": len(self.problems),
        }


def verify_recording(recording: Recording, progress: Callable[[FrameCheck], None] | None = None) -> Verification:
    """Check every finished frame, the obstacles, the model and the index; `progress` is called with each result of a
    frame."""
    surfaces, problems = verify_obstacles(recording)
    problems += verify_model(recording)
    problems += verify_creases(recording)
    checks: list[FrameCheck] = []
    for frame in recording.frames:
        newest = max((k for k in surfaces if k <= frame), default=min(surfaces, default=None))
        checks.append(_check_frame(recording, frame, None if newest is None else surfaces[newest]))
        if progress:
            progress(checks[-1])
    problems += _index_problems(recording, {check.frame for check in checks if not check.unreadable})
    return Verification(tuple(checks), missing_frames(recording), tuple(problems))


def missing_frames(recording: Recording) -> tuple[range, ...]:
    """Frames that the recording must have had: between others, or finished according to the index.

    As ranges: a single file with a large number in its name stands for very many of them.
    """
    frames = recording.frames
    listed = (FRAME_NAME.fullmatch(Path(name).name) for name, _ in read_series(recording.path / FRAME_INDEX))
    lost = {int(match[1]) for match in listed if match} - set(frames)
    gaps = [range(a + 1, b) for a, b in pairwise(frames) if b > a + 1]
    within = range(frames[0], frames[-1] + 1) if frames else range(0)
    return tuple(sorted([*gaps, *(range(k, k + 1) for k in lost if k not in within)], key=lambda gap: gap.start))


def verify_obstacles(recording: Recording) -> tuple[dict[int, ObstacleSurface], list[str]]:
    """The surface of the obstacles by the frames from which on it is that, and what is wrong with their files, a line
    each.

    Every file holds the same faces, where the state of its frame says that the obstacles are.
    """
    surfaces: dict[int, ObstacleSurface] = {}
    problems: list[str] = []
    for frame in recording.obstacle_frames:
        path = recording.obstacle_path(frame)
        try:
            kept = decode_obstacles(path)
            state = recording.load(frame)
        except (InputError, StorageError) as error:
            problems.append(str(error))
            continue
        first = next(iter(surfaces.values()), kept.surface)
        if not kept.surface.is_same(first):
            problems.append(f"{path}: holds other obstacles than the files before it")
            continue
        surfaces[frame] = replace(first, start=kept.surface.start, end=kept.surface.end)
        if not np.array_equal(kept.positions, state.obstacle_x) or kept.time != state.time:
            problems.append(f"{path}: shows the obstacles elsewhere than frame {frame}")
        elif not np.array_equal(kept.active, kept.surface.active_faces(kept.time)):
            problems.append(f"{path}: shows obstacles as active that are not, or the other way round")
    return surfaces, problems


def verify_model(recording: Recording) -> list[str]:
    """What is wrong with the stored model: that it cannot be read, or that the newest frame is none of its own."""
    try:
        stored = recording.stored_model()
    except (InputError, StorageError) as error:
        return [str(error)]
    if stored is None or stored.model is None:
        return []
    try:
        state = recording.load()
    except (InputError, StorageError):
        return []  # which is told with the frame
    problem = fit_problem(stored.model, state)
    return [f"{recording.model_path}: {problem}"] if problem else []


def verify_frame(recording: Recording, frame: int) -> FrameCheck:
    """Check one frame."""
    try:
        return _check_frame(recording, frame, recording.obstacles_at(frame))
    except (InputError, StorageError) as error:
        return FrameCheck(frame, unreadable=str(error))


def _check_frame(recording: Recording, frame: int, obstacles: ObstacleSurface | None) -> FrameCheck:
    """Check one frame against the surface of the `obstacles`."""
    try:
        state = recording.load(frame)
        view = check_view(recording.frame_path(frame))
    except (InputError, StorageError) as error:
        return FrameCheck(frame, unreadable=str(error))
    if len(state.obstacle_x) != (0 if obstacles is None else len(obstacles.node_obstacle)):
        reason = "the obstacles are missing" if obstacles is None else "the obstacles are not those of the frame"
        return FrameCheck(frame, unreadable=f"{recording.obstacles_path}: {reason}")
    nonfinite = count_nonfinite(state)
    problems = tuple(validate_mesh(state.mesh, state.x) or state_problems(state))
    # Broken numbers or connectivity would mislead the search for intersections, and are reason enough to fail.
    count = 0 if nonfinite or problems else count_intersections(state, obstacles)
    return FrameCheck(frame, count, nonfinite, problems, view_problems=view)


def _index_problems(recording: Recording, frames: set[int]) -> list[str]:
    """Times in the index that are not those of the frames, a line for the first; a short index is repaired anyway."""
    path = recording.path / FRAME_INDEX
    known = dict(read_series(path))
    for frame in sorted(frames):
        name = f"frames/{recording.frame_path(frame).name}"
        if name in known and known[name] != frame_time(recording.frame_path(frame)):
            return [f"{path}: gives another time to frame {frame} than the frame itself"]
    return []


def count_nonfinite(state: State) -> int:
    """How many numbers of a state are not finite."""
    values = (np.asarray(value) for value in flatten(state).values())
    return sum(int(np.count_nonzero(~np.isfinite(value))) for value in values if value.dtype.kind == "f")


def count_intersections(state: State, obstacles: ObstacleSurface | None) -> int:
    """Pairs of an edge and a face that intersect: sheets with themselves, each other and active obstacles."""
    nodes = state.mesh.node_count
    faces = np.zeros((0, 3), np.int32)
    if obstacles is not None:
        faces = obstacles.faces[obstacles.active_faces(state.time)] + nodes
    surface = make_surface(
        state.mesh.face_nodes,
        np.concatenate([state.mesh.node_rest, state.obstacle_x]),
        dynamic_count=nodes,
        obstacle_faces=faces,
        dhat=1e-3,  # has no influence on intersections
    )
    x = np.ascontiguousarray(np.concatenate([state.x, state.obstacle_x]))
    return len(find_intersections(surface, x))
