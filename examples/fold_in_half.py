"""A small sheet of paper folded in half under a roller and let go: how far it opens depends on where paper yields.

    python examples/fold_in_half.py [picture.png]

One edge is laid over the other, a roller presses the fold, then everything is taken away. For some yield curvatures κ_y
and weakenings γ this prints by what angle the sheet stays folded and how wide the crease is. A crease of the width w
opens by the bend that is left to elasticity, about κ_y w; one of paper that weakens where it yields (γ > 0) is softer
and opens by a part of its angle. With a path it also draws the roller at work and the sheets afterwards.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import crumple
from crumple.scenes import dump_scene, scene_from_tables

WIDTH, HEIGHT = 0.06, 0.04
SIZE_MIN = 2e-3
"""Of the elements at the crease [m]."""
RADIUS, GAP = 8e-3, 1.1e-3
"""Of the roller, and its height above the sheet [m]: too low for a fold that is rounder than the mesh."""
TURNED, PRESSED, ROLLED, FREE, END = 0.48, 0.6, 1.0, 1.08, 1.4
"""Edge on edge; roller down; roller past the fold; everything taken away; at rest [s]."""
CASES = ((100.0, 0.0), (400.0, 0.0), (800.0, 0.0), (100.0, 1.0))
"""Yield curvature κ_y [1/m] and weakening γ; about 100 and 1 for office paper."""
PICTURED = {(800.0, 0.0): (20, -1), (100.0, 1.0): (-1,)}
"""Frames that are drawn of some of the cases."""


def tables(yield_curvature: float, weakening: float) -> dict[str, Any]:
    """The scene: a sheet flat on a table, handles at two of its edges, a roller."""
    high, level = RADIUS + 0.02, {"translate": [0.05, 0.0, 0.0]}
    return {
        "solver": {"max_step": 2.5e-3},  # yielding follows every step: the roller should not skip a crease
        "name": "fold-in-half",
        "run": {"duration": END},
        "environment": {"gravity": [0.0, 0.0, 0.0]},
        "contact": {"activation": 2e-4, "friction": 0.0},
        "remeshing": {"size_min": SIZE_MIN, "size_max": 0.015},
        "sheets": [
            {
                "material": {"preset": "paper80", "yield_curvature": yield_curvature, "weakening": weakening},
                "shape": {"kind": "rectangle", "width": WIDTH, "height": HEIGHT, "size": 6e-3},
            }
        ],
        "handles": [
            {"name": "held", "select": {"kind": "side", "side": "left"}, "end": ROLLED},
            {"name": "lifted", "select": {"kind": "side", "side": "right"}, "motion": "over", "end": ROLLED},
        ],
        "obstacles": [
            {
                "name": "table",
                "shape": {"kind": "plane", "width": 0.2, "height": 0.2, "center": [0.0, 0.0, -3e-4]},
                "end": FREE,
            },
            {
                "name": "roller",
                "shape": {"kind": "cylinder", "radius": RADIUS, "height": 0.06, "size": 3e-3},
                "transform": {"rotate": {"angle": 90, "axis": [1, 0, 0]}},
                "motion": "roll",
                "end": FREE,
            },
        ],
        "motions": {
            "over": {
                "center": [0.0, 0.0, 1e-3],
                "keys": [
                    {"time": 0.0},
                    {"time": TURNED, "rotate": {"angle": -178, "axis": [0, 1, 0]}},
                ],
            },
            "roll": {
                "keys": [
                    {"time": TURNED, "translate": [-0.022, 0.0, high]},
                    {"time": PRESSED, "translate": [-0.022, 0.0, RADIUS + GAP], "velocity": level},
                    {"time": ROLLED, "translate": [0.012, 0.0, RADIUS + GAP], "velocity": level},
                    {"time": FREE, "translate": [0.02, 0.0, high]},
                ]
            },
        },
    }


@dataclass(frozen=True)
class Fold:
    """What is left: `angle` by which the sheet is folded [rad], π = flat on itself; `width` of the crease [m]."""

    angle: float
    width: float

    @property
    def rows(self) -> float:
        """Width of the crease in rows of the smallest elements."""
        return self.width / SIZE_MIN


def measure(state: crumple.State) -> Fold:
    """The fold angle between the planes of the two halves, and the width of the zone that carries it."""
    mesh = state.mesh
    position = mesh.u[:, 0] - mesh.u[:, 0].mean()
    directions = []
    for side in (-1.0, 1.0):
        flat = side * position > 0.25 * WIDTH
        centred = state.x[mesh.vertex_node[flat]] - state.x[mesh.vertex_node[flat]].mean(axis=0)
        along = np.linalg.lstsq(mesh.u[flat] - mesh.u[flat].mean(axis=0), centred, rcond=None)[0][0]
        directions.append(along / np.linalg.norm(along))
    angle = float(np.arccos(np.clip(directions[0] @ directions[1], -1.0, 1.0)))
    return Fold(angle, crease_width(state))


def crease_width(state: crumple.State) -> float:
    """(∫ κ)²/∫ κ² across the crease [m], κ the plastic curvature about it: the width of a zone of uniform κ."""
    area, curvature = np.abs(state.mesh.face_area), state.plastic_curvature[:, 0]
    return float((area @ curvature) ** 2 / (area @ curvature**2) / HEIGHT)


def fold(yield_curvature: float, weakening: float, folder: Path) -> crumple.State:
    """The sheet after it was folded and let go; recorded in the `folder`."""
    scene = scene_from_tables(tables(yield_curvature, weakening))
    model, state, _ = crumple.build(scene)
    with crumple.create_recording(folder, dump_scene(scene)) as recorder:
        return crumple.run(model, state, [recorder])


def draw(folder: Path, frame: int) -> np.ndarray:
    """A picture of a recorded frame with its mesh."""
    import imageio.v3 as imageio

    from crumple.rendering import render_frame

    path = folder / f"{frame}.png"
    return imageio.imread(render_frame(crumple.Recording(folder), frame, path, size=(480, 400), edges=True))


def main(picture: str | None = None) -> dict[tuple[float, float], Fold]:
    """Fold a sheet in every case, print a table, and return what is left of each."""
    found, panels = {}, []
    print("  κ_y [1/m]    γ   folded by   crease width   in rows")
    for case in CASES:
        with TemporaryDirectory() as folder:
            left = found[case] = measure(fold(*case, Path(folder) / "run"))
            print(
                f"{case[0]:11g}{case[1]:5g}{np.degrees(left.angle):10.0f}°{1e3 * left.width:12.1f} mm{left.rows:10.1f}"
            )
            if picture:
                panels += [draw(Path(folder) / "run", frame) for frame in PICTURED.get(case, ())]
    if picture:
        import imageio.v3 as imageio

        imageio.imwrite(picture, np.concatenate(panels, axis=1))
    return found


if __name__ == "__main__":
    folds = main(*sys.argv[1:])
    paper, early, middle, late = (folds[case] for case in ((100.0, 1.0), *CASES[:3]))
    # what yields later opens farther
    assert early.angle > middle.angle > late.angle + 0.5, folds
    # paper, which weakens, stays folded: its crease is a few rows of the smallest elements wide
    assert paper.angle > 2.4, folds
    assert paper.rows < 2.5, folds
