"""`crumple/Flatten-v0`: flatten a crumpled sheet."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import shapely

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints
from crumple.scenes import scene_from_tables
from crumple.session.simulation import Simulation
from crumple.state import State
from crumple.state.ragged import Pins
from crumple.studies.envs.sheet_env import SIDE, STEP, Paper, SheetEnv, gripper_table

WIDE, TIGHT = 0.08, 0.024
"""Radius of the sphere that crumples the sheet, first and last [m]."""
CRUMPLING, SETTLING = 0.6, 0.5
"""How long the sheet is crumpled, and then lies on the table [s]."""
CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])


class FlattenEnv(SheetEnv):
    """A crumpled sheet, one of several and turned at random, lies on a table; a gripper holds each of its corners.

    Score: the area that the sheet covers, seen from above, over its own area. Done at 0.95.
    """

    grippers: ClassVar[tuple[str, ...]] = ("left-bottom", "right-bottom", "left-top", "right-top")

    def __init__(self, *, starts: int = 8, **options: Any) -> None:
        """`starts`: how many differently crumpled sheets there are; each is crumpled, which takes seconds, when it is
        first needed;  `options`: those of `SheetEnv`."""
        if starts < 1:
            raise InputError("starts", "must be at least 1", starts)
        super().__init__(**options)
        self.starts = starts

    def start(self, rng: np.random.Generator) -> Simulation:
        lying = crumpled_sheet(self._plain_paper, int(rng.integers(self.starts)))
        turn = rng.uniform(-np.pi, np.pi)
        cos, sin = np.cos(turn), np.sin(turn)
        turned = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        sim = _on_the_table(lying.replaced(x=np.ascontiguousarray(lying.x @ turned)), self.paper)
        corners = corner_nodes(sim.state)
        order = np.arange(len(corners), dtype=np.int32)
        sim.state = sim.state.replaced(pins=Pins(corners, order, sim.state.x[corners]))
        return sim

    def score(self) -> float:
        return covered_area(self.simulation.state, self.faces()) / (SIDE * SIDE)


def covered_area(state: State, faces: Ints | slice = slice(None)) -> float:
    """Area of the shadow that the `faces` of a sheet, by default all, throw straight down [m²]."""
    triangles = shapely.polygons(state.x[state.mesh.face_nodes[faces]][:, :, :2])
    upright_left_out = shapely.buffer(triangles, 0.0)  # those seen from the side have no area
    return float(shapely.union_all(upright_left_out).area)


def corner_nodes(state: State) -> np.ndarray:
    """The nodes at the four corners of the pattern, in the order of the grippers."""
    mesh = state.mesh
    centre = 0.5 * (mesh.u.min(axis=0) + mesh.u.max(axis=0))
    apart = np.linalg.norm(mesh.u[None] - centre - 0.5 * SIDE * CORNERS[:, None], axis=2)
    return mesh.vertex_node[apart.argmin(axis=1)]


@lru_cache(maxsize=64)
def crumpled_sheet(paper: Paper, number: int) -> State:
    """The state of a sheet that was crumpled in a sphere, differently for every `number`, and came to rest on the
    table; its middle is above the origin."""
    sim = Simulation(scene_from_tables(_crumpling_tables(paper, number), source="crumple/Flatten-v0"))
    for _ in range(round(CRUMPLING / STEP)):
        sim.step(STEP)
    settling = _on_the_table(sim.state, paper)
    for _ in range(round(SETTLING / STEP)):
        settling.step(STEP)
    return settling.state


def _crumpling_tables(paper: Paper, number: int) -> dict[str, Any]:
    """The sheet, tilted at random, in a sphere that shrinks."""
    rng = np.random.default_rng(number)
    tables = paper.tables("crumpling") | {"environment": {"gravity": [0, 0, 0]}}
    sheet = tables["sheets"][0]
    axis = [float(value) for value in rng.normal(size=3)]
    sheet["transform"] = {"rotate": {"angle": float(rng.uniform(0.0, 180.0)), "axis": axis}}
    sheet["jitter"] = {"amplitude": 1e-4, "seed": number}
    shape = {"kind": "sphere", "radius": WIDE, "inside": True}
    tables["obstacles"] = [{"name": "sphere", "shape": shape, "motion": "shrink"}]
    tables["motions"] = {"shrink": {"keys": [{"time": 0.0}, {"time": CRUMPLING, "scale": TIGHT / WIDE}]}}
    return tables


def _on_the_table(sheet: State, paper: Paper) -> Simulation:
    """A simulation at time 0 in which the `sheet`, as it is bent, lies at rest just above the table."""
    tables = paper.tables("flatten")
    tables["handles"] = [gripper_table(name, np.zeros(3)) for name in FlattenEnv.grippers]
    sim = Simulation(scene_from_tables(tables, source="crumple/Flatten-v0"))
    first = sim.state
    sim.state = sheet.replaced(
        x=_lifted(sheet.x),
        v=np.zeros_like(sheet.v),
        a=np.zeros_like(sheet.a),
        half_rate=np.zeros_like(sheet.half_rate),
        has_acceleration=False,
        obstacle_x=first.obstacle_x,
        obstacle_lag=first.obstacle_lag,
        obstacle_force=first.obstacle_force,
        handle_load=first.handle_load,
        pins=Pins(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 3))),
        time=0.0,
        frame=0,
        steps=0,
        iterations=0,
        dense_steps=0,
        step_size=first.step_size,
    )
    return sim


def _lifted(x: Floats) -> Floats:
    """The positions with their middle above the origin, the lowest 2 mm above the table at least."""
    shift = -0.5 * (x.min(axis=0) + x.max(axis=0))
    shift[2] = max(0.0, 0.002 - x[:, 2].min())
    return x + shift
