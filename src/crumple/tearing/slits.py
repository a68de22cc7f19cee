"""Slits: sheets cut open along lines of their pattern, with tips at the ends from which cracks may run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crumple.mesh import Refusal, SheetMesh, cut_edges, grow, open_buffers
from crumple.plasticity import insert_polyline
from crumple.plasticity.crease_lines import check_polyline
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import State, Tips, close_change, make_tips, transfer
from crumple.state.transfer import Custom
from crumple.tearing.opening import KERF, open_kerf

REFUSED = {
    Refusal.DUPLICATE_EDGE: "a part of it runs between two points at which the sheet stays whole, and cannot open; "
    "make it longer, or the mesh finer",
    Refusal.BOUNDARY_EDGE: "it runs along the outline of the sheet or along another cut; move it",
    Refusal.RING: "too many faces meet at a point of it; make the mesh more even there",
}
"""Why a slit is refused."""


@dataclass(frozen=True)
class End:
    """The end of a cut inside a sheet: its `place` (2,) on the pattern [m], the `heading` (2,) in which a crack would
    run on, and a point of the cut `behind` it (2,) [m]."""

    place: Floats
    heading: Floats
    behind: Floats


@dataclass(frozen=True)
class Slit:
    """A `state` that was cut open, and the `ends` of the cut inside the sheet."""

    state: State
    ends: tuple[End, ...]


def slit_open(state: State, line: Floats, sheet: int = 0) -> State:
    """The state cut open along a polyline `line` (n, 2) of the pattern [m], with tips at its ends inside the sheet."""
    slit = make_slit(state, line, sheet)
    return with_tips(slit.state, slit.ends, sheet)


def make_slit(
    state: State,
    line: Floats,
    sheet: int = 0,
    *,
    movable: Bools | None = None,
    rules: Mapping[str, Custom] | None = None,
    kerf: float = KERF,
) -> Slit:
    """The state cut open along a polyline (n, 2) of the pattern [m] of a sheet; its lips are set apart by `kerf` [m].

    `movable` (node_count,): nodes that may move onto the line, see `insert_polyline`;  `rules`: how fields follow, see
    `transfer`.
    """
    line = _with_middles(check_polyline(line))
    inserted = insert_polyline(state.mesh, line, sheet=sheet, movable=movable)
    state = transfer(state, inserted.change, mesh=inserted.mesh, custom=rules)
    mesh = state.mesh
    if not inserted.hinges.any():
        raise InputError("cut", "no part of the line is inside the sheet, away from its outline")
    corners = mesh.hinges.corners[inserted.hinges, 0].astype(np.int64)
    buf = open_buffers(mesh, spare=1.0)
    while (code := cut_edges(buf, corners, len(corners))) == Refusal.NO_CAPACITY:
        buf = grow(buf)
    if code != Refusal.OK:
        raise InputError("cut", f"cannot be cut open: {REFUSED.get(Refusal(code), Refusal(code).name.lower())}")
    change, _ = close_change(mesh, buf)
    new = np.arange(mesh.node_count, change.mesh.node_count, dtype=np.int32)
    copies = np.stack([change.node_operator[new].indices.astype(np.int32), new], axis=1)
    state = transfer(state, change, custom=rules)
    headings = _headings(state.mesh, copies[:, 0], line)
    opened, x = open_kerf(state.mesh, state.x, copies, headings, kerf=kerf)
    return Slit(state.replaced(mesh=opened, x=x), tuple(_inner_ends(mesh, line, sheet)))


def with_tips(state: State, ends: tuple[End, ...], sheet: int, first: int = 0, *, alone: bool = False) -> State:
    """The state with tips at the ends of cuts of a sheet; their cracks are numbered from `first` on.

    `alone`: the state has this sheet only, before it is merged with others.
    """
    if not ends:
        return state
    mesh, tips, torn = state.mesh, state.tips, state.torn
    own = np.unique(mesh.faces[mesh.face_sheet == (0 if alone else sheet)])
    vertices = [own[np.argmin(np.linalg.norm(mesh.u[own] - end.place, axis=1))] for end in ends]
    cracks = np.arange(len(ends)) + first
    made = make_tips(
        mesh.vertex_node[vertices],
        np.array([end.heading for end in ends]),
        np.array([end.behind for end in ends]),
        cracks.astype(np.int32),
    )
    for crack, end in zip(cracks.tolist(), ends, strict=True):
        torn = torn.extended(end.place, crack, sheet).extended(end.place, crack, sheet)  # its begin, and its tip
    joined = {name: np.concatenate([getattr(tips, name), getattr(made, name)]) for name in vars(made)}
    return state.replaced(tips=Tips(**joined), torn=torn)


def is_on_outline(mesh: SheetMesh, point: Floats, sheet: int = 0) -> bool:
    """Whether a point of the pattern of a sheet lies on its outline, or outside of it."""
    own = np.unique(mesh.faces[mesh.face_sheet == sheet])
    distance = np.linalg.norm(mesh.u[own] - point, axis=1)
    nearest = int(np.argmin(distance))
    is_there = float(distance[nearest]) < 1e-3 * float(mesh.corner_length.mean())
    return not is_there or bool(mesh.boundary_nodes[mesh.vertex_node[own[nearest]]])


def _inner_ends(mesh: SheetMesh, line: Floats, sheet: int) -> list[End]:
    """The ends of a polyline (n, 2) inside a sheet; a closed one has none."""
    if np.array_equal(line[0], line[-1]):
        return []
    ends = [End(line[0], line[0] - line[1], line[1]), End(line[-1], line[-1] - line[-2], line[-2])]
    return [end for end in ends if not is_on_outline(mesh, end.place, sheet)]


def _headings(mesh: SheetMesh, nodes: Ints, line: Floats) -> Floats:
    """The direction of the segment of a polyline that each of the nodes is nearest to, (n, 2)."""
    vertex = np.zeros(mesh.node_count, np.int64)
    vertex[mesh.vertex_node] = np.arange(mesh.vertex_count)
    points = mesh.u[vertex[nodes]]
    along, begin = np.diff(line, axis=0), line[:-1]
    length = np.hypot(*along.T)
    along, begin, length = along[length > 0.0], begin[length > 0.0], length[length > 0.0, None]
    along = along / length
    reached = np.clip(np.einsum("nsi,si->ns", points[:, None] - begin, along), 0.0, length.T)
    distance = np.linalg.norm(points[:, None] - begin - reached[..., None] * along, axis=2)
    return along[np.argmin(distance, axis=1)]


def _with_middles(line: Floats) -> Floats:
    """The polyline with the middle of each segment: a slit inside the sheet opens only if it has an inner node."""
    full = np.empty((2 * len(line) - 1, 2))
    full[::2], full[1::2] = line, 0.5 * (line[:-1] + line[1:])
    return full
