"""Cuts that a sheet of a scene has from the start: slits along lines of its pattern, notches and holes.

The two lips of a slit lie at the same place of the pattern. In the world they are `KERF` apart, and the reference
positions that tell neighbours from contacts differ a little, too, so that the lips touch like any two parts of a sheet.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from crumple.errors import InputError, SimulationError
from crumple.mesh import Refusal, SheetMesh, cut_edges, open_buffers
from crumple.plasticity import insert_polyline
from crumple.scenes.messages import Problems
from crumple.scenes.schema import Sheet
from crumple.state import State, close_change, transfer
from crumple.state.part import part_of
from crumple.typing import Bools, Floats

KERF = 1e-7
"""Half of the distance between the lips of a new slit [m]: far below anything that is seen, far above rounding."""


def cut_sheet(sheet: Sheet, k: int, state: State, problems: Problems) -> State:
    """The state of sheet number `k` with its cuts, before it is placed; problems are noted."""
    for c, cut in enumerate(sheet.cuts):
        path = ("sheets", k, "cuts", c)
        if (cut.line is None) == (cut.area is None):
            problems.add(path, "must have either a line (a slit) or an area (a notch or a hole)")
            continue
        with problems.catch((*path, "line" if cut.line is not None else "area")):
            try:
                state = _slit(state, np.array(cut.line)) if cut.line is not None else _cut_out(state, cut.area)
            except SimulationError as error:
                raise InputError("cut", str(error)) from None
    return state


def _slit(state: State, line: Floats) -> State:
    """The state cut open along a polyline (n, 2) of the pattern [m]."""
    line = _with_middles(line)
    inserted = insert_polyline(state.mesh, line)
    state = transfer(state, inserted.change, mesh=inserted.mesh)
    if not inserted.hinges.any():
        raise InputError("cut", "no part of the line is inside the sheet, away from its outline")
    mesh = state.mesh
    corners = mesh.hinges.corners[inserted.hinges, 0].astype(np.int64)
    buf = open_buffers(mesh, spare=1.0)
    code = cut_edges(buf, corners, len(corners))
    if code != 0:
        remedy = f"cannot be cut open ({Refusal(code).name.lower()}); make it longer than two edges of the mesh"
        raise InputError("cut", remedy)
    change, _ = close_change(mesh, buf)
    source = change.node_operator.indices[change.node_operator.indptr[:-1]]
    return _opened(transfer(state, change), source, line)


def _opened(state: State, source: np.ndarray, line: Floats) -> State:
    """The state with coincident copies of nodes a kerf apart; `source` (node_count,): equal for copies of one node.

    Each copy moves towards the middle of its own faces. In the reference embedding the lip to the left of the `line`
    lies above the one to its right.
    """
    is_copied = np.bincount(source)[source] > 1
    if not is_copied.any():
        return state
    mesh = state.mesh
    middle, flat = _fan_middles(mesh, state.x), _fan_middles(mesh, _flat(mesh))
    x, rest = state.x.copy(), mesh.node_rest.copy()
    for first in np.unique(source[is_copied]):
        copies = np.flatnonzero(source == first)
        away = middle[copies] - middle[copies].mean(axis=0)
        length = np.linalg.norm(away, axis=1, keepdims=True)
        x[copies] += KERF * away / np.where(length > 0.0, length, 1.0)
        order = np.argsort(_height_over(line, flat[copies, :2]), kind="stable")
        rest[copies[order], 2] += KERF * np.linspace(-0.25, 0.25, len(copies))
    return state.replaced(mesh=replace(mesh, node_rest=rest), x=x)


def _height_over(line: Floats, points: Floats) -> Floats:
    """How far points (n, 2) lie to the left of the nearest segment of a polyline [m], (n,)."""
    best, height = np.full(len(points), np.inf), np.zeros(len(points))
    for p, q in pairwise(line):
        along = (q - p) / np.linalg.norm(q - p)
        from_p = points - p
        share = np.clip(from_p @ along, 0.0, np.linalg.norm(q - p))
        distance = np.linalg.norm(from_p - share[:, None] * along, axis=1)
        nearer = distance < best
        height[nearer] = (along[0] * from_p[:, 1] - along[1] * from_p[:, 0])[nearer]
        best[nearer] = distance[nearer]
    return height


def _flat(mesh: SheetMesh) -> Floats:
    """The pattern as positions of the nodes in the plane, (node_count, 3) [m]."""
    x = np.zeros((mesh.node_count, 3))
    x[mesh.vertex_node, :2] = mesh.u
    return x


def _fan_middles(mesh: SheetMesh, x: Floats) -> Floats:
    """Mean of the centroids of the faces around each node, (node_count, 3) [m]."""
    total, count = np.zeros((mesh.node_count, 3)), np.zeros(mesh.node_count)
    centroid = x[mesh.face_nodes].mean(axis=1)
    for k in range(3):
        np.add.at(total, mesh.face_nodes[:, k], centroid)
        np.add.at(count, mesh.face_nodes[:, k], 1.0)
    return total / np.maximum(count, 1.0)[:, None]


def _cut_out(state: State, area: list[tuple[float, float]] | None) -> State:
    """The state without what lies inside the polygon `area` of the pattern [m]."""
    outline = np.array([*(area or []), *(area or [])[:1]], np.float64)
    inserted = insert_polyline(state.mesh, outline)
    state = transfer(state, inserted.change, mesh=inserted.mesh)
    mesh = state.mesh
    inside = _is_inside(mesh.u[mesh.faces].mean(axis=1), outline)
    if not inside.any():
        raise InputError("cut", "no part of the area is inside the sheet")
    if inside.all():
        raise InputError("cut", "nothing is left of the sheet")
    return part_of(state, ~inside)


def _is_inside(points: Floats, outline: Floats) -> Bools:
    """Whether points (n, 2) lie in a closed polygon: a ray to the right crosses its sides an odd number of times."""
    inside = np.zeros(len(points), bool)
    for (ax, ay), (bx, by) in zip(outline[:-1], outline[1:], strict=True):
        if ay == by:
            continue
        level = (ay > points[:, 1]) != (by > points[:, 1])
        inside ^= level & (points[:, 0] < ax + (points[:, 1] - ay) * (bx - ax) / (by - ay))
    return inside


def _with_middles(line: Floats) -> Floats:
    """The polyline with the middle of each segment: a slit inside the sheet opens only if it has an inner node."""
    full = np.empty((2 * len(line) - 1, 2))
    full[::2], full[1::2] = line, 0.5 * (line[:-1] + line[1:])
    return full
