"""Small models for the tests of whole runs."""

from __future__ import annotations

import numpy as np

from crumple.boundary import Key, make_motion, make_obstacle
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.solver import SolverOptions
from crumple.shapes import plane, rectangle, sphere
from crumple.state import State, initial_state

PAPER = Material.from_stiffness("paper", stretch=1e5, bend=4e-4, thickness=1e-4, density=0.08, poisson=0.2)
SIDE = 0.1


def free_sheet(size: float = 0.02, *, kind: str = "delaunay", **solver: object) -> tuple[Model, State]:
    """A square of paper in empty space, tilted, with a velocity field that stretches, bends, moves and turns it."""
    mesh, flat = rectangle(SIDE, SIDE, size, kind=kind)  # type: ignore[arg-type]
    x = tilt(flat)
    s = flat / SIDE
    waves = np.stack([np.sin(7 * s[:, 1]), np.cos(5 * s[:, 0] + 2), np.sin(6 * s[:, 0]) * np.cos(4 * s[:, 1])], axis=1)
    v = 0.3 * waves + [0.4, -0.2, 0.7] + np.cross([3.0, -2.0, 1.0], x - x.mean(axis=0))
    options = SolverOptions(**({"tolerance": 1e-12, "speed_tolerance": 1e-8} | solver))  # type: ignore[arg-type]
    model = Model((PAPER,), gravity=(0.0, 0.0, 0.0), solver=options, contact=ContactOptions(sheet_thickness=(1e-4,)))
    return model, initial_state(mesh, x, v=v)


def falling_sheet(size: float = 0.02, *, friction: float = 0.3) -> tuple[Model, State]:
    """A square of paper that falls on a ball at rest."""
    mesh, x = rectangle(SIDE, SIDE, size, kind="delaunay")
    points, faces = sphere(0.03, subdivisions=2)
    ball = make_obstacle("ball", faces, points, thickness=1e-4)
    contact = ContactOptions(sheet_thickness=(1e-4,), friction=np.full((2, 2), friction))
    model = Model((PAPER,), obstacles=(ball,), contact=contact, duration=0.32)
    start = x + np.array([-0.45 * SIDE, -0.52 * SIDE, 0.035])
    state = initial_state(
        mesh,
        start,
        v=np.tile([0.0, 0.0, -0.5], (len(x), 1)),
        obstacle_x=model.obstacle_positions(0.0),
        obstacle_count=1,
    )
    return model, state


def press(closing: float = 0.02) -> tuple[Model, State]:
    """A sheet 1 mm thick between a plate and one that comes down by `closing` [m], farther than it can, and up."""
    mesh, x = rectangle(SIDE, SIDE, 0.05)
    corners, faces = plane(0.3)
    down = make_motion("down", keys=[Key(0.0), Key(0.2, translate=(0.0, 0.0, -closing)), Key(0.4)])
    lower = make_obstacle("lower", faces, corners, thickness=1e-3)
    upper = make_obstacle(
        "upper", faces, corners + np.array([0.0, 0.0, 0.01]), inside=True, motion=down, thickness=1e-3
    )
    model = Model(
        (PAPER,),
        obstacles=(lower, upper),
        contact=ContactOptions(sheet_thickness=(1e-3,), friction=np.zeros((3, 3))),
        duration=0.2,
    )
    start = x + np.array([-0.5 * SIDE, -0.5 * SIDE, 0.004])
    return model, initial_state(mesh, start, obstacle_x=model.obstacle_positions(0.0), obstacle_count=2)


def tilt(x: np.ndarray) -> np.ndarray:
    """`x` turned about the axis (1, 2, 3) by one radian."""
    k = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    return np.cos(1.0) * x + np.sin(1.0) * np.cross(k, x) + (1.0 - np.cos(1.0)) * np.outer(x @ k, k)
