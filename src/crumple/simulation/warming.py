"""Compiles the kernels of a run before it starts, on a sheet of a few faces that does all that a run can do.

With compiled code in Numba's cache this takes a second; without, up to a minute.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary.handles import Handle
from crumple.boundary.obstacles import make_obstacle
from crumple.materials import preset
from crumple.mesh import plane, rectangle
from crumple.simulation.derived import Derived
from crumple.simulation.frame import adapt
from crumple.simulation.model import ContactOptions, Model, RemeshingOptions
from crumple.simulation.run import run
from crumple.sizing.options import SizingOptions
from crumple.state import Pins, State, initial_state


def compile_stepping() -> None:
    """Run one frame of a tiny scene with contact, friction, a handle and creases."""
    run(*_tiny_scene())


def compile_remeshing() -> None:
    """Remesh the sheet of the tiny scene, finer and coarser."""
    model, state = _tiny_scene()
    for size in (2e-3, 2e-2):
        sizing = SizingOptions(size_min=size, size_max=size)
        state = adapt(state, Derived(replace(model, remeshing=RemeshingOptions(sizing)), state))


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
