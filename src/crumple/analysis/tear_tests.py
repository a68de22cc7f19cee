"""The numbers of standard tests of tearing, from what the handles did: trouser, Elmendorf, notched strips, and the
essential work of fracture.

    trouser, Elmendorf     F = (work − stored)/(2 L)                 force of one leg; L length of all cracks
    notched strips         σ = F_max/(L t)                           strength of the ligament L that tore
                           w_f = work/(L t)                          work of fracture
    several ligaments      w_f = w_e + β w_p L                       essential work w_e: that of no ligament [Cotterell1977]

The last two are of sheets that are in two pieces, each with handles of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

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
    running = set(state.mesh.node_sheet[state.tips.node].tolist())
    owner = handle_sheets(state)
    found = []
    for sheet, length in sorted(lengths.items()):
        mine = [handle for handle in work if owner.get(handle) == sheet]
        if length > 0.0 and mine and sheet not in running:
            joules, newtons = sum(work[handle] for handle in mine), max(peak[handle] for handle in mine)
            found.append(TornSheet(sheet, length, length * thickness[sheet], joules, newtons))
    return tuple(found)


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
