"""What a free sheet keeps: momentum, its shape when turned, and no more energy than it had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulation_samples import falling_sheet, free_sheet, tilt

from crumple.contract.term import kinetic_energy
from crumple.energies.inertia import node_masses
from crumple.linalg import add_vectors
from crumple.model.derived import Derived
from crumple.session.session import run
from crumple.simulation.observers import Statistics


def test_linear_momentum_of_a_free_sheet_is_kept(record_property):
    model, state = free_sheet(fixed_step=2e-3)
    mass = node_masses(state.mesh, model.materials)
    steps = Statistics()
    last = run(replace(model, frame_time=0.01), state, [steps], frames=10)
    before, after = mass @ state.v, mass @ last.v
    assert len(steps.steps) == 50
    assert max(step.energies["membrane"] + step.energies["bending"] for step in steps.steps) > 1e-6  # it does deform
    assert np.linalg.norm(after - before) <= 1e-10 * np.linalg.norm(before)

    spin = [np.cross(s.x - mass @ s.x / mass.sum(), mass[:, None] * s.v).sum(axis=0) for s in (state, last)]
    lost = np.linalg.norm(spin[1] - spin[0]) / np.linalg.norm(spin[0])
    record_property("angular momentum lost", f"{lost:.3g}")
    assert lost < 0.02  # 7 % with implicit Euler


def test_implicit_euler_loses_angular_momentum_at_first_order_in_the_step():
    lost = []
    for step in (2e-3, 1e-3):
        model, state = free_sheet(fixed_step=step, integrator="implicit-euler")
        mass = node_masses(state.mesh, model.materials)
        last = run(replace(model, frame_time=0.02), state, frames=1)
        spin = [np.cross(s.x - mass @ s.x / mass.sum(), mass[:, None] * s.v).sum(axis=0) for s in (state, last)]
        lost.append(np.linalg.norm(spin[1] - spin[0]))
    assert lost[1] / lost[0] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("kind", ["equilateral", "right", "delaunay"])
def test_a_rigid_rotation_produces_no_force(kind):
    model, state = free_sheet(0.03, kind=kind)
    x = np.ascontiguousarray(tilt(tilt(state.mesh.node_rest)) + np.array([0.3, -0.1, 0.2]))
    force, scale = np.zeros_like(x), 0.0
    for energy in Derived(model, state).stored(state):
        found = energy.derivatives(x, state.half_turn)
        add_vectors(energy.stencil, found.vectors, 1.0, force)
        scale = max(scale, float(np.abs(found.blocks).max()) * 0.1)
    assert np.abs(force).max() <= 1e-13 * scale

    at_rest = state.replaced(x=x, v=np.zeros_like(x))
    last = run(model, at_rest, frames=2)
    assert np.abs(last.x - x).max() < 1e-13


@pytest.mark.parametrize(("integrator", "rise", "kept"), [("implicit-euler", 1e-9, 0.2), ("tr-bdf2", 2e-3, 0.85)])
def test_energy_of_a_free_sheet_does_not_grow(integrator, rise, kept):
    """Implicit Euler loses energy in every step. TR-BDF2 keeps nearly all of it; stiff waves that it resolves in part
    may give back a little of what the step before has taken, never more than there was."""
    model, state = free_sheet(step_error=0.05, integrator=integrator)
    steps = Statistics()
    run(model, state, [steps], frames=4)
    total = np.array([sum(step.energies.values()) for step in steps.steps])
    start = kinetic_energy(node_masses(state.mesh, model.materials), state.v)
    assert total.max() <= start * (1 + 1e-9)
    assert np.all(np.diff(total) <= rise * total[:-1])
    assert kept * start < total[-1] < start


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_energy_does_not_grow_in_a_collision(friction):
    """Kinetic, elastic and potential energy stay below what they were: the obstacle at rest does no work.

    Steps end when Newton's method could gain no more than the tolerance, which is the most that may appear.
    """
    model, state = falling_sheet(friction=friction)
    steps = Statistics()
    run(model, state, [steps])
    assert max(step.contacts for step in steps.steps) > 0
    mass = node_masses(state.mesh, model.materials)
    start = kinetic_energy(mass, state.v) + 9.81 * float(mass @ state.x[:, 2])
    total = np.array([sum(step.energies.values()) for step in steps.steps])
    assert total.max() <= start + model.solver.tolerance * abs(start)
