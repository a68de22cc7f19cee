"""The ledger of energy: analytic cases, and that it adds up, follows a remeshing and survives a resume."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crumple.boundary import make_obstacle
from crumple.energies.inertia import node_masses
from crumple.energies.wind import Wind
from crumple.materials import preset
from crumple.model.model import STANDARD_GRAVITY, Model
from crumple.options.contact import ContactOptions
from crumple.options.solver import SolverOptions
from crumple.recording.codec import flatten, restore
from crumple.shapes import plane, rectangle
from crumple.simulation.frame import advance_frame
from crumple.state import State, initial_state
from crumple.state.ledger import COLUMNS, INCOMES, LOSSES, Ledger
from crumple.stepping.schemes import integrate_power

PAPER = preset("paper80")
MESH, FLAT = rectangle(0.06, 0.06, 0.03)
FREE = Model((PAPER,), contact=ContactOptions(enabled=False))
MASS = float(node_masses(MESH, (PAPER,)).sum())


def after(model: Model, state: State, frames: int = 1) -> Ledger:
    for _ in range(frames):
        state, _ = advance_frame(model, state)
    return state.ledger


def test_what_falls_freely_turns_the_work_of_gravity_into_motion():
    ledger = after(FREE, initial_state(MESH, FLAT), 3)
    assert ledger.kinetic == pytest.approx(0.5 * MASS * (STANDARD_GRAVITY * 3 * FREE.frame_time) ** 2, rel=1e-3)
    assert ledger.gravity == pytest.approx(ledger.kinetic, rel=1e-3)
    assert abs(ledger.integrator) < 1e-3 * ledger.largest


def test_velocity_damping_takes_what_the_motion_loses():
    model = replace(FREE, gravity=(0.0, 0.0, 0.0), velocity_damping=10.0, solver=SolverOptions(max_step=0.002))
    ledger = after(model, initial_state(MESH, FLAT, v=np.tile([1.0, 0.0, 0.0], (len(FLAT), 1))), 2)
    left = np.exp(-2.0 * 10.0 * 2 * FREE.frame_time)
    assert ledger.start == pytest.approx(0.5 * MASS, rel=1e-12)
    assert ledger.velocity_damping == pytest.approx(0.5 * MASS * (1.0 - left), rel=5e-3)
    assert abs(ledger.integrator) < 1e-3 * ledger.start


def test_still_air_takes_energy_and_wind_gives_it():
    quick = SolverOptions(max_step=0.002)
    still = replace(FREE, gravity=(0.0, 0.0, 0.0), wind=Wind(density=1.2), solver=quick)
    slowed = after(still, initial_state(MESH, FLAT, v=np.tile([0.0, 0.0, 2.0], (len(FLAT), 1))))
    assert slowed.air < 0.0
    assert slowed.air == pytest.approx(slowed.kinetic + slowed.stored - slowed.start, rel=1e-2)
    blown = after(replace(still, wind=Wind(density=1.2, velocity=(0.0, 0.0, 2.0))), initial_state(MESH, FLAT))
    assert blown.air > 0.0
    assert abs(blown.integrator) < 1e-2 * blown.largest


def test_a_sheet_that_slides_to_rest_loses_its_motion_to_friction():
    corners, faces = plane(10.0)
    contact = ContactOptions(sheet_thickness=(PAPER.thickness,), friction=np.full((2, 2), 0.5))
    floor = make_obstacle("floor", faces, corners)
    model = Model((PAPER,), obstacles=(floor,), contact=contact, solver=SolverOptions(max_step=0.005))
    x = FLAT + np.array([0.0, 0.0, PAPER.thickness + 9e-4])
    state = initial_state(MESH, x, obstacle_x=model.obstacle_positions(0.0), obstacle_count=1)
    for _ in range(4):
        state, _ = advance_frame(model, state)
    thrown = state.replaced(v=np.tile([0.5, 0.0, 0.0], (len(x), 1)), has_acceleration=False, ledger=Ledger())
    ledger = after(model, thrown, 4)
    assert ledger.friction == pytest.approx(0.5 * MASS * 0.5**2, rel=1e-2)
    assert ledger.kinetic < 1e-3 * ledger.start


def test_what_is_changed_between_steps_is_no_loss_of_the_integrator():
    state, _ = advance_frame(FREE, initial_state(MESH, FLAT))
    kicked = after(FREE, state.replaced(v=state.v + np.array([1.0, 0.0, 0.0])))
    assert kicked.remeshing == pytest.approx(0.5 * MASS, rel=1e-6)
    assert abs(kicked.integrator) < 1e-3 * kicked.largest


def test_the_ledger_is_recorded_and_restored_to_the_bit():
    state, report = advance_frame(FREE, initial_state(MESH, FLAT))
    assert restore(State, flatten(state)).ledger == state.ledger
    assert report.ledger == state.ledger.entries()
    old = {path: value for path, value in flatten(state).items() if not path.startswith("ledger/")}
    assert restore(State, old).ledger == Ledger()


def test_columns_are_defined_and_add_up():
    entries = replace(Ledger(has_begun=True, start=3.0, kinetic=1.0), handles=2.0, friction=0.5, remeshing=0.25)
    numbers = entries.entries()
    assert list(numbers) == list(COLUMNS)
    put_in = numbers["start"] + numbers["remeshing"] + sum(numbers[name] for name in INCOMES)
    taken = numbers["kinetic"] + numbers["stored"] + sum(numbers[name] for name in LOSSES)
    assert numbers["integrator"] == pytest.approx(put_in - taken) == pytest.approx(3.75)
    assert Ledger().entries() == {}


@pytest.mark.parametrize(("count", "order"), [(3, 1), (2, 0)])
def test_powers_are_integrated_as_exactly_as_the_scheme_allows(count, order):
    gamma = 2.0 - np.sqrt(2.0)
    times = np.array([0.0, gamma, 1.0] if count == 3 else [0.0, 1.0])
    assert integrate_power(list(times**order), 0.1) == pytest.approx(0.1 / (order + 1))
