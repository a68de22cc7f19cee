"""Cuts that a sheet of a scene has from the start: slits along lines of its pattern, notches and holes.

Cracks may run on from the ends of a slit inside the sheet and from the inner corners of a notch: these are tips.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from crumple.plasticity import insert_polyline
from crumple.plasticity.crease_lines import check_polyline
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Bools, Floats
from crumple.scenes.messages import Problems
from crumple.scenes.patterns import PATTERN_KINDS, loose_slits
from crumple.scenes.schema.scene import Sheet
from crumple.state import State, transfer
from crumple.state.part import part_of
from crumple.tearing.slits import End, Slit, is_on_outline, make_slit, with_tips

CRACKS_OF_SHEET = 10_000
"""Cracks from the cuts of sheet number k are numbered from k times this."""
SHARPEST, BLUNTEST = np.radians(0.5), np.radians(150.0)
"""An inner corner of a cut-out is a tip when its opening angle lies between these [rad]."""


def cut_sheet(sheet: Sheet, k: int, state: State, problems: Problems) -> State:
    """The state of sheet number `k` with its cuts, before it is placed; problems are noted."""
    ends: list[End] = []
    for c, cut in enumerate(sheet.cuts):
        path = ("sheets", k, "cuts", c)
        if (cut.line is None) == (cut.area is None):
            problems.add(path, "must have either a line (a slit) or an area (a notch or a hole)")
            continue
        key = "area" if cut.line is None else "line"
        with problems.catch((*path, key)):
            try:
                points = np.array(getattr(cut, key), np.float64)
                made = _cut_out(state, points) if cut.line is None else make_slit(state, points)
                state, ends = made.state, [*ends, *made.ends]
            except SimulationError as error:
                raise InputError("cut", str(error)) from None
    if sheet.history is None and sheet.shape is not None and sheet.shape.kind in PATTERN_KINDS:
        for line in loose_slits(sheet.shape):
            with problems.catch(("sheets", k, "shape")):
                try:
                    made = make_slit(state, line)
                    state, ends = made.state, [*ends, *made.ends]
                except (InputError, SimulationError) as error:
                    place = f"the cut at ({line[0, 0]:.4g}, {line[0, 1]:.4g}) m"
                    raise InputError(place, str(error).removeprefix("cut: ")) from None
    return with_tips(state, tuple(ends), k, CRACKS_OF_SHEET * k, alone=True)


def _cut_out(state: State, area: Floats) -> Slit:
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
        if SHARPEST < opening < BLUNTEST and not is_on_outline(mesh, here):
            ends.append(End(here, here - middle, middle))
    return Slit(part_of(state, ~inside), tuple(ends))


def _is_inside(points: Floats, outline: Floats) -> Bools:
    """Whether points (n, 2) lie in a closed polygon: a ray to the right crosses its sides an odd number of times."""
    inside = np.zeros(len(points), bool)
    for (ax, ay), (bx, by) in pairwise(outline):
        if ay != by:
            is_level = (ay > points[:, 1]) != (by > points[:, 1])
            inside ^= is_level & (points[:, 0] < ax + (points[:, 1] - ay) * (bx - ax) / (by - ay))
    return inside
