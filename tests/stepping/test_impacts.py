"""Impacts: angular momentum, restitution in long and short steps, starts within reach."""

from dataclasses import replace

import numpy as np
import pytest

from crumple.materials import preset
from crumple.model.derived import Derived
from crumple.options.solver import EULER, TR_BDF2, SolverOptions
from crumple.session.session import run
from crumple.solving.outcome import Ending, Outcome
from crumple.stepping.bookkeeping import contact_energy
from crumple.stepping.impacts import angular_defect, is_impact, jolt, meeting
from crumple.stepping.integration import StepPath, integrate
from crumple.stepping.parting import part_contacts
from crumple.stepping.schemes import GAMMA, Instant
from crumple.studies.validation.impacts import above_floor, collide, restitution

PAPER = preset("paper80")
COARSE = {"kind": "delaunay", "size": 0.05}


@pytest.fixture(scope="module")
def colliding():
    """A model and a state of two sheets just before they meet, the upper one tilted and turning."""
    model, state = above_floor(PAPER, 1.2e-3, **COARSE)
    model = replace(model, gravity=(0.0, 0.0, 0.0), obstacles=(), contact=replace(model.contact, enabled=False))
    v = np.cross([3.0, 20.0, 5.0], state.x - state.x.mean(axis=0))
    still = np.zeros((0, 3))
    return model, state.replaced(v=v, obstacle_x=still, obstacle_lag=np.zeros(0))


@pytest.mark.parametrize("scheme", [EULER, TR_BDF2])
def test_the_defect_is_what_a_step_changes_of_the_angular_momentum(colliding, scheme):
    model, state = colliding
    derived = Derived(model, state)
    state = integrate_once(state, derived)
    path = integrate(state, derived, 2e-3, scheme=scheme)
    mass = derived.mass
    before, after = (
        np.cross(one.x - mass @ one.x / mass.sum(), mass[:, None] * one.v).sum(axis=0)
        for one in (path.instants[0], path.instants[-1])
    )
    speed = max(np.sqrt(mass @ (one.v**2).sum(axis=1) / mass.sum()) for one in path.instants)
    change = np.linalg.norm(after - before) / (0.5 * derived.size * mass.sum() * speed)
    assert change > 1e-9
    assert angular_defect(path, 2e-3, mass, derived.size) == pytest.approx(change, rel=1e-2)


def integrate_once(state, derived):
    """The state after a short step, with an acceleration."""
    last = integrate(state, derived, 1e-4, scheme=EULER).instants[-1]
    return state.replaced(x=last.x, v=last.v, a=last.a, has_acceleration=True)


@pytest.mark.parametrize("speed", [0.2, 2.0])
def test_restitution_does_not_depend_on_the_step(speed):
    found = [restitution(PAPER, speed, max_step=step, **COARSE) for step in (0.04, 0.002)]
    assert np.abs(found).max() < 0.05
    assert abs(found[0] - found[1]) < 0.05


def test_prescribed_steps_are_not_elastic_by_accident():
    model, state = above_floor(PAPER, 5e-3, **COARSE)
    solver = SolverOptions(fixed_step=0.008)
    model = replace(model, gravity=(0.0, 0.0, 0.0), solver=solver)
    state = state.replaced(v=np.tile([0.0, 0.0, -1.0], (len(state.x), 1)))
    assert abs(run(model, state, frames=1).v[:, 2].mean()) < 0.02


def test_a_rebound_speed_beyond_the_impact_gives_it_back():
    model, state = above_floor(PAPER, 5e-3, **COARSE)
    contact = replace(model.contact, rebound_speed=1e3)
    model = replace(model, gravity=(0.0, 0.0, 0.0), contact=contact, solver=SolverOptions(max_step=2e-4))
    state = state.replaced(v=np.tile([0.0, 0.0, -1.0], (len(state.x), 1)))
    assert run(model, state, frames=1).v[:, 2].mean() > 0.9


def test_sheets_that_collide_keep_angular_momentum_and_gain_no_energy():
    found = collide(PAPER, 2.0, 0.3, max_step=0.04, **COARSE)
    assert found.momentum < 1e-6
    assert found.angular < 0.01
    assert found.energy < 1.0


def test_what_an_impact_takes_is_in_the_ledger():
    """A soft, thick contact layer that short steps resolve: what the damping takes is in its column."""
    model, state = above_floor(PAPER, 6e-3, **COARSE)
    contact = replace(model.contact, activation=5e-3, stiffness=100.0, friction=np.zeros((2, 2)), rebound_speed=0.2)
    model = replace(model, gravity=(0.0, 0.0, 0.0), contact=contact, solver=SolverOptions(max_step=5e-4))
    state = state.replaced(v=np.tile([0.0, 0.0, -0.5], (len(state.x), 1)))
    ledger = run(model, state, frames=2).ledger
    assert ledger.impacts > 0.7 * ledger.start
    assert abs(ledger.integrator) < 0.1 * ledger.start


def test_a_start_within_reach_is_moved_apart_and_a_start_at_rest_is_not():
    model, state = above_floor(PAPER, 3e-4, **COARSE)
    derived = Derived(model, state)
    apart = part_contacts(state, derived)
    assert contact_energy(apart, derived) < 1e-3 * contact_energy(state, derived)
    assert np.array_equal(apart.v, state.v)
    assert np.abs(apart.x - state.x).max() < model.contact.activation
    assert part_contacts(apart.replaced(steps=1), derived).x is apart.x
    laid = run(model, state, frames=3).replaced(steps=0)
    assert np.abs(part_contacts(laid, Derived(model, laid)).x - laid.x).max() < 1e-6


def path(forces, velocities, free=(1.0, 1.0)):
    """A step of TR-BDF2 with these forces of contact and velocities of its only node."""
    still = np.zeros((1, 3))
    instants = tuple(Instant(still, np.array([v]), still) for v in velocities)
    outcome = Outcome(still, np.zeros(0), Ending.CONVERGED, 1, 1, 0.0, 1.0, ())
    return StepPath(TR_BDF2, instants, outcome, contact_forces=tuple(np.array([f]) for f in forces), free=free)


UP, NONE = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)


def test_what_is_an_impact(colliding):
    model, _ = colliding
    mass, step = np.ones(1), 0.1
    steady = path([UP, UP, UP], [NONE, UP, NONE])
    sudden = path([NONE, NONE, UP], [(0.0, 0.0, -1.0), (0.0, 0.0, -1.0), NONE])
    balanced = path([NONE, NONE, UP], [UP, UP, UP])
    assert jolt(sudden, step, mass) == pytest.approx(0.1)
    assert jolt(steady, step, mass) == 0.0
    assert is_impact(model, sudden, step, mass)
    assert not is_impact(model, steady, step, mass)
    assert not is_impact(model, balanced, step, mass)
    assert not is_impact(replace(model, solver=SolverOptions(integrator=EULER)), sudden, step, mass)


def test_when_surfaces_meet():
    assert meeting(path([], [], free=(0.5, 1.0))) == pytest.approx(0.5 * GAMMA)
    assert meeting(path([], [], free=(1.0, 0.5))) == pytest.approx(GAMMA + 0.5 * (1.0 - GAMMA))
