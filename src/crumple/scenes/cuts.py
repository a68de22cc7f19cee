"""Cuts that a sheet of a scene has from the start: slits along lines of its pattern, notches and holes.

Cracks may run on from the ends of a slit inside the sheet and from the inner corners of a notch: these are tips.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from crumple.mesh import Refusal, SheetMesh, cut_edges, grow, open_buffers
from crumple.plasticity import insert_polyline
from crumple.plasticity.crease_lines import check_polyline
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.scenes.messages import Problems
from crumple.scenes.patterns import PATTERN_KINDS, loose_slits
from crumple.scenes.schema.scene import Sheet
from crumple.state import State, Tips, close_change, make_tips, transfer
from crumple.state.part import part_of
from crumple.tearing.opening import open_kerf

CRACKS_OF_SHEET = 10_000
"""Cracks from the cuts of sheet number k are numbered from k times this."""
REFUSED = {
    Refusal.DUPLICATE_EDGE: "a part of it runs between two points at which the sheet stays whole, and cannot open; "
    "make it longer, or the mesh finer",
    Refusal.BOUNDARY_EDGE: "it runs along the outline of the sheet or along another cut; move it",
    Refusal.RING: "too many faces meet at a point of it; make the mesh more even there",
}
"""Why a slit is refused."""
SHARPEST, BLUNTEST = np.radians(0.5), np.radians(150.0)
"""An inner corner of a cut-out is a tip when its opening angle lies between these [rad]."""


def cut_sheet(sheet: Sheet, k: int, state: State, problems: Problems) -> State:
    """The state of sheet number `k` with its cuts, before it is placed; problems are noted."""
    ends: list[tuple[Floats, Floats, Floats]] = []
    for c, cut in enumerate(sheet.cuts):
        path = ("sheets", k, "cuts", c)
        if (cut.line is None) == (cut.area is None):
            problems.add(path, "must have either a line (a slit) or an area (a notch or a hole)")
            continue
        key = "area" if cut.line is None else "line"
        with problems.catch((*path, key)):
            try:
                points = np.array(getattr(cut, key), np.float64)
                state, found = _cut_out(state, points) if cut.line is None else _slit(state, points)
                ends += found
            except SimulationError as error:
                raise InputError("cut", str(error)) from None
    if sheet.history is None and sheet.shape is not None and sheet.shape.kind in PATTERN_KINDS:
        for line in loose_slits(sheet.shape):
            with problems.catch(("sheets", k, "shape")):
                try:
                    state, found = _slit(state, line)
                    ends += found
                except (InputError, SimulationError) as error:
                    place = f"the cut at ({line[0, 0]:.4g}, {line[0, 1]:.4g}) m"
                    raise InputError(place, str(error).removeprefix("cut: ")) from None
    return _with_tips(state, ends, k)


def slit_open(state: State, line: Floats, sheet: int = 0) -> State:
    """The state cut open along a polyline `line` (n, 2) of the pattern [m], with tips at its ends inside the sheet."""
    return _with_tips(*_slit(state, line), sheet)


def _slit(state: State, line: Floats) -> tuple[State, list[tuple[Floats, Floats, Floats]]]:
    """The state cut open along a polyline (n, 2) of the pattern [m], and its ends inside, see `_with_tips`."""
    line = _with_middles(check_polyline(line))
    inserted = insert_polyline(state.mesh, line)
    state = transfer(state, inserted.change, mesh=inserted.mesh)
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
    state = transfer(state, change)
    opened, x = open_kerf(state.mesh, state.x, copies, _headings(state.mesh, copies[:, 0], line))
    ends = [(line[0], line[0] - line[1], line[1]), (line[-1], line[-1] - line[-2], line[-2])]
    inner = [end for end in ends if not _is_on_outline(mesh, end[0])]
    return state.replaced(mesh=opened, x=x), inner


def _cut_out(state: State, area: Floats) -> tuple[State, list[tuple[Floats, Floats, Floats]]]:
    """The state without what lies inside the polygon `area` (n, 2) of the pattern [m], and its inner corners."""
    outline = check_polyline(np.concatenate([area, area[:1]]))
    area = outline[:-1]
    if len(area) < 3:
        raise InputError("cut", "must have three different points at least", len(area))
    inserted = insert_polyline(state.mesh, outline)
    state = transfer(state, inserted.change, mesh=inserted.mesh)
    mesh = state.mesh
    inside = _is_inside(mesh.u[mesh.faces].mean(axis=1), outline)
    if not inside.any():
        raise InputError("cut", "no part of the area is inside the sheet")
    if inside.all():
        raise InputError("cut", "nothing is left of the sheet")
    ends = []
    for before, here, after in zip(np.roll(area, 1, axis=0), area, np.roll(area, -1, axis=0), strict=True):
        a, b = (before - here) / np.linalg.norm(before - here), (after - here) / np.linalg.norm(after - here)
        opening = np.arccos(np.clip(a @ b, -1.0, 1.0))
        middle = 0.5 * (before + after)
        if SHARPEST < opening < BLUNTEST and not _is_on_outline(mesh, here):
            ends.append((here, here - middle, middle))
    return part_of(state, ~inside), ends


def _with_tips(state: State, ends: list[tuple[Floats, Floats, Floats]], k: int) -> State:
    """The state with tips at the `ends`: place on the pattern [m], direction of the crack, what lies behind it [m]."""
    mesh, tips, torn = state.mesh, state.tips, state.torn
    vertices = [int(np.argmin(np.linalg.norm(mesh.u - here, axis=1))) for here, _, _ in ends]
    if not vertices:
        return state
    cracks = np.arange(len(ends)) + CRACKS_OF_SHEET * k
    made = make_tips(
        mesh.vertex_node[vertices],
        np.array([direction for _, direction, _ in ends]),
        np.array([behind for _, _, behind in ends]),
        cracks.astype(np.int32),
    )
    for crack, (here, _, _) in zip(cracks.tolist(), ends, strict=True):
        torn = torn.extended(here, crack, k).extended(here, crack, k)  # where it begins, and where its tip is
    joined = {name: np.concatenate([getattr(tips, name), getattr(made, name)]) for name in vars(made)}
    return state.replaced(tips=Tips(**joined), torn=torn)


def _headings(mesh: SheetMesh, nodes: Ints, line: Floats) -> Floats:
    """The direction of the segment of a polyline that each of the nodes is nearest to, (n, 2)."""
    vertex = np.zeros(mesh.node_count, np.int64)
    vertex[mesh.vertex_node] = np.arange(mesh.vertex_count)
    points = mesh.u[vertex[nodes]]
    along = np.diff(line, axis=0)
    length = np.linalg.norm(along, axis=1)
    fraction = np.clip(np.einsum("nsi,si->ns", points[:, None] - line[:-1], along) / length**2, 0.0, 1.0)
    distance = np.linalg.norm(points[:, None] - line[:-1] - fraction[..., None] * along, axis=2)
    return (along / length[:, None])[np.argmin(distance, axis=1)]


def _is_on_outline(mesh: SheetMesh, point: Floats) -> bool:
    """Whether a point of the pattern lies on the outline of the sheet, or outside of it."""
    nearest = int(np.argmin(np.linalg.norm(mesh.u - point, axis=1)))
    is_there = float(np.linalg.norm(mesh.u[nearest] - point)) < 1e-3 * float(mesh.corner_length.mean())
    return not is_there or bool(mesh.boundary_nodes[mesh.vertex_node[nearest]])


def _is_inside(points: Floats, outline: Floats) -> Bools:
    """Whether points (n, 2) lie in a closed polygon: a ray to the right crosses its sides an odd number of times."""
    inside = np.zeros(len(points), bool)
    for (ax, ay), (bx, by) in pairwise(outline):
        if ay != by:
            is_level = (ay > points[:, 1]) != (by > points[:, 1])
            inside ^= is_level & (points[:, 0] < ax + (points[:, 1] - ay) * (bx - ax) / (by - ay))
    return inside


def _with_middles(line: Floats) -> Floats:
    """The polyline with the middle of each segment: a slit inside the sheet opens only if it has an inner node."""
    full = np.empty((2 * len(line) - 1, 2))
    full[::2], full[1::2] = line, 0.5 * (line[:-1] + line[1:])
    return full
