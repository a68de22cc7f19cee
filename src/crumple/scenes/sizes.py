"""How large a scene will be, estimated from its tables before anything is allocated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log2, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from crumple.mesh.io.animated import read_animation
from crumple.mesh.io.obj import count_obj
from crumple.runtime.typing import Floats
from crumple.scenes.messages import Problems
from crumple.scenes.patterns import PATTERN_KINDS, pattern_extent
from crumple.scenes.schema.scene import Scene, Sheet, Sizing
from crumple.shapes.outline import outline_faces

LARGEST_FACES = 1_000_000
"""Faces of all sheets, and of all obstacles, that a scene may ask for."""
IMPOSSIBLE_FACES = 1e9
"""Faces that remeshing may be allowed to make by `size_min`, although it will hardly make them everywhere."""
LARGEST_FRAMES = 1_000_000

BASE_MEMORY = 0.4e9
"""Python, compiled code and libraries [bytes]."""
FACE_MEMORY = 25e3
"""Working memory per sheet face: mesh, energies, contact, sparse matrix and its factor (crumpled state) [bytes]."""
FACE_DISK = 285
"""One frame of a recording per sheet face [bytes]."""
FRAME_BYTES = 30_000
"""What any frame takes [bytes]."""
DART_FINENESS = 1.3
"""Side of a rectangle with as many faces as a dart, over that of the dart's own."""
FACES_PER_SQUARE = 4.0 / sqrt(3.0)
"""Equilateral triangles per square of their edge."""
REMESHED_OVER = 2.0
"""Faces of a remeshed sheet over those with edges of the asked length: edges end up between half of it and it."""
FILE_BYTES_PER_FACE = 80
"""Bytes that a face and its part of the vertices take in an OBJ file."""
LARGEST_COUNTED = 100_000_000
"""Faces of longer files are not counted one by one [bytes]."""


@dataclass(frozen=True)
class SceneSize:
    """Faces and nodes of sheets and obstacles, frames, memory [bytes] and disk [bytes] of a run.

    Those are what it starts with; `most_faces` is what remeshing may come to, where all is as fine as `size_min`
    allows, or as many as at the start without remeshing.
    """

    faces: int
    nodes: int
    obstacle_faces: int
    frames: int
    most_faces: float = 0.0

    @property
    def memory(self) -> float:
        return BASE_MEMORY + FACE_MEMORY * self.faces

    @property
    def most_memory(self) -> float:
        return BASE_MEMORY + FACE_MEMORY * max(self.faces, self.most_faces)

    @property
    def disk(self) -> float:
        return (FRAME_BYTES + FACE_DISK * self.faces) * (self.frames + 1.0)

    @property
    def most_disk(self) -> float:
        return (FRAME_BYTES + FACE_DISK * max(self.faces, self.most_faces)) * (self.frames + 1.0)

    def __str__(self) -> str:
        if not self.most_faces > self.faces:
            return (
                f"{self.faces} faces, {self.nodes} nodes, {self.obstacle_faces} obstacle faces, {self.frames} frames, "
                f"about {self.memory / 1e9:.1f} GB of memory and {self.disk / 1e9:.2g} GB on disk"
            )
        return (
            f"{self.faces} faces at the start, up to {_rounded(self.most_faces)} if remeshing goes down to size_min "
            f"everywhere; {self.nodes} nodes, {self.obstacle_faces} obstacle faces, {self.frames} frames, "
            f"about {self.memory / 1e9:.1f} to {self.most_memory / 1e9:.1f} GB of memory "
            f"and {self.disk / 1e9:.2g} to {self.most_disk / 1e9:.2g} GB on disk"
        )


def _rounded(count: float) -> str:
    """A count with two digits that mean something."""
    return f"{float(f'{count:.2g}'):.0f}" if count < 1e7 else f"{count:.2g}"


MOST_CELLS = 1e12
"""More cells along a side than any scene can have."""


def frame_count(scene: Scene) -> int:
    """Frames after the initial one."""
    return max(0, ceil(scene.run.duration / scene.run.frame_time - 1e-9))


def estimate_size(scene: Scene) -> SceneSize:
    """The size before meshing: triangles of the asked edge length, or those of the files."""
    faces = min(MOST_CELLS, sum(part_faces(sheet) for sheet in scene.sheets))
    nodes = min(MOST_CELLS, sum(part_nodes(sheet) for sheet in scene.sheets))
    obstacles = min(MOST_CELLS, sum(shape_faces(obstacle.shape) for obstacle in scene.obstacles))
    most = refined_faces(scene, [shape_area(sheet) for sheet in scene.sheets])
    return SceneSize(int(faces), int(nodes), int(obstacles), frame_count(scene), most)


def refined_faces(scene: Scene, areas: Sequence[float]) -> float:
    """Faces if remeshing made all sheets as fine as `size_min` allows; 0 without remeshing. `areas` in m²."""
    return sum(
        REMESHED_OVER * FACES_PER_SQUARE * area / sizing.size_min / sizing.size_min
        for sheet, area in zip(scene.sheets, areas, strict=True)
        if (sizing := sizing_of(scene, sheet)) is not None
    )


def sizing_of(scene: Scene, sheet: Sheet) -> Sizing | None:
    """How fine a sheet is remeshed, or None."""
    return None if scene.remeshing is None else sheet.remeshing or scene.remeshing


def shape_area(sheet: Sheet) -> float:
    """About the area of a sheet at its final scale [m²]; 0 when it is in a file."""
    if sheet.shape is None or sheet.shape.kind in ("file", "sewn"):
        return 0.0
    if sheet.shape.kind in PATTERN_KINDS:
        return pattern_extent(sheet.shape)[0] * sheet.transform.scale**2
    width, height = _extent(sheet.shape)
    return width * height * sheet.transform.scale**2


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
            faces = part_faces(table)
            if faces > LARGEST_FACES:
                remedy = f"gives about {faces:.3g} faces, more than {LARGEST_FACES}; enlarge size"
                problems.add((group, k, "shape"), remedy)
            total += faces
        if total > LARGEST_FACES >= max(part_faces(table) for table in tables):
            problems.add((group,), f"have about {total:.3g} faces together, more than {LARGEST_FACES}")


def part_faces(table: Any) -> float:
    """About how many triangles a sheet or an obstacle has; those of a recorded sheet by the size of its frame."""
    history = getattr(table, "history", None)
    if history is None:
        return 0.0 if table.shape is None else shape_faces(table.shape)
    path = Path(history.recording)
    if path.is_dir():
        frames = sorted((path / "frames").glob("frame_*.vtkhdf"))
        path = frames[min(history.frame, len(frames) - 1)] if frames else path
    return max(path.stat().st_size - FRAME_BYTES, 0.0) / FACE_DISK


def part_nodes(sheet: Sheet) -> float:
    """About how many nodes a sheet has: those of its mesh file, or one for two faces."""
    shape = sheet.shape
    if sheet.history is None and shape is not None and shape.kind in ("file", "sewn"):
        counted = _counted(shape.world if shape.kind == "sewn" else shape.mesh)
        if counted is not None:
            return counted[0]
    return part_faces(sheet) / 2.0


def shape_faces(shape: Any) -> float:
    """About how many triangles a shape has; a float, because nonsense may exceed any integer type."""
    kind = shape.kind
    if kind == "sewn":
        return _file_faces(shape.world)
    if kind == "sequence":
        return _file_faces(shape.meshes[0])  # one at a time is in the scene
    if kind == "animation":
        return float(len(read_animation(shape.file, shape.object, shape.up).faces))
    if hasattr(shape, "mesh"):
        return _file_faces(shape.mesh)
    if kind in PATTERN_KINDS and hasattr(shape, "fold"):
        area, length = pattern_extent(shape)
        return min(MOST_CELLS, outline_faces(area, length, max(shape.size, 1e-6)))
    if kind in OBSTACLE_FACES and hasattr(shape, "center"):
        return OBSTACLE_FACES[kind](shape)
    if kind in ("outline", "pouch"):
        return _outline_faces(shape)
    width, height = _extent(shape)
    # equilateral triangles have an area of √3/4 size²; a strip narrower than a triangle still has a row of them
    return FACES_PER_SQUARE * max(width / shape.size, 1.0) * max(height / shape.size, 1.0)


def _outline_faces(shape: Any) -> float:
    """About how many triangles fill an outline, or both panels of a pouch."""
    loops = [np.array(loop) for loop in (shape.points, *getattr(shape, "holes", ()))]
    length = sum(float(np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1).sum()) for loop in loops)
    area = abs(_loop_area(loops[0])) - sum(abs(_loop_area(hole)) for hole in loops[1:])
    with np.errstate(over="ignore"):
        faces = outline_faces(max(area, 0.0), length, np.float64(shape.size))
    return float(faces) * (2.0 if shape.kind == "pouch" else 1.0)


def _loop_area(loop: Floats) -> float:
    """Signed area of a polygon [m²]."""
    x, y = loop.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


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
    """Triangles of a mesh file: counted, or guessed from its length if it is huge."""
    counted = _counted(file)
    return Path(file).stat().st_size / FILE_BYTES_PER_FACE if counted is None else counted[1]


def _counted(file: str) -> tuple[int, int] | None:
    """Points and triangles of a mesh file; None if it is too long to be read for that."""
    return count_obj(file) if Path(file).stat().st_size <= LARGEST_COUNTED else None


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
    side = sqrt(abs(_loop_area(np.array(shape.points))) * (2.0 if shape.kind == "pouch" else 1.0))
    return side, side
