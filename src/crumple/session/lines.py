"""Lines drawn on a sheet that is bent, held and in contact: edges along them, without anything being touched.

A line drawn by hand has more points than a mesh can follow: it is simplified to what the mesh resolves. Free nodes near
it move onto it within the sheet, and it goes through those nodes near it that must not move: on creases and outlines,
in hands, where the sheet is bent sharply. If the sheet would touch something by that, or would be stretched, because
it is bent there and nodes leave the bend, no node is moved, and edges are split where they are, which changes no shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from crumple.geometry.hinge import dihedral_angles
from crumple.geometry.strain import largest_strains
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.plasticity import crease_hinges
from crumple.remeshing.guard import Guard
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Bools, Floats
from crumple.session.tuning import TUNING
from crumple.state import State
from crumple.stepping.bookkeeping import with_stale_ledger

RESOLVED = TUNING.line_tolerance.value
SPACING = TUNING.line_spacing.value
NEAR = TUNING.line_detour.value
BENT = TUNING.line_bent_angle.value
GAP_LEFT = TUNING.edit_gap_left.value
STRAINED = TUNING.edit_strain.value


def draw(
    model: Model, state: State, sheet: int, points: Floats, edit: Callable[[State, Floats, Bools, Derived], State]
) -> State:
    """The state after an `edit` along the line of `points` (n, 2) [m] on the pattern of a sheet, checked.

    `edit` gets the state, the line that it is to follow, the nodes that may move onto it (node_count,), and what is
    derived from the state. `SimulationError` when none of its results is free of intersections.
    """
    mesh, derived = state.mesh, Derived(model, state)
    if not (mesh.face_sheet == sheet).any():
        raise InputError("sheet", f"there are sheets 0 to {int(mesh.face_sheet.max())}", sheet)
    edge = float(mesh.corner_length.reshape(-1, 3)[mesh.face_sheet == sheet].mean())
    line = simplified(points, edge)
    if np.linalg.norm(np.diff(line, axis=0), axis=1).sum() < SPACING * edge:
        raise InputError("points", f"the mesh, with edges of {edge:.3g} m, does not resolve so short a line")
    for movable in _choices(model, state):
        made = edit(state, routed(mesh, line, sheet, ~movable), movable, derived)
        is_last = not movable.any()
        if is_safe(state, derived, made) and (is_last or mean_strain(made) <= mean_strain(state) + STRAINED):
            settled = Derived(model, made).relaxed(made)
            return with_stale_ledger(settled.replaced(has_acceleration=False))
    raise SimulationError("the sheet has no room along this line: what it touches would be cut into; lift it first")


def _choices(model: Model, state: State) -> Iterator[Bools]:
    """Which nodes may move onto the line, (node_count,): those that nothing keeps, then none."""
    mesh = state.mesh
    free = np.ones(mesh.node_count, bool)
    for kept in (state.pins.nodes_needed, state.bonds.nodes_needed, state.tips.nodes_needed):
        free[kept] = False
    bent = np.abs(dihedral_angles(state.x, mesh.hinges.nodes)) > BENT
    free[mesh.hinges.nodes[bent | crease_hinges(mesh, state.plastic_curvature)][:, :2]] = False
    yield free
    yield np.zeros_like(free)


def simplified(points: Floats, edge: float) -> Floats:
    """The line through fewer of its `points` (n, 2) [m]: as near to all of them as a mesh with edges of the length
    `edge` [m] resolves, with corners that are not nearer to each other than it resolves either."""
    kept = points[_corners(points, RESOLVED * edge)]
    line = [kept[0]]
    for point in kept[1:-1]:
        if min(np.linalg.norm(point - line[-1]), np.linalg.norm(point - kept[-1])) > SPACING * edge:
            line.append(point)
    return np.array([*line, kept[-1]])


def _corners(points: Floats, tolerance: float) -> Bools:
    """The points of a line that are needed to stay within `tolerance` [m] of all of them (Douglas and Peucker)."""
    kept = np.zeros(len(points), bool)
    kept[[0, -1]] = True
    waiting = [(0, len(points) - 1)]
    while waiting:
        first, last = waiting.pop()
        distance = _distances(points[first + 1 : last], points[first], points[last])
        if len(distance) and distance.max() > tolerance:
            middle = first + 1 + int(np.argmax(distance))
            kept[middle] = True
            waiting += [(first, middle), (middle, last)]
    return kept


def routed(mesh: SheetMesh, line: Floats, sheet: int, fixed: Bools) -> Floats:
    """The line (n, 2) [m] led through vertices of `fixed` nodes (node_count,) and of the outline that it would pass too
    closely: faces between would be slivers."""
    own = np.zeros(mesh.vertex_count, bool)
    own[np.unique(mesh.faces[mesh.face_sheet == sheet])] = True
    stays = own & (fixed | mesh.boundary_nodes)[mesh.vertex_node]
    reach, u = NEAR * _shortest_edges(mesh), mesh.u
    ends = [_attracted(point, u[stays], reach[stays]) for point in line]
    full = [ends[0]]
    for p, q in pairwise(ends):
        if np.array_equal(p, q):
            continue
        along = np.clip((u - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
        near = np.flatnonzero(stays & (_distances(u, p, q) < reach) & (along > 0.0) & (along < 1.0))
        full += [u[k] for k in near[np.argsort(along[near], kind="stable")]]
        full.append(q)
    route = np.array(full)
    route = route[np.append(True, np.any(route[1:] != route[:-1], axis=1))]
    if len(route) < 2:
        raise InputError("points", "the mesh does not resolve so short a line; draw a longer one")
    return route


def _attracted(point: Floats, places: Floats, reach: Floats) -> Floats:
    """The point (2,), or the place (n, 2) nearest to it if that is within reach (n,) [m]."""
    distance = np.linalg.norm(places - point, axis=1)
    nearest = int(np.argmin(distance)) if len(distance) else 0
    return places[nearest] if len(distance) and distance[nearest] < reach[nearest] else point


def _shortest_edges(mesh: SheetMesh) -> Floats:
    """The length of the shortest edge at each vertex [m], (vertex_count,)."""
    shortest, length = np.full(mesh.vertex_count, np.inf), mesh.corner_length.reshape(-1, 3)
    np.minimum.at(shortest, mesh.faces, length)
    np.minimum.at(shortest, np.roll(mesh.faces, -1, axis=1), length)
    return shortest


def _distances(points: Floats, p: Floats, q: Floats) -> Floats:
    """The distances of points (n, 2) from the segment pq, (n,) [m]."""
    length = float((q - p) @ (q - p))
    along = np.clip((points - p) @ (q - p) / length, 0.0, 1.0) if length > 0.0 else np.zeros(len(points))
    return np.linalg.norm(points - p - along[:, None] * (q - p), axis=1)


def mean_strain(state: State) -> float:
    """The root mean square of the largest strains of the faces, by area: what stretches a sheet grows with its
    square."""
    strains, area = largest_strains(state.mesh, state.x, state.plastic_strain), state.mesh.face_area
    return float(np.sqrt(area @ strains**2 / area.sum()))


def is_safe(before: State, derived: Derived, after: State) -> bool:
    """Whether nothing intersects after an edit, and no gap is much less than the least one before it."""
    surface = derived.surface(before.time)
    if surface is None:
        return True
    guard = Guard(surface, before.obstacle_x)
    if guard.has_intersections(after.mesh, after.x):
        return False
    left = Guard(guard.follow(after.mesh), before.obstacle_x).lowest(after.x)
    return left >= GAP_LEFT * max(guard.lowest(before.x), 0.0)
