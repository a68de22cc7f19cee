"""`crumple/Stuff-v0`: stuff a sheet into a box that is smaller than it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from crumple.scenes import scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studies.envs.sheet_env import SIDE, SheetEnv, gripper_table

WIDTH, DEPTH, WALL = 0.07, 0.05, 0.004
"""Inside of the box, its height, and the thickness of its walls [m]."""
ABOVE = 0.006
"""Height of the sheet above the rim at the start [m]."""
TURN, SHIFT = 45.0, 0.01
"""How far a start is turned [degrees] and shifted [m] at most."""
HOLDS = np.array([[0.0, 0.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])


class StuffEnv(SheetEnv):
    """A flat sheet is held above an open box, 7 × 7 cm wide and 5 cm deep, by its middle and its corners.

    Score: the fraction of the sheet's area that is in the box, below its rim. Done at 0.95.
    """

    grippers: ClassVar[tuple[str, ...]] = ("middle", "left-bottom", "right-bottom", "left-top", "right-top")

    def start(self, rng: np.random.Generator) -> Simulation:
        turn, shift = rng.uniform(-TURN, TURN), rng.uniform(-SHIFT, SHIFT, 2)
        tables = self.paper.tables("stuff-into-box")
        place = np.array([*shift, DEPTH + ABOVE])
        sheet = tables["sheets"][0]
        sheet["transform"] = {
            "translate": [float(value) for value in place],
            "rotate": {"angle": float(turn), "axis": [0, 0, 1]},
        }
        sheet["jitter"] = {"amplitude": 1e-5, "seed": int(rng.integers(2**31))}
        cos, sin = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        holds = np.zeros((len(HOLDS), 3))
        holds[:, :2] = 0.5 * SIDE * HOLDS @ np.array([[cos, sin], [-sin, cos]])
        tables["handles"] = [gripper_table(name, place + at) for name, at in zip(self.grippers, holds, strict=True)]
        tables["obstacles"] += _walls()
        return Simulation(scene_from_tables(tables, source="crumple/Stuff-v0"))

    def score(self) -> float:
        state, faces = self.simulation.state, self.faces()
        middle = state.x[state.mesh.face_nodes[faces]].mean(axis=1)
        inside = (np.abs(middle[:, :2]) < 0.5 * WIDTH).all(axis=1) & (middle[:, 2] < DEPTH)
        area = np.abs(state.mesh.face_area[faces])
        return float(area[inside].sum() / area.sum())


def _walls() -> list[dict[str, Any]]:
    """Four walls around the inside of the box, which the table closes below."""
    away, long = 0.5 * (WIDTH + WALL), WIDTH + 2 * WALL
    places = {
        "wall-left": ([-away, 0.0], [WALL, long]),
        "wall-right": ([away, 0.0], [WALL, long]),
        "wall-front": ([0.0, -away], [WIDTH, WALL]),
        "wall-back": ([0.0, away], [WIDTH, WALL]),
    }
    return [
        {"name": name, "shape": {"kind": "box", "extent": [*extent, DEPTH], "center": [*centre, 0.5 * DEPTH]}}
        for name, (centre, extent) in places.items()
    ]
