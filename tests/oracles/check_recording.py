"""Compares `crumple verify` with the exact oracle on recordings: python tests/oracles/check_recording.py FOLDER..."""

from __future__ import annotations

import sys

import numpy as np
from exact_intersections import sheet_intersections

from crumple.recording import Recording
from crumple.recording.obstacles import ObstacleSurface
from crumple.recording.verify import verify_recording
from crumple.state import State


def exact_count(state: State, obstacles: ObstacleSurface | None) -> int:
    """Pairs of an edge and a face of a state that have a point in common, exactly."""
    faces = np.zeros((0, 3), int) if obstacles is None else obstacles.faces[obstacles.active_faces(state.time)]
    return len(sheet_intersections(state.x, state.mesh.face_nodes, state.obstacle_x, faces))


def compare(folder: str) -> tuple[list[int], list[int], int]:
    """Intersections of every frame as `verify` counts them and as they are, and the most faces of a frame."""
    recording = Recording(folder)
    verification = verify_recording(recording)
    if not verification.passed:
        print("\n".join(verification.describe()))
    exact, faces = [], 0
    for frame in recording.frames:
        state = recording.load(frame)
        exact.append(exact_count(state, recording.obstacles_at(state.frame)))
        faces = max(faces, state.mesh.face_count)
    return [check.intersections for check in verification.checks], exact, faces


if __name__ == "__main__":
    agreed = True
    for path in sys.argv[1:]:
        verified, exact, faces = compare(path)
        agreed &= verified == exact
        print(
            f"{path}: {len(exact)} frames, up to {faces} faces, {sum(exact)} intersections, verify says {sum(verified)}"
        )
    sys.exit(0 if agreed else 1)
