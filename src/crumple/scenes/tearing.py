"""Tearing of a scene: options, weak lines of its sheets, and whether anything can tear at all."""

from __future__ import annotations

import numpy as np

from crumple.model.model import Model
from crumple.options.options import values
from crumple.options.tearing import Tearing, TearingSettings, WeakLine
from crumple.plasticity import insert_polyline
from crumple.runtime.errors import InputError, SimulationError
from crumple.scenes.messages import Problems
from crumple.scenes.schema.scene import Scene, Sheet
from crumple.state import State, transfer

FIRST_LABEL = 2_000_000
"""Weak lines are labelled from here on, beyond the labels of people and of creases; a thousand for each sheet."""


def make_tearing(scene: Scene) -> Tearing | None:
    """The options of the scene's table, None when it has none; lines of all sheets are among them."""
    if scene.tearing is None:
        return None
    lines = tuple(
        WeakLine(_label(k, c) if line.label is None else line.label, (1.0 - line.cut_share) * line.toughness)
        for k, sheet in enumerate(scene.sheets)
        for c, line in enumerate(sheet.lines)
    )
    return Tearing(**values(scene.tearing, TearingSettings), lines=lines)


def mark_lines(sheet: Sheet, k: int, state: State, problems: Problems) -> State:
    """The state of sheet number `k` with labelled edges along its weak lines; problems are noted."""
    for c, table in enumerate(sheet.lines):
        path = ("sheets", k, "lines", c)
        if table.line is None:
            if table.label is not None and not np.any(state.mesh.edge_label == table.label):
                problems.add((*path, "label"), "no edge of the mesh carries this label", table.label)
            continue
        with problems.catch((*path, "line")):
            try:
                line = insert_polyline(state.mesh, np.array(table.line), label=_label(k, c))
            except SimulationError as error:
                raise InputError("line", str(error)) from None
            state = transfer(state, line.change, mesh=line.mesh)
            if not line.hinges.any():
                problems.add((*path, "line"), "no part of the line is inside the sheet, away from its outline")
    return state


def check_tearing(scene: Scene, model: Model, state: State, problems: Problems) -> None:
    """Refuse tearing where nothing can tear, and where a surface has no pattern that could tear."""
    if model.tearing is None:
        return
    is_strength = model.tearing.criterion == "strength"
    key = "tensile_strength" if is_strength else "tear_energy"
    able = [np.isfinite(m.tensile_strength) if is_strength else m.tears for m in model.materials]
    if not any(able):
        remedy = f"no sheet can tear: none of the materials has a {key}"
        problems.add(("tearing", "criterion"), remedy, model.tearing.criterion)
    mesh = state.mesh
    for k in range(len(scene.sheets)):
        own = mesh.face_sheet == k
        corners = mesh.faces[own]
        if len(corners) > 1 and len(np.unique(corners)) == corners.size:
            remedy = "has no pattern: each of its triangles is a piece by itself; it cannot tear"
            problems.add(("sheets", k, "shape"), remedy)


def _label(k: int, c: int) -> int:
    """The label of line number `c` of sheet number `k`."""
    return FIRST_LABEL + 1000 * k + c
