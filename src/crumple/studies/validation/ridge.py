"""ridge: a single stretching ridge between two vertices [Lobkovsky1995, Lobkovsky1997].

A strip is held at its two ends by frames bent to the same V; the sheet between them can be flat on either side, but a
straight fold would cost infinite bending energy, so the fold softens to the width X^(2/3) t^(1/3) and sags, which
stretches it. The best compromise has the energy E ∝ B (X/t)^(1/3), five times as much bending as stretching (t is the
effective thickness √(12 B/Y); E/B depends on X/t alone, so scaling X at constant t is the same as scaling t).

The frames may approach each other: their distance is adjusted until they exert no force along the ridge. The tips of
the V are vertices, whose bending energy grows with ln(X/t), slower than that of the ridge, but it is not small beside
it in any sheet of paper. So the ridge is measured without its ends, 5 % of its length each. The mesh narrows towards
the vertices as the ridge does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.materials.material import Material
from crumple.mesh import SheetMesh, make_sheet_mesh
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import Pins, State, initial_state
from crumple.studies.validation.graded_grid import graded_line, grid_faces, mirrored
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check
from crumple.studies.validation.strip import clamp, moved_pins, reaction, settle, static_model

LENGTH, BEND, DENSITY = 0.1, 1e-4, 0.08
HALF_ANGLE = 0.25 * np.pi
"""Slope of the sheet on either side of the ridge [rad]."""
HALF_WIDTH = 0.5
"""Of the strip, over the length of the ridge."""
SHARPNESS = 0.003
"""Length over which the frames turn, over the length of the ridge: sharp beside the ridge's width."""
RATIOS = (1e3, 2e3, 5e3, 1e4)
"""X/t: a decade."""
COLUMNS, ROWS, ACROSS = 36, 36, 12
"""Of the mesh on each side and between end and middle; columns across the width of the ridge."""
ENDS = 0.05
"""Share of the ridge at each end that is counted to the vertices."""
APPROACHES = 6
"""Most corrections of the frames' distance."""
SLACK = 0.02
"""Force along the ridge that is left, over that at the distance X."""
EXPONENT, EXPONENT_TOLERANCE = 1.0 / 3.0, 0.05
SHARES = (4.0, 6.5)
"""5 is the limit of thin sheets. At X/t = 1000 it is 6.4, 6.2 and 6.2 on meshes of 24, 36 and 52 columns and rows."""


@dataclass(frozen=True)
class Ridge:
    """Energies over B: `bending`, `stretching` without the ends, `whole` with them."""

    bending: float
    stretching: float
    whole: float

    @property
    def energy(self) -> float:
        return self.bending + self.stretching


def validate_ridge(ratios: tuple[float, ...] = RATIOS, columns: int = COLUMNS, rows: int = ROWS) -> CaseResult:
    """Exponent of the energy within 0.05 of 1/3; bending over stretching between 4 and 6.5."""
    ridges = {ratio: fold_ridge(ratio, columns, rows) for ratio in ratios}
    energies = [ridge.energy for ridge in ridges.values()]
    exponent, level = np.polyfit(np.log(list(ridges)), np.log(energies), 1)
    checks: list[Check] = [Check("exponent of E(X/t)", EXPONENT, float(exponent), EXPONENT_TOLERANCE)]
    for ratio, ridge in ridges.items():
        label = f"bending/stretching at X/t = {ratio:g}"
        checks.append(range_check(label, SHARES, ridge.bending / ridge.stretching))
    middle = np.exp(np.mean(np.log(list(ridges))))
    scale = np.exp(level + exponent * np.log(middle))
    dense = np.geomspace(ratios[0], ratios[-1], 30)
    curves = (
        curve("slope 1/3", [(ratio, scale * (ratio / middle) ** EXPONENT) for ratio in dense]),
        curve("ridge", [(ratio, ridge.energy) for ratio, ridge in ridges.items()], markers=True),
        curve("stretching part", [(ratio, ridge.stretching) for ratio, ridge in ridges.items()], markers=True),
        curve("with its vertices", [(ratio, ridge.whole) for ratio, ridge in ridges.items()], markers=True),
    )
    return CaseResult("ridge", tuple(checks), figure=Figure("X/t", "energy / B", curves, True))


def fold_ridge(ratio: float, columns: int = COLUMNS, rows: int = ROWS) -> Ridge:
    """Energies of the ridge of a sheet with X/t = `ratio`."""
    model, state = fold_sheet(ratio, columns, rows)
    return measure_ridge(model, state)


def fold_sheet(ratio: float, columns: int = COLUMNS, rows: int = ROWS) -> tuple[Model, State]:
    """The sheet at rest between frames that exert no force along the ridge."""
    stretch = 12.0 * BEND * (ratio / LENGTH) ** 2
    material = Material.from_stiffness("sheet", stretch=stretch, bend=BEND, thickness=1e-4, density=DENSITY)
    model = static_model(material, [clamp("near frame"), clamp("far frame")])
    mesh, x = _bent_sheet(ratio, columns, rows)
    width = 2 * columns + 1
    node = np.concatenate([np.arange(width), np.arange(len(x) - width, len(x))]).astype(np.int32)
    pins = Pins(node, np.repeat(np.arange(2, dtype=np.int32), width), np.ascontiguousarray(x[node]))
    state = settle(model, initial_state(mesh, x, pins=pins, step_size=1.0), frames=1)
    return model, _release(model, state, stretch)


def _release(model: Model, state: State, stretch: float) -> State:
    """The far frame moved along the ridge until it exerts no force: secants."""
    start = state.pins.anchor
    moved, forces = [0.0], [reaction(model, state, 1)[1]]
    approach = 2.0 * forces[0] / (2.0 * HALF_WIDTH * stretch)
    for _ in range(APPROACHES):
        anchor = start - np.outer(state.pins.handle == 1, [0.0, approach, 0.0])
        state = settle(model, state.replaced(pins=moved_pins(state.pins, anchor)), frames=1)
        moved.append(approach)
        forces.append(reaction(model, state, 1)[1])
        if abs(forces[-1]) < SLACK * abs(forces[0]):
            break
        approach -= forces[-1] * (moved[-1] - moved[-2]) / (forces[-1] - forces[-2])
    return state


def measure_ridge(model: Model, state: State) -> Ridge:
    """Energies over B from the elements whose middle is not in the ends."""
    parts = {"membrane": 0.0, "bending": 0.0}
    whole = 0.0
    for kind, term in Derived(model, state).terms:
        if kind.name not in parts:
            continue
        for energy in term.stored(state, state.time):
            along = state.mesh.u[energy.stencil, 1].mean(axis=1) / LENGTH
            value = energy.value(state.x, state.half_turn) / BEND
            parts[kind.name] += float(value[(along > ENDS) & (along < 1.0 - ENDS)].sum())
            whole += float(value.sum())
    return Ridge(parts["bending"], parts["membrane"], whole)


def _bent_sheet(ratio: float, columns: int, rows: int) -> tuple[SheetMesh, Floats]:
    """Mesh and a first guess: every row bent to the frames' angle over about the width of the ridge there."""
    half = graded_line(0.5 * LENGTH, SHARPNESS * LENGTH * 0.5, rows)
    along = np.concatenate([half, LENGTH - half[-2::-1]])
    u, x = [], []
    for y in along:
        width = LENGTH * (SHARPNESS + ratio ** (-1.0 / 3.0) * abs(np.sin(np.pi * y / LENGTH)) ** (2.0 / 3.0))
        across = mirrored(graded_line(HALF_WIDTH * LENGTH, width / ACROSS, columns))
        turn = SHARPNESS * LENGTH if y in (along[0], along[-1]) else 0.7 * width
        u.append(np.stack([across, np.full_like(across, y)], axis=1))
        x.append(_bend_row(across, turn, y))
    mesh = make_sheet_mesh(np.concatenate(u), grid_faces(2 * columns, 2 * rows))
    return mesh, np.ascontiguousarray(np.concatenate(x))


def _bend_row(s: Floats, turn: float, y: float) -> Floats:
    """Points (n, 3) at the arc lengths `s` of a curve of slope −α tanh(s/turn)."""
    fine = np.concatenate([[0.0], np.geomspace(1e-3 * turn, 1.001 * max(s.max(), turn), 1000)])
    slope = HALF_ANGLE * np.tanh(fine / turn)
    step = np.diff(fine)
    aside, down = (
        np.concatenate([[0.0], np.cumsum(0.5 * step * (part[1:] + part[:-1]))])
        for part in (np.cos(slope), np.sin(slope))
    )
    distance = np.abs(s)
    return np.stack(
        [np.sign(s) * np.interp(distance, fine, aside), np.full_like(s, y), -np.interp(distance, fine, down)], axis=1
    )
