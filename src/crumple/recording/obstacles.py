"""The obstacles of a recording: their surface once, their positions with every frame.

Positions are part of the `State`. For viewing, `obstacles/obstacles_000000.vtkhdf …` hold the same surfaces as
PolyData, written only when something moved; `obstacles.vtkhdf.series` assigns them to times.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from crumple.model.model import Model
from crumple.recording.codec import Table, digest
from crumple.recording.plain_hdf import read_table
from crumple.recording.vtkhdf import HdfImage, open_hdf, put_surface
from crumple.runtime.typing import Bools, Floats, Ints


@dataclass(frozen=True)
class ObstacleSurface:
    """All obstacles of a scene as one surface.

    `faces` (face_count, 3) rows of `State.obstacle_x`;  `face_obstacle` (face_count,) and `node_obstacle`
    (node_count,) index into `names`;  each takes part in contact from `start` until `end` (obstacle_count,) [s].
    """

    names: tuple[str, ...]
    faces: Ints
    face_obstacle: Ints
    node_obstacle: Ints
    start: Floats
    end: Floats

    def active_faces(self, time: float) -> Bools:
        """Faces of the obstacles that take part in contact at `time` [s], (face_count,)."""
        active = (self.start <= time) & (time < self.end)
        return active[self.face_obstacle]

    def is_same(self, other: ObstacleSurface) -> bool:
        """Whether names and faces agree; times may differ, see `Recording.obstacles_at`."""
        names = [field.name for field in fields(self) if field.name not in ("start", "end")]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def active_parts(self, time: float) -> list[Ints]:
        """The faces of each obstacle that takes part in contact at `time` [s]."""
        active = self.active_faces(time)
        parts = [self.faces[(self.face_obstacle == index) & active] for index in range(len(self.names))]
        return [part for part in parts if len(part)]


def obstacle_surface(model: Model) -> ObstacleSurface:
    """The obstacles of `model`, nodes numbered as in `State.obstacle_x`."""
    parts, counts = model.obstacles, [obstacle.node_count for obstacle in model.obstacles]
    first = np.cumsum([0, *counts])
    faces = [obstacle.faces + start for obstacle, start in zip(parts, first[:-1], strict=True)]
    index = np.arange(len(parts), dtype=np.int32)
    return ObstacleSurface(
        names=tuple(obstacle.name for obstacle in parts),
        faces=np.concatenate([np.zeros((0, 3), np.int32), *faces]).astype(np.int32),
        face_obstacle=np.repeat(index, [len(obstacle.faces) for obstacle in parts]),
        node_obstacle=np.repeat(index, counts),
        start=np.array([obstacle.start for obstacle in parts], np.float64),
        end=np.array([obstacle.end for obstacle in parts], np.float64),
    )


def encode_obstacles(surface: ObstacleSurface, positions: Floats, time: float) -> bytes:
    """The content of an obstacle file; `positions` (node_count, 3) [m]."""
    image = HdfImage()
    root = image.group("crumple")
    root.attrs["names"] = np.bytes_(json.dumps(surface.names))
    for name in ("start", "end", "node_obstacle"):
        image.put(f"crumple/{name}", getattr(surface, name))
    put_surface(
        image,
        positions,
        surface.faces,
        point_data={},
        cell_data={
            "obstacle": surface.face_obstacle,
            "active": surface.active_faces(time).astype(np.uint8),
        },
        field_data={"TimeValue": np.array([time])},
    )
    root.attrs["digest"] = np.bytes_(digest(_prefixed(lambda name: read_table(image.file[name], sys.maxsize))))
    return image.close()


@dataclass(frozen=True)
class ObstacleFile:
    """What an obstacle file holds: the surface, `positions` (node_count, 3) [m], `active` (face_count,), `time` [s]."""

    surface: ObstacleSurface
    positions: Floats
    active: Bools
    time: float


def decode_obstacles(path: Path) -> ObstacleFile:
    """The content of an obstacle file, checked; `DamagedFile` when something is wrong with it.

    Files from before version 0.2 have no checksum; their arrays and indices are checked all the same.
    """
    with open_hdf(path) as content:
        table = _prefixed(content.table)
        expected = table.pop("crumple/digest", None)
        if expected is not None and digest(table) != expected.decode():
            raise ValueError("checksum does not match")
        return _obstacle_file(table)


def _prefixed(read: Callable[[str], Table]) -> Table:
    """Both top-level groups of an obstacle file in one table."""
    return {f"{group}/{name}": value for group in ("crumple", "VTKHDF") for name, value in read(group).items()}


def _obstacle_file(table: Table) -> ObstacleFile:
    """The content of a table; ValueError when its arrays do not fit each other."""
    names = json.loads(table["crumple/names"].decode())
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("names are no list of texts")
    node_obstacle = _array(table, "crumple/node_obstacle", "i", limit=len(names))
    nodes = len(node_obstacle)
    offsets = _array(table, "VTKHDF/Polygons/Offsets", "i")
    faces = _array(table, "VTKHDF/Polygons/Connectivity", "i", 3 * max(len(offsets) - 1, 0), limit=nodes)
    count = len(faces) // 3
    if not np.array_equal(offsets, np.arange(0, 3 * count + 1, 3)):
        raise ValueError("Polygons/Offsets are not those of triangles")
    counts = {"NumberOfPoints": nodes, "Polygons/NumberOfCells": count, "Polygons/NumberOfConnectivityIds": 3 * count}
    for name, number in counts.items():
        if _array(table, f"VTKHDF/{name}", "i", 1)[0] != number:
            raise ValueError(f"{name} is not {number}")
    surface = ObstacleSurface(
        names=tuple(names),
        faces=faces.reshape(-1, 3).astype(np.int32),
        face_obstacle=_array(table, "VTKHDF/CellData/obstacle", "i", count, limit=len(names)),
        node_obstacle=node_obstacle,
        start=_array(table, "crumple/start", "f", len(names)),
        end=_array(table, "crumple/end", "f", len(names)),
    )
    active = _array(table, "VTKHDF/CellData/active", "u", count).astype(bool)
    time = _array(table, "VTKHDF/FieldData/TimeValue", "f", 1)
    return ObstacleFile(surface, _array(table, "VTKHDF/Points", "f", nodes, 3), active, float(time[0]))


def _array(table: Table, name: str, kind: str, *shape: int, limit: int | None = None) -> np.ndarray:
    """An array of the table with this kind of numbers and this shape (any length if none is given).

    Its entries are indices below `limit`, if given.
    """
    array = np.asarray(table[name])
    if array.dtype.kind != kind or array.shape != (shape or (array.size,)):
        raise ValueError(f"{name} has shape {array.shape} of {array.dtype}")
    if limit is not None and array.size and (array.min() < 0 or array.max() >= limit):
        raise ValueError(f"{name} points outside of what is there")
    return array
