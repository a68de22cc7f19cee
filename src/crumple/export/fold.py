"""FOLD files of recordings: the flat sheets with their creases, and each frame as a folded form with measured angles.

The angles of the crease pattern are those at rest, and of driven creases those that they have in the last frame, so
that the file folds again the same way; edges inside facets are joins. Positions in m.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from crumple.export.clip import Clip
from crumple.export.surface import require_finite
from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.patterns.fold_file import fold_degrees
from crumple.runtime.typing import Floats, Ints
from crumple.state import State

UNFOLDED = np.radians(0.01)
"""Creases with smaller rest angles are written as flat [rad]."""
APART = 0.1
"""Room between the patterns of two sheets, as a fraction of the width of the first."""


def write_fold_clip(clip: Clip, path: Path) -> None:
    """Write the chosen frames of a recording into one FOLD file."""
    first = clip.recording.load(clip.frames[0])
    pattern = crease_frame(first, driven_angles(clip.recording.load(clip.frames[-1])))
    record: dict[str, Any] = {"file_spec": 1.2, "file_creator": "crumple", **pattern, "file_frames": []}
    for done, frame in enumerate(clip.frames, 1):
        state = clip.recording.load(frame)
        same = np.array_equal(state.mesh.faces, first.mesh.faces) and np.array_equal(state.mesh.u, first.mesh.u)
        record["file_frames"].append(folded_frame(state, inherits=same))
        if clip.progress:
            clip.progress(done, len(clip.frames))
    path.write_bytes(json.dumps(record, allow_nan=False).encode())


def driven_angles(state: State) -> dict[tuple[int, int], float]:
    """The mean angle [rad], by length, of each driven crease of a state, by sheet and label."""
    rows, mesh = state.creases, state.mesh
    angle, corner = dihedral_angles(state.x, mesh.hinges.nodes), mesh.hinges.corners[:, 0]
    label, sheet, length = mesh.edge_label.ravel()[corner], mesh.face_sheet[corner // 3], mesh.corner_length[corner]
    found = {}
    for key in set(zip(rows.sheet.tolist(), rows.label.tolist(), strict=True)):
        own = (sheet == key[0]) & (label == key[1])
        if own.any():
            found[key] = float(np.average(angle[own], weights=length[own]))
    return found


def crease_frame(state: State, driven: dict[tuple[int, int], float] | None = None) -> dict[str, Any]:
    """The flat pattern of a state as a FOLD frame: labelled edges are creases at their rest angles, or at those in
    `driven`, by sheet and label [rad]."""
    mesh = state.mesh
    edges, hinge_edge, boundary = _edges(mesh)
    rest = np.zeros(len(edges))
    at_rest = rest_angle(curvature_stencil(mesh), state.plastic_curvature)
    for (sheet, name), mean in (driven_angles(state) if driven is None else driven).items():
        own = mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]] == name
        at_rest[own & (mesh.face_sheet[mesh.hinges.faces[:, 0]] == sheet)] = mean
    rest[hinge_edge] = at_rest
    label = np.zeros(len(edges), np.int64)
    label[hinge_edge] = mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]]
    folded = np.where(rest > UNFOLDED, "M", np.where(rest < -UNFOLDED, "V", "F"))
    letters = np.where(boundary, "B", np.where(label > 0, folded, "J"))
    angle = np.clip(np.where(label > 0, rest, 0.0), -np.pi, np.pi)
    return {
        "frame_classes": ["creasePattern"],
        "frame_unit": "m",
        "vertices_coords": _laid_out(mesh).tolist(),
        "edges_vertices": edges.tolist(),
        "edges_assignment": letters.tolist(),
        "edges_foldAngle": fold_degrees(np.where(letters == "F", 0.0, angle)),
        "faces_vertices": mesh.faces.tolist(),
    }


def folded_frame(state: State, *, inherits: bool) -> dict[str, Any]:
    """The shape of a state as a FOLD frame with the measured angle of every edge; with its mesh unless it inherits."""
    require_finite(state)
    mesh = state.mesh
    edges, hinge_edge, boundary = _edges(mesh)
    angle = np.zeros(len(edges))
    angle[hinge_edge] = dihedral_angles(state.x, mesh.hinges.nodes)
    frame: dict[str, Any] = {"frame_title": f"frame {state.frame}, t = {state.time:.6g} s"}
    frame["frame_classes"] = ["foldedForm"]
    if inherits:
        frame |= {"frame_parent": 0, "frame_inherit": True}
    else:
        frame |= {key: value for key, value in crease_frame(state).items() if key != "frame_classes"}
    frame["frame_attributes"] = ["3D"]
    frame["vertices_coords"] = state.x[mesh.vertex_node].tolist()
    measured = fold_degrees(angle)
    frame["edges_foldAngle"] = [None if out else a for out, a in zip(boundary.tolist(), measured, strict=True)]
    letters = np.where(angle > UNFOLDED, "M", np.where(angle < -UNFOLDED, "V", "F"))
    label = np.zeros(len(edges), np.int64)
    label[hinge_edge] = mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]]
    frame["edges_assignment"] = np.where(boundary, "B", np.where(label > 0, letters, "J")).tolist()
    return frame


def _edges(mesh: SheetMesh) -> tuple[Ints, np.ndarray, np.ndarray]:
    """Edges as pairs of vertices (n, 2), the edge of each hinge (hinge_count,), and which are on the outline of the
    pattern (n,); a hinge on a seam is that of its first side."""
    sides = np.stack([mesh.faces.ravel(), np.roll(mesh.faces, -1, axis=1).ravel()], axis=1)
    edges, number, count = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True, return_counts=True)
    return edges, number.ravel()[mesh.hinges.corners[:, 0]], count == 1


def _laid_out(mesh: SheetMesh) -> Floats:
    """Pattern positions (vertex_count, 2) [m] with the sheets side by side."""
    u, start = mesh.u.copy(), 0.0
    for sheet in range(int(mesh.face_sheet.max(initial=0)) + 1):
        own = np.unique(mesh.faces[mesh.face_sheet == sheet])
        if sheet and len(own):
            u[own, 0] += start - u[own, 0].min()
        if len(own):
            start = float(u[own, 0].max() + APART * np.ptp(u[own, 0]))
    return u
