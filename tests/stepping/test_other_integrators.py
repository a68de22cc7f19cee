"""The integrators of the student's simulator: Verlet and semi-implicit Euler, with the sheets of Baraff and Witkin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulation_samples import SIDE, falling_sheet, free_sheet, tilt

import crumple
from crumple.contact import find_intersections
from crumple.energies.inertia import node_masses
from crumple.materials.material import Material
from crumple.model.critical import critical_step
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.options.solver import SolverOptions
from crumple.recording.frame import state_digest
from crumple.runtime.errors import InputError, SimulationError
from crumple.shapes import rectangle
from crumple.simulation.frame import advance_once
from crumple.state import initial_state
from crumple.stepping.step import measure_energies

CLOTH = Material(
    "cloth",
    thickness=1e-3,
    density=0.2,
    membrane=np.array([200.0, 0.0, 200.0, 120.0]),
    bending=np.full(3, 1e-5),
    model="baraff-witkin",
)


def fluttering(integrator: str, step: float | None = None, **others):
    """A square of cloth in empty space that is thrown with a velocity that stretches, bends and turns it."""
    mesh, flat = rectangle(SIDE, SIDE, 0.025, kind="delaunay")
    s = flat / SIDE
    waves = np.stack([np.sin(7 * s[:, 1]), np.cos(5 * s[:, 0] + 2), np.sin(6 * s[:, 0]) * np.cos(4 * s[:, 1])], axis=1)
    solver = SolverOptions(integrator=integrator, fixed_step=step, min_step=1e-9)
    model = Model((CLOTH,), gravity=(0.0, 0.0, 0.0), solver=solver, contact=ContactOptions(enabled=False), **others)
    return model, initial_state(mesh, tilt(flat), v=0.2 * waves)


def advance(model, state, steps):
    """The state after a number of steps of the prescribed length, and the energy after each [J]."""
    derived = Derived(model, state)
    energies, end = [], state.time + 1e3
    for _ in range(steps):
        fixed = model.solver.fixed_step
        state, _, _ = advance_once(state, derived, min(end, state.time + fixed))
        energies.append(sum(measure_energies(state, derived).values()))
    return state, np.array(energies)


@pytest.fixture(scope="module")
def critical():
    return Derived(*fluttering("verlet")).critical_step


def test_the_critical_step_is_that_of_the_dense_matrix(critical):
    model, state = fluttering("verlet")
    derived = Derived(model, state)
    count = 3 * len(state.x)
    stiffness = np.zeros((count, count))
    for kind, term in derived.terms:
        for energy in term.stored(state, 0.0) if kind.is_in_play else ():
            blocks, k = energy.hessian(state.x, True), energy.stencil.shape[1]
            pairs = [(a, b) for a in range(k) for b in range(a, k)]
            for nodes, element in zip(energy.stencil, blocks, strict=True):
                for (a, b), block in zip(pairs, element, strict=True):
                    rows, columns = 3 * nodes[a] + np.arange(3), 3 * nodes[b] + np.arange(3)
                    stiffness[np.ix_(rows, columns)] += block
                    if a != b:
                        stiffness[np.ix_(columns, rows)] += block.T
    root = np.repeat(np.sqrt(node_masses(state.mesh, model.materials)), 3)
    largest = np.linalg.eigvalsh(stiffness / root[:, None] / root)[-1]
    assert critical == pytest.approx(2.0 / np.sqrt(largest), rel=2e-3)


def test_verlet_is_stable_at_half_the_critical_step(critical):
    model, state = fluttering("verlet", 0.5 * critical)
    _, energies = advance(model, state, 400)
    assert energies.max() < 1.2 * energies[:20].max()
    assert energies.min() > 0.8 * energies[:20].min()


def test_verlet_diverges_at_twice_the_critical_step_and_says_so(critical):
    model, state = fluttering("verlet", 2.0 * critical)
    with pytest.raises(SimulationError, match=r"unstable: the step of .* is (1\.9|2\.?0?)\d* times the critical one"):
        advance(model, state, 60)


def test_semi_implicit_is_stable_at_a_hundred_critical_steps(critical):
    model, state = fluttering("semi-implicit", 100.0 * critical)
    last, energies = advance(model, state, 200)
    assert np.isfinite(last.x).all()
    assert energies.max() <= 1.01 * energies[0]
    assert energies[-1] < energies[0]


def test_verlet_chooses_a_stable_step_itself(critical):
    model, state = fluttering("verlet")
    _, report, _ = advance_once(state, Derived(model, state), 0.04)
    assert 0.25 * critical < report.step <= 0.5 * critical


def test_sheets_that_are_too_stiff_for_verlet_are_refused(critical):
    model, state = fluttering("verlet")
    model = replace(model, solver=replace(model.solver, min_step=critical))
    with pytest.raises(SimulationError, match=r"too stiff for Verlet's steps: .* less than solver.min_step"):
        advance_once(state, Derived(model, state), 0.04)


def test_a_message_tells_what_damping_costs_an_explicit_step():
    model, state = fluttering("verlet")
    slow = replace(model, materials=(replace(CLOTH, damping=1.0),), solver=replace(model.solver, min_step=1e-6))
    undamped = Derived(model, state).critical_step
    with pytest.raises(SimulationError, match=f"without the material's damping of 1 s .* {undamped:.3g} s"):
        crumple.run(slow, state, frames=1)


def test_the_semi_implicit_step_is_the_linear_system_of_the_paper(critical):
    step = 20.0 * critical
    model, state = fluttering("semi-implicit", step)
    derived = Derived(model, state)
    energies = [e for kind, term in derived.terms if kind.is_in_play for e in term.stored(state, 0.0)]
    moved, _, _ = advance_once(state, derived, step)
    change = moved.v - state.v

    def force(x):
        total = np.zeros_like(x)
        for energy in energies:
            np.add.at(total, energy.stencil, -energy.gradient(x))
        return total

    def stiffness(direction):  # K d, by differences of the force
        size = 1e-7 / np.abs(direction).max()
        return -(force(state.x + size * direction) - force(state.x - size * direction)) / (2.0 * size)

    left = derived.mass[:, None] * change + step**2 * stiffness(change)
    right = step * (force(state.x) - step * stiffness(state.v))
    np.testing.assert_allclose(left, right, atol=1e-6 * np.abs(right).max())


def test_verlet_follows_the_same_path_as_the_default(critical):
    """Positions after the same time, with steps of a quarter and an eighth of the critical one."""
    reference_model, start = fluttering("tr-bdf2", critical / 16.0)
    reference_model = replace(reference_model, solver=replace(reference_model.solver, bending="hinge"))
    wanted, _ = advance(reference_model, start, 320)
    errors = []
    for share, steps in ((4.0, 80), (8.0, 160)):
        model, state = fluttering("verlet", critical / share)
        # v is that of the middle of the step before
        force = Derived(replace(model, solver=replace(model.solver, integrator="tr-bdf2", bending="hinge")), state)
        pulls = [e for kind, term in force.terms if kind.is_in_play for e in term.stored(state, 0.0)]
        total = np.zeros_like(state.x)
        for energy in pulls:
            np.add.at(total, energy.stencil, -energy.gradient(state.x))
        half = state.v - 0.5 * critical / share * total / force.mass[:, None]
        found, _ = advance(model, state.replaced(v=half), steps)
        errors.append(np.abs(found.x - wanted.x).max())
    assert errors[1] < 0.4 * errors[0]
    assert errors[1] < 1e-4


@pytest.mark.parametrize("integrator", ["verlet", "semi-implicit"])
def test_nothing_passes_through_anything(integrator):
    model, state = falling_sheet(0.03)
    soft = replace(CLOTH, thickness=1e-4)
    options = replace(model.solver, integrator=integrator)
    model = replace(model, materials=(soft,), solver=options, duration=0.12)
    sim = crumple.Simulation(model=model, state=state)
    touched = 0
    for _ in range(3):
        touched += sim.advance_frame().contacts_max
        surface = Derived(model, sim.state).surface(sim.time)
        assert len(find_intersections(surface, np.concatenate([sim.state.x, sim.state.obstacle_x]))) == 0
    assert touched > 0


def test_velocities_die_away_at_their_rate():
    model, state = free_sheet(0.05, integrator="implicit-euler", fixed_step=0.01)
    model = replace(model, velocity_damping=5.0)
    before = node_masses(state.mesh, model.materials) @ state.v
    for _ in range(4):
        state, _, _ = advance_once(state, Derived(model, state), state.time + 0.01)
    after = node_masses(state.mesh, model.materials) @ state.v
    np.testing.assert_allclose(after, before / 1.05**4, rtol=1e-6)
    with pytest.raises(InputError, match="velocity_damping"):
        replace(model, velocity_damping=-1.0)


def test_damping_shortens_the_critical_step():
    model, state = fluttering("verlet")
    derived = Derived(model, state)
    kept = [e for kind, term in derived.terms if kind.is_in_play for e in term.stored(state, 0.0)]
    free = critical_step(kept, state.x, derived.mass, 0.0)
    assert critical_step(kept, state.x, derived.mass, free) == pytest.approx(free * (np.sqrt(2.0) - 1.0), rel=1e-6)


@pytest.mark.parametrize("integrator", ["verlet", "semi-implicit"])
def test_runs_with_remeshing_are_resumed_to_the_same_bits(integrator, tmp_path):
    model, state = fluttering(integrator)
    sizing = SizingOptions(size_min=0.012, size_max=0.05, refine_angle=0.2)
    model = replace(model, remeshing=RemeshingOptions(sizing), frame_time=0.02)
    whole = crumple.run(model, state, frames=2)
    assert whole.mesh.face_count != state.mesh.face_count
    sim = crumple.Simulation(model=model, state=state)
    sim.record(tmp_path / "run")
    sim.run(1)
    sim.close()
    with crumple.Simulation.resume(tmp_path / "run") as again:
        assert state_digest(again.run(2)) == state_digest(whole)
