"""miura: a Miura-ori of paper that is driven by its zigzags folds as its rigid facets would.

Only the zigzag creases are driven, to ρ_z = 2θ; the straight ones are free. Rigid facets leave one motion, in which

    tan(ρ_s/2) = cos α tan(ρ_z/2),   length 2a √(1 − sin²θ sin²α),   width 2b cosθ tanα/√(1 + cos²θ tan²α)

of a cell of four facets with the sides a, b that meet at α [Schenk2013]. Measured are all straight creases and cells at
ten angles, while the paper, which may bend and stretch, is in motion; then again with all creases driven at once, where
most of the conditions repeat each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.geometry.hinge import dihedral_angles
from crumple.patterns.generators import miura
from crumple.plasticity import hinge_labels
from crumple.runtime.typing import Floats
from crumple.scenes import scene_from_tables
from crumple.session.simulation import Simulation
from crumple.state import State
from crumple.studies.validation.result import CaseResult, Check, Figure, curve

CELLS, SIDE, ALPHA, FOLD = 4, 0.02, np.radians(60.0), np.radians(90.0)
"""Columns and rows of facets, a = b [m], α, and ρ_z at the end [rad]."""
SIZE, DURATION, FRAMES = 8e-3, 1.0, 20
"""Of faces [m], of the fold [s], and frames, every other of which is measured."""
ANGLE_TOLERANCE, LENGTH_TOLERANCE = 0.05, 1e-3
"""Of angles [degrees], and of lengths."""


@dataclass(frozen=True)
class Folding:
    """A Miura-ori at one time: `driven` ρ_z on average, errors of the straight creases and of the zigzags at most
    [degrees], and of the cells, relative; `straight` ρ_s on average [degrees]."""

    driven: float
    straight: float
    straight_error: float
    zigzag_error: float
    cell_error: float


def validate_miura() -> CaseResult:
    """Straight creases within 0.05° and cells within 0.1 % of the rigid motion at ten angles, driven in both ways."""
    checks, points = [], []
    for way, creases in (("zigzags", _by_zigzags()), ("all", _by_all())):
        found = fold(creases)
        worst = max(one.straight_error for one in found)
        checks.append(Check(f"{way} driven: ρ_s against the rigid motion [°]", 0.0, worst, ANGLE_TOLERANCE))
        cells = max(one.cell_error for one in found)
        checks.append(Check(f"{way} driven: size of cells against it [-]", 0.0, cells, LENGTH_TOLERANCE))
        last = max(one.zigzag_error for one in found)
        checks.append(Check(f"{way} driven: ρ_z against its target [°]", 0.0, last, 0.1))
        points.append((way, [(one.driven, one.straight) for one in found]))
    angle = np.linspace(0.0, np.degrees(FOLD), 100)
    exact = [(z, float(np.degrees(_straight(np.radians(z))))) for z in angle.tolist()]
    curves = (curve("tan(ρ_s/2) = cos α tan(ρ_z/2)", exact), *(curve(name, at, markers=True) for name, at in points))
    return CaseResult("miura", tuple(checks), figure=Figure("ρ_z [°]", "ρ_s [°]", curves))


def fold(creases: list[dict[str, object]]) -> list[Folding]:
    """The Miura-ori at ten times while its creases are driven."""
    shape = {"kind": "miura", "columns": CELLS, "rows": CELLS, "a": SIDE, "b": SIDE, "size": SIZE}
    tables = {
        "run": {"frame_time": DURATION / FRAMES, "duration": DURATION},
        "environment": {"gravity": [0, 0, 0], "wind": {"density": 0, "drag": 5}},
        "contact": {"activation": 2e-4},
        "sheets": [{"material": "paper80", "shape": shape, "creases": creases}],
    }
    sim = Simulation(scene_from_tables(tables, source="miura"))
    found = []
    for frame in range(FRAMES):
        sim.advance_frame()
        if frame % 2 == 1:
            target = float(np.abs(sim.model.creases[0].angle_at(sim.time)).max())
            found.append(measure(sim.state, target))
    return found


def measure(state: State, target: float) -> Folding:
    """How the Miura-ori is folded whose zigzags should be at `target` [rad]."""
    pattern = miura(CELLS, CELLS, SIDE, SIDE, ALPHA, FOLD)
    angle, label = np.abs(dihedral_angles(state.x, state.mesh.hinges.nodes)), hinge_labels(state.mesh)
    groups = pattern.group[np.clip(label - 1, 0, None)]
    zigzag = angle[(label > 0) & (groups == pattern.group_names.index("zigzag"))]
    straight = angle[(label > 0) & (groups == pattern.group_names.index("straight"))]
    lengths = _cells(state)
    half = 0.5 * target
    tangent = np.cos(half) * np.tan(ALPHA)
    wanted = (2 * SIDE * np.sqrt(1 - (np.sin(half) * np.sin(ALPHA)) ** 2), 2 * SIDE * tangent / np.hypot(1, tangent))
    errors = [np.abs(found / length - 1.0).max() for found, length in zip(lengths, wanted, strict=True)]
    return Folding(
        driven=float(np.degrees(zigzag.mean())),
        straight=float(np.degrees(straight.mean())),
        straight_error=float(np.degrees(np.abs(straight - _straight(target)).max())),
        zigzag_error=float(np.degrees(np.abs(zigzag - target).max())),
        cell_error=float(max(errors)),
    )


def _cells(state: State) -> tuple[Floats, Floats]:
    """Distances over two facets along both directions, of all corners of facets [m]."""
    corners = np.empty((CELLS + 1, CELLS + 1, 3))
    node = state.mesh.vertex_node
    for i in range(CELLS + 1):
        for j in range(CELLS + 1):
            place = (i * SIDE + (j % 2) * SIDE * np.cos(ALPHA), j * SIDE * np.sin(ALPHA))
            corners[i, j] = state.x[node[np.argmin(np.linalg.norm(state.mesh.u - place, axis=1))]]
    along, across = corners[2:] - corners[:-2], corners[:, 2:] - corners[:, :-2]
    return np.linalg.norm(along, axis=2), np.linalg.norm(across, axis=2)


def _straight(zigzag: float) -> float:
    """ρ_s [rad] that goes with ρ_z [rad]."""
    return float(2.0 * np.arctan(np.cos(ALPHA) * np.tan(0.5 * zigzag)))


def _by_zigzags() -> list[dict[str, object]]:
    keys = [{"time": 0, "angle": 0}, {"time": DURATION, "angle": float(np.degrees(FOLD))}]
    return [{"group": "zigzag", "drive": "hard", "keys": keys}, {"group": "straight", "drive": "free"}]


def _by_all() -> list[dict[str, object]]:
    keys = [{"time": 0, "fold": 0}, {"time": DURATION, "fold": 1}]
    return [{"select": "all", "drive": "hard", "keys": keys}]
