"""From the contents of OBJ files to sheets and obstacle surfaces."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

import numpy as np

from crumple.mesh.io.obj import ObjData
from crumple.mesh.io.obj_charts import lay_in_charts
from crumple.mesh.io.obj_pattern import fit_charts, same_lengths, unify_texture
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.mesh.validate import validate_mesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints

FLAT = 1e-6
"""A mesh thinner than this times its extent is flat and serves as its own pattern."""


Pattern = Literal["auto", "uv", "world", "charts"]
Origin = Literal["uv", "fitted", "flat", "triangles", "charts"]


def sheet_from_obj(data: ObjData, pattern: Pattern = "uv") -> tuple[SheetMesh, Floats]:
    """A checked sheet and its world positions (node_count, 3) [m]; `choose_pattern` tells what its pattern is.

    A vertex is a point with a place on the pattern and a texture coordinate; several on one point make a seam.
    """
    positions, corners, origin = choose_pattern(data, pattern)
    texture = unify_texture(data) if data.has_texture and origin in ("flat", "triangles", "charts") else corners
    return _assemble(data, positions, corners, texture)


def choose_pattern(data: ObjData, pattern: Pattern = "uv") -> tuple[Floats, Ints, Origin]:
    """Pattern positions (n, 2) [m], those of the face corners (face_count, 3), and where they come from.

    "uv": the texture coordinates, if there are any. "world": the sheet has its natural size and shape as it is in the
    file, and texture coordinates say nothing about that. "auto": "uv" if the file says so or if lengths agree with
    those of the mesh; "fitted" if they do after each chart was stretched along two directions, as a picture is on a
    rectangle; else "world". Then a "flat" mesh is its own pattern (turned so that faces are counter-clockwise), and
    any other has a pattern per triangle: first corner at the origin, second on the u axis, a vertex per corner.
    "charts": as "world", but such a mesh is laid flat in few charts, whose lengths are nearly those of the mesh.
    """
    if not data.has_texture and (data.face_texture >= 0).any():
        raise InputError(data.path, "some corners have texture coordinates, some have not: give all or none")
    if data.has_texture and (pattern == "uv" or (pattern == "auto" and data.says_pattern)):
        return data.texture, data.face_texture, "uv"
    if data.has_texture and pattern == "auto":
        corners = unify_texture(data)
        if same_lengths(data, data.texture[corners]):
            return data.texture, corners, "uv"
        fitted = fit_charts(data, corners)
        if fitted is not None:
            return fitted, corners, "fitted"
    flat = _flat_pattern(data)
    if flat is not None:
        return flat, data.faces, "flat"
    if pattern == "charts":
        return *lay_in_charts(data.points, data.faces), "charts"
    return _triangle_patterns(data), np.arange(3 * len(data.faces), dtype=np.int32).reshape(-1, 3), "triangles"


def sheet_texture(data: ObjData, mesh: SheetMesh) -> Floats | None:
    """Texture coordinates of the vertices of the sheet made of `data`, (vertex_count, 2), or None if it has none."""
    if not data.has_texture:
        return None
    texture = np.zeros((mesh.vertex_count, 2))
    texture[mesh.faces] = data.texture[data.face_texture]
    return texture


def surface_from_obj(data: ObjData) -> tuple[Floats, Ints]:
    """Points (n, 3) [m] and faces (m, 3) of an obstacle; points that no face uses are left out."""
    used = np.unique(data.faces)
    number = np.full(len(data.points), -1, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    faces = number[data.faces]
    repeated = np.flatnonzero((faces == np.roll(faces, -1, axis=1)).any(axis=1))
    if len(repeated):
        raise InputError(data.path, f"face {data.file_face(int(repeated[0]))} uses a point twice")
    return np.ascontiguousarray(data.points[used]), faces


def merge_pattern_and_world(pattern: ObjData, world: ObjData) -> tuple[SheetMesh, Floats]:
    """A seamed sheet: vertices from the points of one file (its x and y [m]), nodes from those of the other.

    Both have the same faces in the same order, corner by corner.
    """
    if len(pattern.faces) != len(world.faces):
        remedy = f"has {len(world.faces)} faces, but its pattern {pattern.path} has {len(pattern.faces)}"
        raise InputError(world.path, remedy)
    world = _cut_alike(world, pattern)
    return _assemble(world, np.ascontiguousarray(pattern.points[:, :2]), pattern.faces, pattern.faces)


def _cut_alike(world: ObjData, pattern: ObjData) -> ObjData:
    """`world` with its polygons cut into the same triangles as those of its flat pattern."""
    if pattern.face_polygon is None and world.face_polygon is None:
        return world
    triangles = np.arange(len(world.faces), dtype=np.int32)
    own = triangles if world.face_polygon is None else world.face_polygon
    other = triangles if pattern.face_polygon is None else pattern.face_polygon
    if (own != other).any():
        face = world.file_face(int(np.flatnonzero(own != other)[0]))
        raise InputError(world.path, f"face {face} has another number of corners than in its pattern {pattern.path}")
    assert world.face_corner is not None  # both have polygons
    assert pattern.face_corner is not None
    first = np.concatenate([[0], np.cumsum(np.bincount(own) + 2)])[own][:, None]
    points = np.zeros(int(first[-1, 0] + len(own) + 2), np.int32)
    points[first + world.face_corner] = world.faces
    return replace(world, faces=points[first + pattern.face_corner])


def _assemble(data: ObjData, pattern: Floats, face_pattern: Ints, texture: Ints) -> tuple[SheetMesh, Floats]:
    """The sheet whose face corners are a point of `data` with a row of `pattern` and a `texture` coordinate."""
    corners = np.stack([face_pattern, data.faces, texture], axis=2).reshape(-1, 3)
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    mesh = SheetMesh(
        u=np.ascontiguousarray(pattern[vertices[:, 0]]),
        vertex_node=vertices[:, 1].astype(np.int32),
        faces=index.reshape(-1, 3).astype(np.int32),
        face_material=_material_groups(data),
        face_sheet=np.zeros(len(data.faces), np.int32),
        edge_label=_edge_labels(data),
        node_label=data.point_label.copy(),
        node_rest=data.points.copy(),
    )
    x = data.points.copy()
    found = validate_mesh(mesh, x, oriented=True)
    if found:
        raise InputError(data.path, _as_in_file(data, found[0]))
    return mesh, x


def _as_in_file(data: ObjData, problem: str) -> str:
    """A line of `validate_mesh` with the numbers that faces and points have in the file, from 1."""
    words = re.match(r"(face|node) (\d+): ", problem)
    if words is None:
        return problem
    number = data.file_face(int(words[2])) if words[1] == "face" else int(words[2]) + 1
    return f"{words[1]} {number}: {problem[words.end() :]}"


def _material_groups(data: ObjData) -> Ints:
    """Material groups written by `write_obj` (`material_K`); other names mean nothing to us: group 0."""
    found = [re.fullmatch(r"material_(\d{1,6})", name) for name in data.group_names]
    if not all(found):
        return np.zeros(len(data.faces), np.int32)
    numbers = np.array([int(m[1]) for m in found if m] + [0], np.int32)  # -1, no group, is the last: 0
    return numbers[data.face_group]


def _edge_labels(data: ObjData) -> Ints:
    """Labels of the file's edges on both half-edges of each, (face_count, 3)."""
    label = np.zeros(data.faces.shape, np.int32)
    if not len(data.edges):
        return label

    def keys(a: Ints, b: Ints) -> np.ndarray:
        return np.minimum(a, b).astype(np.int64) * len(data.points) + np.maximum(a, b)

    wanted = keys(data.edges[:, 0], data.edges[:, 1])
    order = np.argsort(wanted, kind="stable")
    key = keys(data.faces, np.roll(data.faces, -1, axis=1))
    place = np.searchsorted(wanted[order], key, side="right") - 1
    found = (place >= 0) & (wanted[order][place] == key)
    missing = ~np.isin(wanted, key)
    if missing.any():
        i, j = data.edges[np.flatnonzero(missing)[0], :2] + 1
        raise InputError(data.path, f"labels the edge {i} {j}, which no face has")
    label[found] = data.edges[order, 2][place[found]]
    return label


def _flat_pattern(data: ObjData) -> Floats | None:
    """Isometric plane coordinates of the points, or None if the mesh is not flat or folded over itself.

    Seen from the side where faces are counter-clockwise; u runs along the world's x axis as far as possible, so
    a mesh in the plane z = const facing +z keeps its x and y.
    """
    p = data.points[data.faces]
    normals = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    total = normals.sum(axis=0)
    extent = float(np.ptp(p.reshape(-1, 3), axis=0).max())
    length = float(np.linalg.norm(total))
    if not length > 1e-12 * extent**2:
        return None
    normal = total / length
    axis = int(np.argmax(np.abs(normal)))
    if abs(normal[axis]) > 1.0 - 1e-12:
        normal = np.eye(3)[axis] * np.sign(normal[axis])
    height = p.reshape(-1, 3) @ normal
    if np.ptp(height) > FLAT * extent or (normals @ normal <= 0.0).any():
        return None
    first = np.eye(3)[0 if abs(normal[0]) < 0.9 else 1]
    first = first - (first @ normal) * normal
    first /= np.linalg.norm(first)
    return np.ascontiguousarray(data.points @ np.stack([first, np.cross(normal, first)], axis=1))


def _triangle_patterns(data: ObjData) -> Floats:
    """Each triangle laid flat on its own: corner 0 at the origin, corner 1 on the u axis, (3 face_count, 2)."""
    p = data.points[data.faces]
    e, f = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    length = np.linalg.norm(e, axis=1)
    safe = np.where(length > 0.0, length, 1.0)
    u = np.zeros((len(p), 3, 2))
    u[:, 1, 0] = length
    u[:, 2, 0] = np.einsum("ij,ij->i", e, f) / safe
    u[:, 2, 1] = np.linalg.norm(np.cross(e, f), axis=1) / safe
    return u.reshape(-1, 2)
