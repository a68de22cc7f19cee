"""Compiles the kernels of a run before it starts, on a sheet of a few faces that does all that a run can do.

With compiled code in Numba's cache this takes a second; without, up to a minute.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary.handles import Handle
from crumple.boundary.obstacles import make_obstacle
from crumple.materials import preset
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.remeshing import isotropic_sizing, remesh
from crumple.runtime.compiled import always_spread
from crumple.shapes import plane, rectangle
from crumple.simulation.demands import state_sizing
from crumple.simulation.engine import PhysicsEngine
from crumple.simulation.frame import adapt
from crumple.state import Pins, State, initial_state


def compile_stepping() -> None:
    """Run one frame of a tiny scene with contact, friction, a handle and creases."""
    PhysicsEngine(*_tiny_scene()).advance_frame()


def compile_large() -> None:
    """The same for large sheets: with the general solver, and loops for many threads."""
    model, state = _tiny_scene()
    model = replace(model, solver=replace(model.solver, linear_solver="fronts"))
    with always_spread():
        PhysicsEngine(model, state).advance_frame()


def compile_sizing() -> None:
    """Compute the sizing field of the tiny scene."""
    model, state = _tiny_scene()
    state_sizing(_remeshed(model, 2e-3), state)


def compile_edits() -> None:
    """Remesh the sheet of the tiny scene without its surroundings: half of all compilation, and none of it is needed
    for the steps, so that another process can do it at the same time."""
    _, state = _tiny_scene()
    remesh(
        state.mesh,
        isotropic_sizing(state.mesh, 2e-3),
        x=state.x,
        v=state.v,
        y=state.y,
        node_fields={"acceleration": state.v},
        face_fields={"damage": state.damage},
    )


def compile_remeshing() -> None:
    """Remesh the tiny scene as a run does, finer and coarser."""
    model, state = _tiny_scene()
    for size in (2e-3, 2e-2):
        state = adapt(state, Derived(_remeshed(model, size), state))


def _remeshed(model: Model, size: float) -> Model:
    """The model with remeshing to edges of this length [m]."""
    return replace(model, remeshing=RemeshingOptions(SizingOptions(size_min=size, size_max=size)))


def _tiny_scene() -> tuple[Model, State]:
    mesh, x = rectangle(0.02, 0.02, 0.005)
    x = x - x.mean(axis=0)
    x[:, 2] += 5e-4 + 2.0 * x[:, 0] ** 2
    points, faces = plane(0.1)
    floor = make_obstacle("floor", faces, points)
    model = Model(
        (replace(preset("paper80"), yield_curvature=1.0),),
        handles=(Handle("corner"),),
        obstacles=(floor,),
        contact=ContactOptions(sheet_thickness=(1e-4,), friction=np.full((2, 2), 0.3)),
        frame_time=2e-3,
        duration=2e-3,
    )
    node = np.zeros(1, np.int32)
    pins = Pins(node, node.copy(), x[:1].copy())
    state = initial_state(mesh, x, obstacle_x=floor.positions(0.0), obstacle_count=1, pins=pins)
    return model, state
