"""Pictures of a simulation that goes on, from a camera that stands still."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crumple.mesh.texture import pattern_boxes
from crumple.model.model import Model
from crumple.recording.obstacles import obstacle_surface
from crumple.rendering.camera import fit_camera
from crumple.rendering.sheets import model_kinds
from crumple.rendering.stage import Plan, Stage
from crumple.rendering.style import Style
from crumple.runtime.typing import Floats
from crumple.state import State

VIEW = "high"
GROUND = 1e-4
"""How far below the table the ground is drawn [m]."""


class Photographer:
    """Draws states of a `model` with one camera that sees the middle of the `workspace` (2, 3) [m]; `size` in pixels.

    Obstacles named "table" are drawn as the ground.
    """

    def __init__(self, model: Model, state: State, size: tuple[int, int], workspace: Floats, side: float) -> None:
        self._obstacles = obstacle_surface(model) if model.obstacles else None
        floors = [k for k, obstacle in enumerate(model.obstacles) if obstacle.name == "table"]
        boxes = pattern_boxes(state.mesh)
        plan = Plan(
            size=size,
            scale=float(np.linalg.norm(workspace[1] - workspace[0])),
            centre=workspace.mean(axis=0)[:2],
            ground=-GROUND,
            azimuth=0.0,
            style=Style(quality="draft"),
            kinds=model_kinds(model, state.mesh),
            boxes=np.concatenate([boxes[:, 0], boxes[:, 1] - boxes[:, 0]], axis=1),
            floors=frozenset(floors),
        )
        self._stage = Stage(plan)
        half = 0.65 * side
        corners = [[x, y, z] for x in (-half, half) for y in (-half, half) for z in (0.0, 0.6 * side)]
        self._camera = fit_camera(np.array(corners), size[0] / size[1], VIEW)

    def draw(self, state: State) -> NDArray[np.uint8]:
        """The picture of `state`, (height, width, 3)."""
        return self._stage.draw(state, self._obstacles, self._camera)
