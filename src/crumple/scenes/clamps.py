"""Clamps are straight: where the box of a handle ends on a flat sheet, its mesh gets a line.

A handle holds nodes, so what it holds ends in a zigzag wherever the border of its box does not follow edges, and the
sheet bends a fraction of an edge sooner or later than the box says. Nodes near the border move onto it, sideways or
along the outline, and edges that cross it are split. Boxes thinner than half an edge hold single rows of nodes,
about which the sheet can turn: they are left alone, and so are meshes from files and sheets that do not start flat.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity import insert_polyline
from crumple.runtime.typing import Floats
from crumple.scenes.schema.scene import BoxSelection, Scene
from crumple.state import State, transfer

DEEP = 0.5
"""Depth of what a box holds, over the mean edge, from which on it is a clamp; less is a row of nodes."""
FLAT = 1e-6
"""Distance from a plane image of its pattern up to which a sheet is flat, over its size."""
BORDER = 1e-6
"""Distance from the frame of the pattern up to which a line lies on it, over its size."""


def straighten_clamps(scene: Scene, k: int, state: State) -> State:
    """The state of sheet number `k`, placed, with edges along the borders of the boxes by which handles hold it."""
    sheet = scene.sheets[k]
    if sheet.shape is None or sheet.shape.kind in ("file", "sewn"):
        return state
    boxes = [
        table.select
        for table in scene.handles
        if isinstance(table.select, BoxSelection) and (table.sheet or scene.sheet_names[0]) == scene.sheet_names[k]
    ]
    place = _plane_image(state.mesh, state.x) if boxes else None
    if place is None:
        return state
    for box in boxes:
        for line in clamp_lines(state.mesh, place, np.array([box.low, box.high], np.float64)):
            inserted = insert_polyline(state.mesh, line, slides=True)
            state = transfer(state, inserted.change, mesh=inserted.mesh)
    return state


def _plane_image(mesh: SheetMesh, x: Floats) -> Floats | None:
    """(3, 3): x = (u, v, 1) P for all vertices; None when the sheet is not flat."""
    known = np.column_stack([mesh.u, np.ones(mesh.vertex_count)])
    place: Floats = np.linalg.lstsq(known, x[mesh.vertex_node], rcond=None)[0].astype(np.float64)
    error = np.abs(known @ place - x[mesh.vertex_node]).max()
    return place if error <= FLAT * np.ptp(mesh.u, axis=0).max() else None


def clamp_lines(mesh: SheetMesh, place: Floats, corners: Floats) -> Iterator[Floats]:
    """Borders (2, 2) [m] in the pattern of what a box with two opposite `corners` (2, 3) [m] holds of a flat sheet, see
    `_plane_image`; those across which it holds less than half an edge are left out."""
    low, high = mesh.u.min(axis=0), mesh.u.max(axis=0)
    held = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    for axis in range(3):
        normal, offset = place[:2, axis], place[2, axis]
        held = _clipped(held, normal, offset - corners[:, axis].max())
        held = _clipped(held, -normal, corners[:, axis].min() - offset)
    if len(held) < 3:
        return
    edge, near = float(mesh.corner_length.mean()), BORDER * float((high - low).max())
    for p, q in zip(held, np.roll(held, -1, axis=0), strict=True):
        length = float(np.linalg.norm(q - p))
        is_frame = (np.abs(p - q) < near) & ((np.abs(p - low) < near) | (np.abs(p - high) < near))
        if length < near or is_frame.any():
            continue
        across = np.array([p[1] - q[1], q[0] - p[0]]) / length
        if np.ptp(held @ across) >= DEEP * edge and length >= edge:
            yield np.array([p, q])


def _clipped(polygon: Floats, normal: Floats, offset: float) -> Floats:
    """The part (m, 2) of a convex polygon (n, 2) where normal · u + offset ≤ 0."""
    if not len(polygon):
        return polygon
    side = polygon @ normal + offset
    kept = []
    for p, q, a, b in zip(polygon, np.roll(polygon, -1, axis=0), side, np.roll(side, -1), strict=True):
        if a <= 0.0:
            kept.append(p)
        if (a <= 0.0) != (b <= 0.0):
            kept.append(p + a / (a - b) * (q - p))
    return np.array(kept).reshape(-1, 2)
