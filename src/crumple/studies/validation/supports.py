"""static-support: sheets that are let down on supports in static mode come to rest where moving ones do.

A sheet starts above a box (or within the reach of its contact) and hangs over its edge, lies on two boxes, or hangs
over a rod. Friction alone holds it. Where nothing can hold it, the run ends with an error that names the sheet."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from crumple.boundary import Obstacle, make_obstacle
from crumple.materials import preset
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.solver import SolverOptions
from crumple.runtime.errors import SimulationError
from crumple.runtime.typing import Floats, Ints
from crumple.session.session import run
from crumple.shapes import box, cylinder_surface, rectangle
from crumple.shapes.sheets import Kind
from crumple.state import State, initial_state
from crumple.studies.validation.result import CaseResult, Check, relative_check

LENGTH, WIDTH = 0.2, 0.06
FRICTION = 0.3
OVERHANGS = (0.01, 0.03, 0.06)
FALLING = 0.13
"""Overhang [m] with which more than half of the sheet is in the air."""
MESHES: tuple[tuple[Kind, float], ...] = (("equilateral", 0.012), ("delaunay", 0.015))
PAPER = preset("paper80")
Mode: TypeAlias = Literal["static", "dynamic"]
MODES: tuple[Mode, Mode] = ("static", "dynamic")
Box: TypeAlias = tuple[float, tuple[float, float, float]]
"""Side and centre [m]."""


def validate_static_support() -> CaseResult:
    """Lowest point against that of the moving sheet at rest: within 2 % of the droop and 0.3 mm; an error where nothing
    holds the sheet."""
    checks = []
    for kind, size in MESHES:
        for overhang in OVERHANGS:
            for height in (5e-3, 4e-4):
                still, moving = (hang_over_box(mode, overhang, height, kind, size) for mode in MODES)
                low = [float(state.x[:, 2].min()) for state in (still, moving)]
                place = f"{1e3 * overhang:g} mm over the edge from {1e3 * height:g} mm, {kind}"
                tolerance = 3e-4 + 0.02 * abs(low[1])
                checks.append(Check(f"lowest point [m], {place}", low[1], low[0], tolerance))
                slid = float(np.abs(still.x[:, 0] - moving.x[:, 0]).max())
                checks.append(Check(f"farthest that nodes are apart along the sheet [m], {place}", 0.0, slid, 1e-3))
        still, moving = (lie_on_two(mode, kind, size) for mode in MODES)
        low = [float(state.x[:, 2].min()) for state in (still, moving)]
        checks.append(Check(f"lowest point between two boxes [m], {kind}", low[1], low[0], 3e-4 + 0.02 * abs(low[1])))
        still, moving = (hang_over_rod(mode, kind, size) for mode in MODES)
        low = [float(state.x[:, 2].min()) for state in (still, moving)]
        checks.append(relative_check(f"lowest point over a rod [m], {kind}", low[1], low[0], 0.02))
        checks.append(Check(f"a sheet that nothing holds is named, {kind}", 1.0, float(names_falling(kind, size)), 0.0))
    return CaseResult("static-support", tuple(checks))


def hang_over_box(mode: Mode, overhang: float, height: float, kind: Kind, size: float) -> State:
    """A sheet of which `overhang` [m] is beyond the edge of a box at x = 0, let down from `height` [m] above it."""
    return let_down(mode, [(1.0, (-0.5, 0.0, -0.5))], overhang - 0.5 * LENGTH, height, kind, size)


def lie_on_two(mode: Mode, kind: Kind, size: float) -> State:
    """A sheet on two boxes, 10 cm apart."""
    return let_down(mode, [(1.0, (-0.55, 0.0, -0.5)), (1.0, (0.55, 0.0, -0.5))], 0.0, 3e-3, kind, size)


def hang_over_rod(mode: Mode, kind: Kind, size: float) -> State:
    """A sheet across a rod of 2 cm."""
    corners, faces = cylinder_surface(0.01, 3.0 * WIDTH, 24)
    points = np.ascontiguousarray(np.asarray(corners)[:, [1, 2, 0]])
    return _run(mode, [_obstacle("rod", points - [0.0, 0.0, 0.01], faces)], 0.0, 2e-3, kind, size)


def let_down(
    mode: Mode,
    boxes: list[Box],
    middle: float,
    height: float,
    kind: Kind,
    size: float,
) -> State:
    """A sheet whose middle is at x = `middle` [m], let down on boxes, each with its side and its centre [m]."""
    obstacles = []
    for number, (side, centre) in enumerate(boxes):
        corners, faces = box((side, side, side))
        obstacles.append(_obstacle(f"box {number}", corners + np.asarray(centre), faces))
    return _run(mode, obstacles, middle, height, kind, size)


def names_falling(kind: Kind, size: float) -> bool:
    """Whether a static run of a sheet that must fall ends with an error that names it."""
    try:
        hang_over_box("static", FALLING, 5e-3, kind, size)
    except SimulationError as error:
        return "'paper'" in str(error)
    return False


def _obstacle(name: str, points: Floats, faces: Ints) -> Obstacle:
    return make_obstacle(name, faces, np.ascontiguousarray(points))


def _run(mode: Mode, obstacles: list[Obstacle], middle: float, height: float, kind: Kind, size: float) -> State:
    """The sheet at rest: after two static frames, or 1.6 s of motion with damping."""
    mesh, flat = rectangle(LENGTH, WIDTH, size, kind=kind)
    x = flat - flat.mean(axis=0)
    x[:, 0] += middle
    x[:, 2] = PAPER.thickness + height
    parts = 1 + len(obstacles)
    contact = ContactOptions(sheet_thickness=(PAPER.thickness,), friction=np.full((parts, parts), FRICTION))
    is_static = mode == "static"
    model = Model(
        (PAPER,),
        ("paper",),
        obstacles=tuple(obstacles),
        contact=contact,
        solver=SolverOptions(mode=mode),
        velocity_damping=0.0 if is_static else 5.0,
        duration=0.08 if is_static else 1.6,
    )
    state = initial_state(mesh, x, obstacle_x=model.obstacle_positions(0.0), obstacle_count=len(obstacles))
    return run(model, state)
