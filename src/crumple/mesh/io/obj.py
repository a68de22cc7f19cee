"""Wavefront OBJ in and out.

Texture coordinates are the pattern in files of ours, which say so in a comment, and in ARCSim's; in those of other
programs they usually place a picture. Beside `v`, `vt` and `f` the tags of ARCSim's files are understood: `nl LABEL`
labels the last `v`, `vv X Y Z` is its velocity, `e I J` names an edge and `el LABEL` labels it (`el I J LABEL` does
both). Others are kept raw.
"""

from __future__ import annotations

import errno
import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crumple.mesh.io.obj_polygon import MOST_CORNERS, are_convex, cut_polygon
from crumple.mesh.limits import FACE_LIMIT
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.reading import open_regular, read_regular
from crumple.runtime.typing import Floats, Ints

BYTE_LIMIT = 500_000_000
"""Larger files are refused before they are read."""
LARGEST_COORDINATE = 1e6
"""Coordinates beyond this [m] are refused: surely a wrong unit, and their squares and cubes must stay finite."""
PATTERN_MARK = "# vt: pattern in m"
"""The comment that says that texture coordinates are the pattern."""
_ARCSIM_TAGS = frozenset(("nl", "vv", "el", "ny", "nv", "ea", "ed", "ez"))
"""Tags that only ARCSim's files have: there texture coordinates are the pattern."""

_STANDARD = frozenset(("vn", "vp", "g", "o", "s", "l", "p", "mtllib"))
"""Tags of the format that say nothing about a sheet."""


@dataclass(frozen=True)
class ObjData:
    """What an OBJ file says, with indices from 0 and polygons cut into triangles (`cut_polygon`).

    `points` (n, 3) [m]; `texture` (m, 2); `faces` (f, 3) into points; `face_texture` (f, 3) into texture, -1 where
    a corner has none; `face_group` (f,) index into `group_names` (from `usemtl`), -1 = none;
    `point_label` (n,) from `nl`, 0 = none; `velocity` (n, 3) from `vv` [m/s]; `edges` (k, 3): two points and a label.
    `custom`: unknown tag → list of (line number, index of the last point, words).
    `says_pattern`: whether the file says that its texture coordinates are the pattern [m].
    `face_polygon` (f,): which face of the file each triangle is of, from 0, and `face_corner` (f, 3) the corners of it
    that the triangle has; None if all faces of the file are triangles.
    """

    path: str
    points: Floats
    texture: Floats
    faces: Ints
    face_texture: Ints
    face_group: Ints
    group_names: tuple[str, ...]
    point_label: Ints
    velocity: Floats
    edges: Ints
    custom: dict[str, list[tuple[int, int, list[str]]]]
    says_pattern: bool = False
    face_polygon: Ints | None = None
    face_corner: Ints | None = None

    @property
    def has_texture(self) -> bool:
        """Whether every face corner has a texture coordinate."""
        return bool(len(self.faces)) and bool((self.face_texture >= 0).all())

    def file_face(self, face: int) -> int:
        """The number that a triangle's face has in the file, from 1."""
        return 1 + (face if self.face_polygon is None else int(self.face_polygon[face]))


@dataclass
class _Reader:
    """The state of reading one file line by line into lists (arrays are made once at the end)."""

    path: str
    line: int = 0
    points: list[float] = field(default_factory=list)
    texture: list[float] = field(default_factory=list)
    faces: list[int] = field(default_factory=list)
    face_texture: list[int] = field(default_factory=list)
    face_group: list[int] = field(default_factory=list)
    groups: dict[str, int] = field(default_factory=dict)
    group: int = -1
    polygons: list[tuple[int, int, int]] = field(default_factory=list)
    labels: dict[int, int] = field(default_factory=dict)
    velocities: dict[int, list[float]] = field(default_factory=dict)
    edges: list[tuple[int, int, int]] = field(default_factory=list)
    edge: tuple[int, int] | None = None
    custom: dict[str, list[tuple[int, int, list[str]]]] = field(default_factory=dict)
    says_pattern: bool = False

    def read(self, text: str) -> None:
        """Read all lines."""
        tags = {
            "v": self.read_point,
            "vt": self.read_texture,
            "f": self.read_face,
            "nl": self.read_node_label,
        }
        tags |= {
            "vv": self.read_velocity,
            "e": self.read_edge,
            "el": self.read_edge_label,
            "usemtl": self.read_group,
        }
        for self.line, line in enumerate(text.split("\n"), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                self.says_pattern = self.says_pattern or line.strip() == PATTERN_MARK
                continue
            self.says_pattern = self.says_pattern or words[0] in _ARCSIM_TAGS
            if "#" in line:
                words = line[: line.index("#")].split()
            read = tags.get(words[0])
            if read is not None:
                read(words)
            elif words[0] not in _STANDARD:
                entry = (self.line, self.point_count - 1, words[1:])
                self.custom.setdefault(words[0], []).append(entry)

    @property
    def point_count(self) -> int:
        return len(self.points) // 3

    def fail(self, remedy: str, words: list[str]) -> InputError:
        return InputError(f"{self.path}:{self.line}", remedy, " ".join(words))

    def numbers(self, words: list[str], least: int, most: int) -> list[float]:
        """Between `least` and `most` finite numbers after the tag."""
        try:
            values = [float(w) for w in words[1 : most + 1]]
        except ValueError:
            raise self.fail("must be numbers", words) from None
        if len(values) < least:
            raise self.fail(f"needs {least} numbers", words)
        if not all(abs(value) <= LARGEST_COORDINATE for value in values):
            remedy = "must be finite numbers" if not all(map(math.isfinite, values)) else "is the unit right? must be"
            raise self.fail(f"{remedy} within ±{LARGEST_COORDINATE:g}", words)
        return values

    def integers(self, words: list[str], count: int) -> list[int]:
        """Exactly `count` whole numbers (that fit in 32 bits) after the tag."""
        try:
            values = [int(w) for w in words[1:]]
        except ValueError:
            raise self.fail("must be whole numbers", words) from None
        if len(values) != count or not all(-(2**31) <= v < 2**31 for v in values):
            raise self.fail(f"needs {count} whole number(s)", words)
        return values

    def read_point(self, words: list[str]) -> None:
        self.points += self.numbers(words, 3, 3)

    def read_texture(self, words: list[str]) -> None:
        values = self.numbers(words, 1, 2)
        self.texture += values if len(values) == 2 else [values[0], 0.0]

    def read_velocity(self, words: list[str]) -> None:
        if not self.points:
            raise self.fail("comes before any v", words)
        self.velocities[self.point_count - 1] = self.numbers(words, 3, 3)

    def read_node_label(self, words: list[str]) -> None:
        if not self.points:
            raise self.fail("comes before any v", words)
        self.labels[self.point_count - 1] = self.integers(words, 1)[0]

    def read_group(self, words: list[str]) -> None:
        self.group = self.groups.setdefault(" ".join(words[1:]), len(self.groups))

    def read_edge(self, words: list[str]) -> None:
        i, j = self.integers(words, 2)
        count = self.point_count
        self.edge = (self.resolve(i, count, "v", words), self.resolve(j, count, "v", words))

    def read_edge_label(self, words: list[str]) -> None:
        if len(words) == 4:
            i, j, label = self.integers(words, 3)
            self.read_edge(["e", str(i), str(j)])
        else:
            label = self.integers(words, 1)[0]
        if self.edge is None:
            raise self.fail("comes before any e", words)
        self.edges.append((*self.edge, label))

    def read_face(self, words: list[str]) -> None:
        corners, textures = [], []
        points, texture = len(self.points) // 3, len(self.texture) // 2
        for word in words[1:]:
            parts = word.split("/")
            try:
                i = int(parts[0])
                t = int(parts[1]) if len(parts) > 1 and parts[1] else None
            except ValueError:
                raise self.fail("corners must be written v, v/vt, v//vn or v/vt/vn", words) from None
            if len(parts) > 3:
                raise self.fail("corners must be written v, v/vt, v//vn or v/vt/vn", words)
            corners.append(i - 1 if 0 < i <= points else self.resolve(i, points, "v", words))
            textures.append(-1 if t is None else t - 1 if 0 < t <= texture else self.resolve(t, texture, "vt", words))
        if len(corners) < 3:
            raise self.fail("a face needs at least three corners", words)
        if len(corners) > MOST_CORNERS:
            raise self.fail(f"a face has at most {MOST_CORNERS} corners; cut it into smaller ones", words[:4])
        if len(corners) > 3:
            self.polygons.append((self.line, len(self.face_group), len(corners)))
        for k in range(1, len(corners) - 1):  # a fan, until all points are known
            self.faces += (corners[0], corners[k], corners[k + 1])
            self.face_texture += (textures[0], textures[k], textures[k + 1])
            self.face_group.append(self.group)
        if len(self.face_group) > FACE_LIMIT:
            raise self.fail(f"more than {FACE_LIMIT} faces", words)

    def resolve(self, index: int, count: int, tag: str, words: list[str]) -> int:
        """Index from 0 of one that counts from 1, or from the end if negative.

        Forward references are looked up at the end of the file (`check_forward`), as some writers use them.
        """
        if index == 0:
            raise self.fail("indices count from 1", words)
        if index < 0:
            if -index > count:
                raise self.fail(f"reaches back before the first {tag}", words)
            return count + index
        if index >= 2**31:
            raise self.fail(f"names a {tag} that does not exist", words)
        self.forward.append((self.line, tag, index))
        return index - 1

    forward: list[tuple[int, str, int]] = field(default_factory=list)

    def check_forward(self) -> None:
        """Every index must name something in the file."""
        counts = {"v": self.point_count, "vt": len(self.texture) // 2}
        for line, tag, index in self.forward:
            if index > counts[tag]:
                place = f"{self.path}:{line}"
                raise InputError(place, f"names {tag} {index}, but the file has only {counts[tag]}")


def read_obj(path: str | Path) -> ObjData:
    """Read an OBJ file; anything malformed raises `InputError` naming file and line."""
    name = str(path)
    text = _read_text(Path(path), name)
    reader = _Reader(name)
    reader.read(text)
    reader.check_forward()
    count = reader.point_count
    if not count:
        raise InputError(name, "has no vertices: not an OBJ file?")
    if not reader.faces:
        raise InputError(name, "has no faces")
    points = np.array(reader.points).reshape(-1, 3)
    faces = np.array(reader.faces, np.int32).reshape(-1, 3)
    face_texture = np.array(reader.face_texture, np.int32).reshape(-1, 3)
    polygon, corner = _cut_polygons(reader, points, faces, face_texture) if reader.polygons else (None, None)
    label, velocity = np.zeros(count, np.int32), np.zeros((count, 3))
    if reader.labels:
        label[list(reader.labels)] = list(reader.labels.values())
    if reader.velocities:
        velocity[list(reader.velocities)] = list(reader.velocities.values())
    return ObjData(
        path=name,
        points=points,
        texture=np.array(reader.texture, np.float64).reshape(-1, 2),
        faces=faces,
        face_texture=face_texture,
        face_group=np.array(reader.face_group, np.int32),
        group_names=tuple(reader.groups),
        point_label=label,
        velocity=velocity,
        edges=np.array(reader.edges, np.int32).reshape(-1, 3),
        custom=reader.custom,
        says_pattern=reader.says_pattern,
        face_polygon=polygon,
        face_corner=corner,
    )


def _cut_polygons(reader: _Reader, points: Floats, faces: Ints, face_texture: Ints) -> tuple[Ints, Ints]:
    """Cut the polygons whose fans are in `faces` and `face_texture` properly, in place; `ObjData` tells the results."""
    begins = np.ones(len(faces), np.int32)
    for _, first, count in reader.polygons:
        begins[first + 1 : first + count - 2] = 0
    polygon = np.cumsum(begins, dtype=np.int32) - 1
    place = np.arange(len(faces), dtype=np.int32) - np.flatnonzero(begins).astype(np.int32)[polygon]
    corner = np.stack([np.zeros_like(place), place + 1, place + 2], axis=1)
    quads = np.array([first for _, first, count in reader.polygons if count == 4], np.int64)
    sound = are_convex(points[np.concatenate([faces[quads], faces[quads + 1, 2:]], axis=1)])
    done = set(quads[sound].tolist())
    for line, first, count in reader.polygons:
        if first in done:
            continue
        fan = slice(first, first + count - 2)
        own = np.concatenate([faces[first, :2], faces[fan, 2]])
        texture = np.concatenate([face_texture[first, :2], face_texture[fan, 2]])
        triangles = cut_polygon(points[own])
        if triangles is None:
            raise InputError(f"{reader.path}:{line}", "is no simple polygon: its outline crosses or touches itself")
        corner[fan], faces[fan], face_texture[fan] = triangles, own[triangles], texture[triangles]
    return polygon, corner


def count_obj(path: str | Path) -> tuple[int, int]:
    """Points and triangles of an OBJ file, without looking at what its lines say; OSError if it cannot be read."""
    points = triangles = 0
    with os.fdopen(open_regular(path), "rb") as lines:
        for line in lines:
            tag = line[:2]
            if tag in (b"v ", b"v\t"):
                points += 1
            elif tag in (b"f ", b"f\t"):
                triangles += max(len(line.split()) - 3, 0)
    return points, triangles


def _read_text(path: Path, name: str) -> str:
    """The text of a file, or `InputError` if there is none."""
    try:
        data = read_regular(path, BYTE_LIMIT)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise InputError(name, f"is larger than {BYTE_LIMIT} bytes") from None
        raise InputError(name, f"cannot be read: {error.strerror or error}") from None
    if b"\0" in data:
        raise InputError(name, "is binary, not a text OBJ file")
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"\\\n", " ", text)


def write_obj(path: str | Path, mesh: SheetMesh, x: Floats) -> None:
    """Write nodes as `v` (with `nl` labels), vertices as `vt`, faces, material groups as `usemtl material_K`,
    labelled edges as `e` and `el`. Numbers keep all their digits: reading gives the same sheet.
    """
    lines = [PATTERN_MARK]
    for (a, b, c), label in zip(x.tolist(), mesh.node_label.tolist(), strict=True):
        lines.append(f"v {a!r} {b!r} {c!r}")
        if label:
            lines.append(f"nl {label}")
    lines += [f"vt {a!r} {b!r}" for a, b in mesh.u.tolist()]
    vertices, nodes, group = (mesh.faces + 1).tolist(), (mesh.face_nodes + 1).tolist(), 0
    for (i, j, k), (a, b, c), material in zip(vertices, nodes, mesh.face_material.tolist(), strict=True):
        if material != group:
            group = material
            lines.append(f"usemtl material_{group}")
        lines.append(f"f {a}/{i} {b}/{j} {c}/{k}")
    corners = mesh.edge_corners[mesh.edge_label.ravel()[mesh.edge_corners] != 0]
    ends = np.stack(mesh._ends(corners), axis=1) + 1
    for (i, j), label in zip(ends.tolist(), mesh.edge_label.ravel()[corners].tolist(), strict=True):
        lines += [f"e {i} {j}", f"el {label}"]
    try:
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror or error}") from None
