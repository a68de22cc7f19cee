"""The numbers of standard tests of tearing, from what the handles did: trouser, Elmendorf, notched strips, and the
essential work of fracture.

    trouser, Elmendorf     F = work/(2 L)                            force of one leg; L length of all cracks
    notched strips         σ = F_max/(L t)                           strength of the ligament L that tore
                           w_f = work/(L t)                          work of fracture
    several ligaments      w_f = w_e + β w_p L                       w_e essential work [Cotterell1977]

The last two are of sheets that are in two pieces, each with handles of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats
from crumple.state import State

LEAST_SHEETS = 3
"""How many ligaments the line of the essential work needs at least: with two it passes through both."""


@dataclass(frozen=True)
class TornSheet:
    """A sheet that was torn in two: its number, the `ligament` [m] and `area` [m²] that tore, the `work` [J] of the
    handles that hold nothing else, and their `peak` force [N]."""

    sheet: int
    ligament: float
    area: float
    work: float
    peak: float

    @property
    def work_per_area(self) -> float:
        """w_f [J/m²]."""
        return self.work / self.area

    @property
    def strength(self) -> float:
        """Peak force over the torn area [Pa]."""
        return self.peak / self.area


def find_torn_sheets(
    state: State,
    lengths: Mapping[int, float],
    thickness: Mapping[int, float],
    work: Mapping[int, float],
    peak: Mapping[int, float],
) -> tuple[TornSheet, ...]:
    """The sheets of a state that are in two.

    `lengths` of the cracks [m] and `thickness` [m] by number of the sheet; `work` [J] and `peak` force [N] by number of
    the handle, of those that move.
    """
    parted, owner = parted_sheets(state.mesh), handle_sheets(state)
    found = []
    for sheet, length in sorted(lengths.items()):
        mine = [handle for handle in work if owner.get(handle) == sheet]
        if length > 0.0 and mine and sheet in parted:
            joules, newtons = sum(work[handle] for handle in mine), max(peak[handle] for handle in mine)
            found.append(TornSheet(sheet, length, length * thickness[sheet], joules, newtons))
    return tuple(found)


def parted_sheets(mesh: SheetMesh) -> set[int]:
    """The sheets that are in two or more pieces, by number."""
    tail, head = mesh.face_nodes.ravel(), np.roll(mesh.face_nodes, -1, axis=1).ravel()
    graph = coo_matrix((np.ones(len(tail)), (tail, head)), (mesh.node_count, mesh.node_count))
    first = np.unique(connected_components(graph, directed=False)[1], return_index=True)[1]
    sheet, count = np.unique(mesh.node_sheet[first], return_counts=True)
    return set(sheet[count > 1].tolist())


def handle_sheets(state: State) -> dict[int, int]:
    """The sheet of each handle that holds nodes of one sheet only, by number."""
    held: dict[int, set[int]] = {}
    for node, handle in zip(state.pins.node.tolist(), state.pins.handle.tolist(), strict=True):
        held.setdefault(handle, set()).add(int(state.mesh.node_sheet[node]))
    return {handle: sheets.pop() for handle, sheets in held.items() if len(sheets) == 1}


def essential_work(sheets: Sequence[TornSheet]) -> tuple[float, float] | None:
    """w_e [J/m²] and the slope β w_p [J/m³] of the work of fracture over the ligament, by least squares; None when
    there are fewer than three sheets, or their ligaments are alike."""
    ligament: Floats = np.array([sheet.ligament for sheet in sheets])
    if len(sheets) < LEAST_SHEETS or float(np.ptp(ligament)) < 0.1 * float(ligament.max()):
        return None
    slope, intercept = np.polyfit(ligament, [sheet.work_per_area for sheet in sheets], 1)
    return float(intercept), float(slope)
