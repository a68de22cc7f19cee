"""Triangles of a stage, with all that shading needs to know about them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from crumple.analysis.fields import SheetField
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.mesh.texture import texture_coordinates, vertex_sheets
from crumple.rendering.spaces import draw_space
from crumple.rendering.surface import (
    Patches,
    find_creases,
    make_patches,
    make_rim,
    refine,
    refine_values,
    with_normals,
)
from crumple.runtime.packages import load_package
from crumple.runtime.typing import Floats, Ints
from crumple.shapes.obstacles import sphere
from crumple.simulation.surface_view import NORMAL
from crumple.state import State

LARGEST = 60_000
"""Triangles beyond which a part is not refined any more."""


@dataclass(frozen=True)
class Part:
    """`patches` with, at their corners, the place in the `pattern` (n, 3, 2) [m] and a `tint` (n, 3, 3), linear;
    per patch the `row` (n,) of its look and the `altitude` (n, 3) of its face of the mesh over each edge [m]."""

    patches: Patches
    pattern: Floats
    tint: Floats
    row: Ints
    altitude: Floats

    def refined(self, curved: Floats | float = 1.0) -> Part:
        """Every patch cut in four; `curved` as in `surface.refine`."""
        return Part(
            refine(self.patches, curved),
            refine_values(self.pattern),
            refine_values(self.tint),
            np.tile(self.row, 4),
            np.tile(self.altitude, (4, 1)),
        )


def sheet_part(state: State, space: str, tint: Floats, boxes: Floats, *, structure: bool = False) -> Part:
    """The sheets of `state` in a space; looks are in the rows 0, 2, 4, … by sheet.

    `structure`: of the edges of the mesh only those with a label can be drawn.

    `boxes` (sheet_count, 4): left, bottom, width, height of the patterns [m], on which pictures lie.
    """
    mesh, drawn = state.mesh, draw_space(state, space)
    sharp = np.zeros(len(mesh.twin), bool)
    if space != "pattern":
        sharp = find_creases(mesh, drawn.points, state.y)
    patches = make_patches(drawn.faces, mesh.twin, drawn.points, sharp)
    if space == "world" and NORMAL in state.own:
        patches = with_normals(patches, drawn.faces, state.field(NORMAL).reshape(-1, 3, 3))
    return Part(
        patches,
        _picture_places(state, boxes)[mesh.faces],
        tint,
        2 * mesh.face_sheet.astype(np.int32),
        _labelled(_altitudes(patches.point), mesh.edge_label) if structure else _altitudes(patches.point),
    )


def _picture_places(state: State, boxes: Floats) -> Floats:
    """Where in the box of its pattern the picture of each vertex is [m], (vertex_count, 2): at the vertex itself,
    unless the file of the sheet gives texture coordinates."""
    mesh = state.mesh
    if not state.texture.any():
        return mesh.u
    corners = np.stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
    sheet = vertex_sheets(mesh)
    return boxes[sheet, :2] + texture_coordinates(mesh, corners, state.texture) * boxes[sheet, 2:]


def _labelled(altitude: Floats, label: Ints) -> Floats:
    """The altitudes (n, 3) over edges that have a `label` (n, 3), infinite over others: nothing is near them."""
    return np.where(np.roll(label, -1, axis=1) != 0, altitude, np.inf)


def mark_parts(state: State, space: str, radius: float, row: int) -> list[Part]:
    """Balls of a `radius` [m] at the nodes of the mesh that have a label."""
    drawn = draw_space(state, space)
    points, faces = sphere(radius, 2)
    return [solid_part(points + drawn.points[node], faces, row) for node in np.flatnonzero(state.mesh.node_label)]


def solid_part(points: Floats, faces: Ints, row: int) -> Part:
    """An obstacle, one patch per face."""
    used, number = np.unique(faces, return_inverse=True)
    mesh = make_sheet_mesh(
        np.zeros((len(used), 2)), np.asarray(number.reshape(-1, 3), np.int32), node_rest=points[used]
    )
    patches = make_patches(mesh.faces, mesh.twin, points[used], find_creases(mesh, points[used], None))
    count = len(patches)
    altitude = np.full((count, 3), np.inf)  # its mesh is never drawn
    return Part(patches, np.zeros((count, 3, 2)), np.ones((count, 3, 3)), np.full(count, row, np.int32), altitude)


def shorten_edges(part: Part, curved: Floats, longest: float) -> tuple[Part, Floats]:
    """The part refined until its edges are at most `longest` [m] (or there are too many), `curved` (n, 3) with it."""
    while len(part.row) < LARGEST // 16 and _longest_edge(part.patches.point) > longest:
        part, curved = part.refined(curved), refine_values(curved)
    return part, curved


def rim_part(part: Part, thickness: Floats) -> tuple[Part, Ints]:
    """The edges of sheets that are `thickness` (n,) [m] thick, and the patch of each triangle.

    Their looks are in the row after that of the sheet."""
    corners, normal, patch = make_rim(part.patches, thickness)
    count, shape = len(patch), (len(patch), 3)
    flags = np.zeros(shape, bool)
    patches = Patches(corners, normal, flags, flags, np.ones((*shape, 3)), np.zeros(shape, np.int32))
    pattern, tint = part.pattern[patch], np.ones((*shape, 3))
    return Part(patches, pattern, tint, part.row[patch] + 1, np.full((count, 3), np.inf)), patch


def join_parts(parts: list[Part]) -> Part:
    """All parts as one."""
    patches, first = [], 0
    for part in parts:
        patches.append(part.patches.numbered_from(first))
        first += int(part.patches.shared.max(initial=-1)) + 1
    joined = {item.name: np.concatenate([getattr(p, item.name) for p in patches]) for item in fields(Patches)}
    return Part(
        Patches(**joined),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("pattern", "tint", "row", "altitude")),
    )


def field_tint(state: State, field: SheetField | None, limits: tuple[float, float]) -> Floats:
    """Linear colours of the corners of all faces, (face_count, 3, 3), white without a field."""
    if field is None:
        return np.ones((state.mesh.face_count, 3, 3))
    values = field.corners(state)
    low, high = np.log(limits) if field.log else limits
    share = ((np.log(values) if field.log else values) - low) / (high - low)
    colormap = load_package("matplotlib", "render --color-by").colormaps[field.colormap]
    srgb = colormap(np.clip(share, 0.0, 1.0))[..., :3]
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _altitudes(corners: Floats) -> Floats:
    """Height of triangles (n, 3, 3) over the edge opposite to each corner [m], (n, 3)."""
    opposite = np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return area[:, None] / np.maximum(np.linalg.norm(opposite, axis=2), 1e-30)


def _longest_edge(corners: Floats) -> float:
    return float(np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max(initial=0.0))
