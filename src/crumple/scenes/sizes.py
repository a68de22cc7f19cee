"""How large a scene will be, estimated from its tables before anything is allocated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2, pi, sqrt
from pathlib import Path
from typing import Any

from crumple.scenes.messages import Problems
from crumple.scenes.schema import Scene

LARGEST_FACES = 2_000_000
"""Faces of all sheets, and of all obstacles, that a scene may ask for."""
LARGEST_FRAMES = 1_000_000

BASE_MEMORY = 0.4e9
"""Python, compiled code and libraries [bytes]."""
FACE_MEMORY = 25e3
"""Working memory per sheet face: mesh, energies, contact, sparse matrix and its factor (crumpled state) [bytes]."""
FACE_DISK = 250
"""One frame of a recording per sheet face [bytes]."""
DART_FINENESS = 1.3
"""Side of a rectangle with as many faces as a dart, over that of the dart's own."""
FILE_BYTES_PER_FACE = 80
"""Bytes that a face and its share of vertices take in an OBJ file."""


@dataclass(frozen=True)
class SceneSize:
    """Faces and nodes of sheets and obstacles, frames, memory [bytes] and disk [bytes] of a run."""

    faces: int
    nodes: int
    obstacle_faces: int
    frames: int

    @property
    def memory(self) -> float:
        return BASE_MEMORY + FACE_MEMORY * self.faces

    @property
    def disk(self) -> float:
        return FACE_DISK * self.faces * (self.frames + 1.0)

    def __str__(self) -> str:
        return (
            f"{self.faces} faces, {self.nodes} nodes, {self.obstacle_faces} obstacle faces, {self.frames} frames, "
            f"about {self.memory / 1e9:.1f} GB of memory and {self.disk / 1e9:.2g} GB on disk"
        )


MOST_CELLS = 1e12
"""More cells along a side than any scene can have."""


def frame_count(scene: Scene) -> int:
    """Frames after the initial one."""
    return max(0, ceil(scene.run.duration / scene.run.frame_time - 1e-9))


def estimate_size(scene: Scene) -> SceneSize:
    """The size before meshing: triangles of the asked edge length, or of the files' sizes."""
    faces = sum(shape_faces(sheet.shape) for sheet in scene.sheets)
    obstacles = sum(shape_faces(obstacle.shape) for obstacle in scene.obstacles)
    return SceneSize(int(faces), int(faces / 2), int(obstacles), frame_count(scene))


def check_size(scene: Scene, problems: Problems) -> None:
    """Note what is too large to be meant."""
    frames = scene.run.duration / scene.run.frame_time
    if frames > LARGEST_FRAMES:
        problems.add(
            ("run", "frame_time"), f"gives {frames:.3g} frames, more than {LARGEST_FRAMES}", scene.run.frame_time
        )
    for group, tables in (("sheets", scene.sheets), ("obstacles", scene.obstacles)):
        total = 0.0
        for k, table in enumerate(tables):
            faces = shape_faces(table.shape)  # type: ignore[attr-defined]
            if faces > LARGEST_FACES:
                remedy = f"gives about {faces:.3g} faces, more than {LARGEST_FACES}; enlarge size"
                problems.add((group, k, "shape"), remedy)
            total += faces
        if total > LARGEST_FACES >= max(shape_faces(table.shape) for table in tables):  # type: ignore[attr-defined]
            problems.add((group,), f"have about {total:.3g} faces together, more than {LARGEST_FACES}")


def shape_faces(shape: Any) -> float:
    """About how many triangles a shape has; a float, because nonsense may exceed any integer type."""
    kind = shape.kind
    if kind == "sewn":
        return _file_faces(shape.world)
    if kind == "sequence":
        return _file_faces(shape.meshes[0])  # one at a time is in the scene
    if hasattr(shape, "mesh"):
        return _file_faces(shape.mesh)
    if kind in OBSTACLE_FACES and hasattr(shape, "center"):
        return OBSTACLE_FACES[kind](shape)
    width, height = _extent(shape)
    # equilateral triangles have an area of √3/4 size²; a strip narrower than a triangle still has a row of them
    return 4.0 / sqrt(3.0) * max(width / shape.size, 1.0) * max(height / shape.size, 1.0)


def sphere_subdivisions(shape: Any) -> int:
    """How often an icosahedron (edge 1.05 radius) is cut so that edges are at most about `size`; 3 by default."""
    return 3 if shape.size is None else max(0, ceil(log2(_ratio(1.05 * shape.radius, shape.size))))


def flat_divisions(shape: Any) -> int:
    """Cells along the longest side of a plane or a box; 4 by default."""
    longest = max(shape.extent) if shape.kind == "box" else max(shape.width, shape.height)
    return 4 if shape.size is None else max(1, ceil(_ratio(longest, shape.size) - 1e-9))


def cylinder_segments(shape: Any) -> int:
    """Segments around a cylinder; 32 by default."""
    return 32 if shape.size is None else max(6, ceil(_ratio(2 * pi * shape.radius, shape.size)))


def _ratio(length: float, size: float) -> float:
    """length/size, at most a number that is absurd as a count of cells and still fits all arithmetic with counts."""
    return min(length, MOST_CELLS * size) / size if MOST_CELLS * size > 0.0 else MOST_CELLS


OBSTACLE_FACES: dict[str, Callable[[Any], float]] = {
    "sphere": lambda s: 20.0 * 4.0 ** sphere_subdivisions(s),
    "plane": lambda s: 2.0 * flat_divisions(s) ** 2,
    "box": lambda s: 12.0 * flat_divisions(s) ** 2,
    "cylinder": lambda s: 2.0 * cylinder_segments(s) * (_cylinder_rows(s) + 1.0),
}


def _cylinder_rows(shape: Any) -> float:
    """Rows of facets along a cylinder: those given, or about square ones."""
    return shape.rows or shape.height * cylinder_segments(shape) / (2 * pi * shape.radius)


def _file_faces(file: str) -> float:
    return Path(file).stat().st_size / FILE_BYTES_PER_FACE


def _extent(shape: Any) -> tuple[float, float]:
    """Width and height [m] of a rectangle with about the area of a sheet's shape."""
    if shape.kind == "rectangle":
        return shape.width, shape.height
    if shape.kind == "dart":  # its triangles are narrower along the shorter creases
        return DART_FINENESS * shape.width, DART_FINENESS * shape.height
    if shape.kind == "disk":
        return sqrt(pi) * shape.radius, sqrt(pi) * shape.radius
    if shape.kind == "cylinder":
        return shape.circumference, shape.height
    if shape.kind == "moebius":
        return shape.length, shape.width
    x, y = zip(*shape.points, strict=True)
    panels = 2.0 if shape.kind == "pouch" else 1.0
    return panels * (max(x) - min(x)), max(y) - min(y)
