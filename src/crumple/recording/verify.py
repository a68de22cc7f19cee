"""Rechecks every frame of a recording, independently of the run that wrote it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crumple.contact import find_intersections, make_surface
from crumple.errors import InputError
from crumple.mesh.validate import validate_mesh
from crumple.recording.codec import flatten
from crumple.recording.obstacles import ObstacleSurface
from crumple.recording.recording import Recording
from crumple.state import State


@dataclass(frozen=True)
class FrameCheck:
    """What is wrong with one frame: pairs of an edge and a face that intersect, numbers that are not finite,
    problems of the mesh, and the reason why it cannot be read, else ""."""

    frame: int
    intersections: int = 0
    nonfinite: int = 0
    mesh_problems: tuple[str, ...] = ()
    unreadable: str = ""

    @property
    def passed(self) -> bool:
        return not (self.intersections or self.nonfinite or self.mesh_problems or self.unreadable)

    def describe(self) -> str:
        """One line."""
        found = [f"{self.intersections} intersections"] if self.intersections else []
        found += [f"{self.nonfinite} values are not finite"] if self.nonfinite else []
        found += [*self.mesh_problems, *([self.unreadable] if self.unreadable else [])]
        return f"frame {self.frame}: {'; '.join(found) or 'fine'}"


@dataclass(frozen=True)
class Verification:
    """The checks of all frames."""

    checks: tuple[FrameCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether there is at least one frame and nothing is wrong with any."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    def summary(self) -> dict[str, int]:
        """The numbers that `crumple verify --json` prints."""
        return {
            "frames": len(self.checks),
            "intersections": sum(check.intersections for check in self.checks),
            "nonfinite": sum(check.nonfinite for check in self.checks),
            "invalid_meshes": sum(bool(check.mesh_problems) for check in self.checks),
            "unreadable": sum(bool(check.unreadable) for check in self.checks),
        }


def verify_recording(recording: Recording, progress: Callable[[FrameCheck], None] | None = None) -> Verification:
    """Check every finished frame; `progress` is called with each result."""
    checks: list[FrameCheck] = []
    for frame in recording.frames:
        checks.append(verify_frame(recording, frame))
        if progress:
            progress(checks[-1])
    return Verification(tuple(checks))


def verify_frame(recording: Recording, frame: int) -> FrameCheck:
    """Check one frame."""
    try:
        state = recording.load(frame)
    except InputError as error:
        return FrameCheck(frame, unreadable=str(error))
    if len(state.obstacle_x) and recording.obstacles is None:
        return FrameCheck(frame, unreadable=f"{recording.obstacles_path}: the obstacles are missing")
    nonfinite = count_nonfinite(state)
    problems = tuple(validate_mesh(state.mesh, state.x))
    # Broken numbers or connectivity would mislead the search for intersections, and are reason enough to fail.
    count = 0 if nonfinite or problems else count_intersections(state, recording.obstacles)
    return FrameCheck(frame, count, nonfinite, problems)


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
