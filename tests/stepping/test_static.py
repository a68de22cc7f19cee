"""Static mode ends in equilibrium."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from simulation_samples import PAPER

from crumple.boundary import Handle
from crumple.energies.inertia import node_masses
from crumple.linalg import add_vectors
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.solver import SolverOptions
from crumple.session.session import run
from crumple.shapes import rectangle, side_nodes
from crumple.state import Pins, initial_state


def test_forces_balance_and_nothing_moves():
    mesh, x = rectangle(0.08, 0.1, 0.02)
    held = side_nodes(mesh, "bottom")
    pins = Pins(held, np.zeros(len(held), np.int32), x[held])
    solver = SolverOptions(
        mode="static", tolerance=1e-10, speed_tolerance=1e-6, fixed_step=1.0, max_step=1.0, max_iterations=300
    )
    model = Model(
        (PAPER,), handles=(Handle("line", stiffness=1e4),), gravity=(0.0, 0.5, -9.81), solver=solver, frame_time=1.0
    )
    last = run(model, initial_state(mesh, x, pins=pins), frames=3)
    mass = node_masses(mesh, model.materials)
    force = mass[:, None] * np.array(model.gravity)
    for energy in Derived(replace(model, handles=()), last).stored(last):
        add_vectors(energy.stencil, energy.gradient(last.x, last.half_turn), -1.0, force)
    free = np.setdiff1d(np.arange(mesh.node_count), held)
    assert np.abs(force[free]).max() < 1e-5 * 9.81 * mass.max()
    assert last.x[free, 2].max() < -0.005  # it hangs
    assert np.all(last.v == 0.0)
