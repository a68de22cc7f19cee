"""`crumple/Fold-v0`: bring a corner to the opposite corner."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from crumple.scenes import scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studies.envs.sheet_env import SIDE, SheetEnv, gripper_table

TURN, SHIFT = 20.0, 0.01
"""How far a start is turned [degrees] and shifted [m] at most."""
NEAR = 0.01
"""Distance of the corners at which the fold is done [m]."""
DIAGONAL = float(np.sqrt(2.0)) * SIDE


class FoldEnv(SheetEnv):
    """A sheet lies flat on a table, turned and shifted at random; a gripper holds one corner, a thumb the opposite one.

    Score: 1 − distance of the two corners / diagonal of the sheet. Done within 1 cm. `info["distance"]` [m].
    """

    grippers: ClassVar[tuple[str, ...]] = ("gripper",)
    done: ClassVar[float] = 1.0 - NEAR / DIAGONAL

    def start(self, rng: np.random.Generator) -> Simulation:
        turn, shift = rng.uniform(-TURN, TURN), rng.uniform(-SHIFT, SHIFT, 2)
        tables = self.paper.tables("fold-to-corner")
        place = [float(shift[0]), float(shift[1]), 0.002]
        tables["sheets"][0]["transform"] = {
            "translate": place,
            "rotate": {"angle": float(turn), "axis": [0, 0, 1]},
        }
        cos, sin = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        corner = 0.5 * SIDE * np.array([cos - sin, sin + cos, 0.0])
        tables["handles"] = [gripper_table("gripper", place + corner), gripper_table("thumb", place - corner)]
        tables["sheets"][0]["jitter"] = {"amplitude": 1e-5, "seed": int(rng.integers(2**31))}
        return Simulation(scene_from_tables(tables, source="crumple/Fold-v0"))

    def score(self) -> float:
        return 1.0 - self.distance() / DIAGONAL

    def distance(self) -> float:
        """Between the carried corner and the opposite one [m]."""
        points = self.points()
        return float(np.linalg.norm(points[-1] - points[0]))

    def _info(self) -> dict[str, Any]:
        return super()._info() | {"distance": self.distance()}
