"""Frames of a recording as packets: decoded when they are asked for, the last ones kept."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Collection
from typing import Any

import numpy as np

from crumple.analysis.fields import SheetField, sheet_fields
from crumple.recording.obstacles import ObstacleSurface
from crumple.recording.recording import Recording
from crumple.runtime.errors import CrumpleError, InputError
from crumple.runtime.typing import Floats, Ints
from crumple.state import State
from crumple.studio.packets import encode_packet

MOST_BYTES = 200_000_000
"""Size of the frame files whose states are kept in memory."""
SPACING = 0.1
"""Between patterns laid out side by side, over the largest extent of a sheet."""
HIGH_FRACTION = 0.998
"""The colours end where this fraction of the values is below: a single spike must not hide all the rest."""


class FrameStore:
    """States of one recording, the most recently used kept; safe to use from several threads."""

    def __init__(self, recording: Recording, most_bytes: int = MOST_BYTES) -> None:
        self.recording = recording
        self._most_bytes = most_bytes
        self._states: OrderedDict[tuple[int, int, int], State] = OrderedDict()
        self._lock = threading.Lock()

    def state(self, frame: int) -> State:
        """The state at `frame`; a file that was replaced is read anew. `InputError` when it is missing or damaged."""
        try:
            stat = self.recording.frame_path(frame).stat()
        except OSError:
            raise InputError(str(self.recording.path), "has no such frame", frame) from None
        key = (frame, stat.st_mtime_ns, stat.st_size)
        with self._lock:
            if key in self._states:
                self._states.move_to_end(key)
                return self._states[key]
        state = self.recording.load(frame)
        with self._lock:
            self._states[key] = state
            while len(self._states) > 1 and sum(size for _, _, size in self._states) > self._most_bytes:
                self._states.popitem(last=False)
        return state

    def fields(self, frame: int) -> list[dict[str, str]]:
        """What can colour a frame."""
        return [describe_field(name, field) for name, field in sheet_fields(self.state(frame)).items()]

    def face(self, frame: int, face: int) -> dict[str, Any]:
        """The values of a face."""
        return describe_face(self.state(frame), face)

    def packet(self, frame: int, field: str | None = None, known: Collection[str] = ()) -> bytes:
        """A frame for the page: `x` of the nodes, and what it does not know yet.

        `known`: keys of topologies and obstacle poses that need not be sent again. The head has `frame`, `time`,
        `faces`, the keys `topology` and `obstacles`, and of the `field` its description, `low`, `high`; a `note` says
        what cannot be shown.
        """
        state = self.state(frame)
        arrays: dict[str, np.ndarray] = {"x": state.x}
        surface, note = self._obstacles(frame)
        topology, obstacles = topology_arrays(state), obstacle_arrays(state, surface)
        values: dict[str, Any] = {"frame": frame, "time": state.time, "faces": state.mesh.face_count, "note": note}
        for name, part in (("topology", topology), ("obstacles", obstacles)):
            values[name] = _key(part)
            if values[name] not in known:
                arrays |= part
        if field is not None:
            fields = sheet_fields(state)
            if field not in fields:
                raise InputError("field", f"this recording has {', '.join(fields)}", field)
            arrays["field"] = fields[field].values(state)
            values["field"] = {**describe_field(field, fields[field]), **_limits(arrays["field"])}
        return encode_packet(values, arrays)

    def _obstacles(self, frame: int) -> tuple[ObstacleSurface | None, str]:
        """The obstacles, and why they cannot be shown: sheets are worth looking at without them."""
        try:
            return self.recording.obstacles_at(frame), ""
        except CrumpleError as error:
            return None, str(error)


def describe_field(name: str, field: SheetField) -> dict[str, str]:
    """What the page needs to offer a field."""
    return {
        "name": name,
        "title": field.title,
        "definition": field.definition,
        "where": field.where,
        "colormap": field.colormap,
    }


def describe_face(state: State, face: int) -> dict[str, Any]:
    """Where a face is and the value of every field there; of fields on nodes and vertices the mean of its corners."""
    mesh = state.mesh
    if not 0 <= face < mesh.face_count:
        raise InputError("face", f"this frame has faces 0 to {mesh.face_count - 1}", face)
    nodes, vertices = mesh.face_nodes[face], mesh.faces[face]
    values = [
        {"name": name, "title": field.title, "value": float(field.corners(state)[face].mean())}
        for name, field in sheet_fields(state).items()
    ]
    return {
        "face": face,
        "nodes": nodes,
        "vertices": vertices,
        "x": state.x[nodes].mean(axis=0),
        "u": mesh.u[vertices].mean(axis=0),
        "area": mesh.face_area[face],
        "values": values,
    }


def obstacle_arrays(state: State, surface: ObstacleSurface | None) -> dict[str, np.ndarray]:
    """The obstacles that take part in contact: all their nodes, and the faces that are active."""
    if surface is None or len(surface.node_obstacle) != len(state.obstacle_x):
        return {"obstacle_x": np.zeros((0, 3)), "obstacle_faces": np.zeros((0, 3), np.int32)}
    return {"obstacle_x": state.obstacle_x, "obstacle_faces": surface.faces[surface.active_faces(state.time)]}


def topology_arrays(state: State) -> dict[str, np.ndarray]:
    """What stays as long as the mesh does: faces, the node of each vertex, and the pattern laid out flat [m]."""
    mesh = state.mesh
    return {
        "faces": mesh.faces,
        "vertex_node": mesh.vertex_node,
        "pattern": lay_out(mesh.u, mesh.faces, mesh.face_sheet),
    }


def lay_out(u: Floats, faces: Ints, face_sheet: Ints) -> Floats:
    """Pattern positions with every sheet to the right of the one before, (vertex_count, 2) [m]."""
    placed, right = u.copy(), 0.0
    for number, sheet in enumerate(np.unique(face_sheet)):
        used = np.unique(faces[face_sheet == sheet])
        low, high = u[used].min(axis=0), u[used].max(axis=0)
        gap = SPACING * float(np.max(high - low))
        shift = 0.0 if number == 0 else right + gap - low[0]
        placed[used, 0] += shift
        right = float(high[0]) + shift
    return placed


def _limits(values: Floats) -> dict[str, float]:
    """Where the colours of a frame begin and end; both 0 when nothing is finite."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {"low": 0.0, "high": 0.0}
    return {"low": float(finite.min()), "high": float(np.quantile(finite, HIGH_FRACTION))}


def _key(arrays: dict[str, np.ndarray]) -> str:
    """A short name for the content of arrays."""
    fingerprint = hashlib.blake2b(digest_size=9)
    for array in arrays.values():
        fingerprint.update(str(array.shape).encode())
        fingerprint.update(np.ascontiguousarray(array).data)
    return fingerprint.hexdigest()
