"""Geometry of a scene's shapes: tables into meshes and positions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crumple.mesh.io.animated import read_animation
from crumple.mesh.io.obj import read_obj
from crumple.mesh.io.obj_pattern import chart_faces
from crumple.mesh.io.obj_sheet import (
    choose_pattern,
    merge_pattern_and_world,
    sheet_from_obj,
    sheet_texture,
    surface_from_obj,
)
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints
from crumple.scenes.patterns import PATTERN_KINDS, pattern_sheet, start_positions
from crumple.scenes.sizes import cylinder_segments, flat_divisions, sphere_subdivisions
from crumple.shapes.dart import DartFold, dart
from crumple.shapes.obstacles import box, cylinder_surface, plane, sphere
from crumple.shapes.outline import outline
from crumple.shapes.pouch import pouch
from crumple.shapes.sheets import Kind, cylinder, disk, moebius, rectangle


class SheetShape(NamedTuple):
    """Mesh, world positions `x` [m] and velocities `v` [m/s] (node_count, 3) of a sheet; `texture` (vertex_count, 2) if
    its file has any that is not the pattern; `is_charted`: whether it is at rest as it is, not in its pattern."""

    mesh: SheetMesh
    x: Floats
    v: Floats
    texture: Floats | None = None
    is_charted: bool = False


def sheet_shape(shape: Any, note: Callable[[str], None] = lambda text: None, *, tears: bool = False) -> SheetShape:
    """A sheet's shape before its transform.

    `note` is told what was decided that the user might have meant otherwise. A sheet that `tears` and has no pattern is
    laid flat in charts: cracks run in a pattern.
    """
    if shape.kind == "file":
        data = read_obj(shape.mesh)
        origin = choose_pattern(data, shape.pattern)[2]
        if shape.pattern == "auto" and data.has_texture:
            note(_PATTERN_NOTES[origin])
        if tears and origin == "triangles":
            origin, (mesh, x) = "charts", sheet_from_obj(data, "charts")
            note(_CHARTS_NOTE.format(len(chart_faces(mesh.faces, mesh.vertex_count))))
        else:
            mesh, x = sheet_from_obj(data, shape.pattern)
        texture = None if origin == "uv" else sheet_texture(data, mesh)
        return SheetShape(mesh, x, data.velocity, texture, origin == "charts")
    if shape.kind == "sewn":
        return SheetShape(*_sewn(shape))
    mesh, x = _SHEETS[shape.kind](shape)
    return SheetShape(mesh, x, np.zeros_like(x))


_WORLD_NOTE = (
    "texture coordinates do not have the lengths of the mesh and only place a picture; "
    'the sheet is at rest as it is in the file (pattern = "uv" takes them as the pattern, in m)'
)
_FITTED_NOTE = (
    "texture coordinates, stretched to the lengths of the mesh, are the pattern "
    '(pattern = "uv" takes them as they are, in m)'
)
_CHARTS_NOTE = (
    "has no pattern: it is laid flat in {} charts, at rest as it is in the file; cracks begin and run within a chart "
    "and end at the seams between them"
)
_PATTERN_NOTES = {"uv": "", "fitted": _FITTED_NOTE, "flat": _WORLD_NOTE, "triangles": _WORLD_NOTE}


def obstacle_shapes(shape: Any) -> tuple[Ints, list[Floats], list[float]]:
    """Faces, the node positions (n, 3) [m] at one or several times, and the times [s]."""
    if shape.kind == "sequence":
        return _sequence(shape)
    if shape.kind == "animation":
        read = read_animation(shape.file, shape.object, shape.up)
        return read.faces, list(read.shapes), (read.times + shape.start).tolist()
    x, faces = _OBSTACLES[shape.kind](shape)
    return faces, [x + np.array(getattr(shape, "center", (0.0, 0.0, 0.0)))], [0.0]


def _rectangle(shape: Any) -> tuple[SheetMesh, Floats]:
    """A rectangle centred at the origin (its pattern starts at 0).

    Right triangles have their diagonals in turn: with parallel ones, and edges of a twentieth of its side, a sheet is a
    sixth too stiff along one diagonal.
    """
    style: Kind = "alternating" if shape.style == "right" else shape.style
    mesh, x = rectangle(shape.width, shape.height, shape.size, kind=style, seed=shape.seed)
    return mesh, x - np.array([0.5 * shape.width, 0.5 * shape.height, 0.0])


def _dart_fold(shape: Any) -> DartFold:
    keel, opening, dihedral, flap = np.radians([shape.keel, 0.5 * shape.opening, shape.dihedral, shape.flap])
    return DartFold(keel, opening, dihedral, flap)


def _crease_pattern(shape: Any) -> tuple[SheetMesh, Floats]:
    """A crease pattern as it starts, centred at the origin (its pattern is as in its file)."""
    x = start_positions(shape)
    return pattern_sheet(shape).mesh, x - 0.5 * (x.min(axis=0) + x.max(axis=0))


_SHEETS: dict[str, Callable[[Any], tuple[SheetMesh, Floats]]] = {
    "rectangle": _rectangle,
    "disk": lambda s: disk(s.radius, s.size),
    "cylinder": lambda s: cylinder(s.circumference, s.height, s.size),
    "moebius": lambda s: moebius(s.length, s.width, s.size),
    "outline": lambda s: outline(s.points, s.holes, s.size),
    "pouch": lambda s: pouch(s.points, s.open, s.gap, s.size),
    "dart": lambda s: dart(s.width, s.height, s.size, _dart_fold(s)),
    **dict.fromkeys(PATTERN_KINDS, _crease_pattern),
}

_OBSTACLES: dict[str, Callable[[Any], tuple[Floats, Ints]]] = {
    "sphere": lambda s: sphere(s.radius, sphere_subdivisions(s)),
    "plane": lambda s: plane((s.width, s.height), flat_divisions(s)),
    "box": lambda s: box(s.extent, flat_divisions(s)),
    "cylinder": lambda s: cylinder_surface(s.radius, s.height, cylinder_segments(s), rows=s.rows),
    "file": lambda s: surface_from_obj(read_obj(s.mesh)),
}


def _sewn(shape: Any) -> tuple[SheetMesh, Floats, Floats]:
    """Panels of the pattern file sewn into the world file."""
    pattern, world = read_obj(shape.pattern), read_obj(shape.world)
    surface_from_obj(pattern)  # its own faces must be sound before those of the pair are looked at
    return *merge_pattern_and_world(pattern, world), world.velocity


def _sequence(shape: Any) -> tuple[Ints, list[Floats], list[float]]:
    """The files of a sequence; all must have the faces of the first."""
    surfaces = [surface_from_obj(read_obj(file)) for file in shape.meshes]
    first = surfaces[0][1]
    for k, (_, faces) in enumerate(surfaces):
        if faces.shape != first.shape or np.any(faces != first):
            raise InputError(Path(shape.meshes[k]).name, "must have the same faces as the first file")
    times = [shape.start + k * shape.interval for k in range(len(surfaces))]
    return first, [x for x, _ in surfaces], times
