"""The obstacles of a recording: their surface once, their positions with every frame.

Positions are part of the `State`. For viewing, `obstacles/obstacles_000000.vtkhdf …` hold the same surfaces as
PolyData, written only when something moved; `obstacles.vtkhdf.series` assigns them to times.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crumple.recording.vtkhdf import HdfImage, open_hdf, put_surface
from crumple.simulation.model import Model
from crumple.typing import Bools, Floats, Ints


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
    image.group("crumple").attrs["names"] = np.bytes_(json.dumps(surface.names))
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
    return image.close()


def decode_obstacles(path: Path) -> ObstacleSurface:
    """The surface in an obstacle file (the positions of a frame are in its state)."""
    with open_hdf(path) as file:
        root, view = file["crumple"], file["VTKHDF"]
        return ObstacleSurface(
            names=tuple(json.loads(root.attrs["names"].decode())),
            faces=view["Polygons/Connectivity"][()].reshape(-1, 3).astype(np.int32),
            face_obstacle=view["CellData/obstacle"][()],
            node_obstacle=root["node_obstacle"][()],
            start=root["start"][()],
            end=root["end"][()],
        )
