"""Random scenes that make sense, stepped: every frame is checked by the exact count of intersections.

A scene that cannot be built or that fails on the way is an answer if it is a CrumpleError; an intersection, a number
that is not finite or any other exception is a finding.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from crumple.model.model import Model
from crumple.recording.verify import count_nonfinite
from crumple.runtime.errors import CrumpleError
from crumple.scenes import build, scene_from_tables
from crumple.session.session import run
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.stepping.reports import FrameReport

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
from exact_intersections import sheet_intersections

FRAMES = 3
Tables = dict[str, Any]


def make_tables(number: int) -> Tables:
    """The tables of a scene: one or two sheets of at most some 150 faces, cuts, handles, obstacles, remeshing."""
    random = np.random.default_rng([number, 11])
    tables: Tables = {
        "name": f"stepped-{number}",
        "run": {"frame_time": float(random.choice([0.005, 0.01, 0.02])), "duration": 0.0},
        "sheets": [_sheet(random, k) for k in range(int(random.integers(1, 3)))],
        "contact": {"friction": float(random.choice([0.0, 0.3, 0.8]))},
    }
    tables["run"]["duration"] = FRAMES * tables["run"]["frame_time"]
    if random.random() < 0.6:
        tables["obstacles"] = [_obstacle(random)]
    if random.random() < 0.6:
        moved = random.uniform(-0.6, 0.6, 3).round(3).tolist()
        tables["motions"] = {"m": {"keys": [{"time": 0.0}, {"time": 1.0, "translate": moved}]}}
        held = {"kind": "box", "low": [0.035, -1, -1], "high": [1, 1, 1]}
        tables["handles"] = [
            {"name": "a", "sheet": "s0", "select": {"kind": "box", "low": [-1, -1, -1], "high": [-0.035, 1, 1]}},
            {"name": "b", "sheet": "s0", "select": held, "motion": "m"},
        ]
    if random.random() < 0.4:
        tables["tearing"] = {}
    if random.random() < 0.4:
        tables["remeshing"] = {"size_min": 0.01, "size_max": 0.05}
    return tables


def _sheet(random: np.random.Generator, k: int) -> Tables:
    kind, turned = ("rectangle", "rectangle", "disk")[random.integers(3)], float(random.integers(-10, 10))
    size = float(random.choice([0.1, 0.04, 0.02]))
    shape: Tables = {"kind": kind, "size": size}
    shape |= {"radius": 0.05} if kind == "disk" else {"width": 0.1, "height": float(random.choice([0.02, 0.06, 0.1]))}
    sheet: Tables = {
        "name": f"s{k}",
        "shape": shape,
        "material": str(random.choice(["paper80", "kitchen-foil", "tissue", "card", "paper90"])),
        "transform": {
            "translate": [0.0, 0.0, 0.02 + 0.03 * k],
            "rotate": {"axis": [1.0, 0.0, 0.0], "angle": turned},
        },
        "jitter": {"amplitude": float(random.choice([0.0, 1e-5, 1e-4])), "seed": int(random.integers(100))},
    }
    if random.random() < 0.5:
        sheet["cuts"] = [_cut(random) for _ in range(int(random.integers(1, 3)))]
    return sheet


def _cut(random: np.random.Generator) -> Tables:
    count = int(random.integers(2, 5))
    points = random.uniform(-0.01, 0.11, (count, 2)) * [1.0, random.choice([0.2, 1.0])]
    return {"line": (np.round(points, 2) if random.random() < 0.5 else points).tolist()}


def _obstacle(random: np.random.Generator) -> Tables:
    shapes: list[Tables] = [
        {"kind": "plane", "width": 0.4, "height": 0.4},
        {"kind": "sphere", "radius": 0.01},
        {"kind": "box", "extent": [0.02, 0.02, 0.01]},
    ]
    return {"shape": shapes[random.integers(3)], "transform": {"translate": [0.0, 0.0, -0.06]}}


class Exact(Observer):
    """Counts frames, and raises where a state is wrong."""

    def __init__(self) -> None:
        self.frames = 0

    def on_start(self, model: Model, state: State) -> None:
        self._check(model, state)

    def on_frame(self, model: Model, state: State, report: FrameReport) -> None:
        self._check(model, state)

    def _check(self, model: Model, state: State) -> None:
        assert count_nonfinite(state) == 0, "numbers are not finite"
        parts, offset = [np.zeros((0, 3), int)], 0
        for obstacle in model.obstacles:
            parts.append(obstacle.faces + offset)
            offset += obstacle.shapes.shape[1]
        found = sheet_intersections(state.x, state.mesh.face_nodes, state.obstacle_x, np.concatenate(parts))
        assert len(found) == 0, f"{len(found)} intersections in frame {state.frame}"
        self.frames += 1


def feed_stepped(folder: Path, number: int) -> str:
    """Build and step a scene; what it came to: "refused", "failed" or "done", and why."""
    watched = Exact()
    try:
        model, state, _ = build(scene_from_tables(make_tables(number), source="scene.toml", folder=str(folder)))
    except CrumpleError as error:
        return f"refused: {error}"
    try:
        run(model, state, [watched])
    except CrumpleError as error:
        return f"failed after {watched.frames} frames: {error}"
    return f"done: {watched.frames} frames"
