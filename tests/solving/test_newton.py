"""Newton's method: convergence, the watchdog, collisions on the way, obstacles without room."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from crumple.contact import has_intersections, make_surface
from crumple.contract import Energy
from crumple.energies import make_hinges, make_membranes
from crumple.energies.nodal import make_nodal
from crumple.linalg import make_solver
from crumple.materials import Material
from crumple.runtime.timing import PhaseTimer
from crumple.shapes import plane, rectangle
from crumple.solving.backoff import Backoff
from crumple.solving.lag import Lag
from crumple.solving.newton import Newton
from crumple.solving.newton_options import NEVER, NewtonOptions, farthest
from crumple.solving.outcome import Ending
from crumple.solving.pose import make_pose
from crumple.solving.potential import Potential
from crumple.solving.step_contact import StepContact
from crumple.solving.stop import GOES_ON, MET_LOOSELY, judge_stop
from crumple.solving.system import NewtonSystem

PAPER = Material.from_stiffness("paper", stretch=5e5, bend=4e-4, thickness=1e-4, density=0.08)


def bent_sheet(step: float = 0.01):
    """A small sheet thrown so that it bends: the potential of one step and where it starts."""
    mesh, x = rectangle(0.06, 0.04, 0.01)
    timer = PhaseTimer()
    membranes = make_membranes(mesh, (PAPER,)).at(x, np.zeros((mesh.face_count, 3)))
    hinges = make_hinges(mesh, (PAPER,)).at(np.zeros(len(mesh.hinges.nodes)))
    mass = np.asarray(mesh.node_area) * 0.08
    v = np.zeros_like(x)
    v[:, 2] = 3.0 * np.cos(60.0 * x[:, 0]) + np.sin(90.0 * x[:, 1])
    nodes = np.arange(len(x), dtype=np.int32).reshape(-1, 1)
    inertia = make_nodal(nodes, x + step * v, mass / step**2)
    energies = [inertia, *(energy for energy, _ in [*membranes, *hinges])]
    system = NewtonSystem(len(x), [energy.stencil for energy in energies], make_solver(), timer)
    return mesh, x, energies, system, timer


def test_converges_to_a_stationary_point():
    _, x, energies, system, timer = bent_sheet()
    potential = Potential(len(x), energies, None, timer)
    start = potential.value(make_pose(x))
    newton = Newton(potential, system, NewtonOptions(energy=1e-18, distance=1e-10, max_iterations=200))
    outcome = newton.minimise(x, np.zeros((0, 3)), np.zeros(len(x), np.int32), hold=False)
    assert outcome.ending is Ending.CONVERGED
    assert potential.value(make_pose(outcome.x)) < start
    scale = np.abs(potential.gradient(make_pose(x))).max()
    assert np.abs(potential.gradient(make_pose(outcome.x))).max() < 1e-6 * scale
    assert np.array_equal(x, bent_sheet()[1]), "the starting point must not be changed"


def test_stops_where_the_predicted_decrease_is_small():
    _, x, energies, system, timer = bent_sheet()
    potential = Potential(len(x), energies, None, timer)
    part = np.zeros(len(x), np.int32)
    values = []
    for energy in (1e-4, 1e-6, 1e-16):
        newton = Newton(potential, system, NewtonOptions(energy=energy, distance=np.inf))
        outcome = newton.minimise(x, np.zeros((0, 3)), part, hold=False)
        values.append(potential.value(make_pose(outcome.x)))
    assert values[0] - values[2] < 20 * 1e-4
    assert values[1] - values[2] < 20 * 1e-6


def test_a_slow_solve_may_be_rougher_after_some_patience():
    options = NewtonOptions(energy=1e-6, distance=1e-3, slow_patience=5, slow_factor=30.0, patience=12)
    x, small = np.zeros((2, 3)), np.full((2, 3), 1e-4)

    def is_met(predicted: float, iterations: int, before: float, direction: np.ndarray = small) -> bool:
        stop = options.stop_at(x)
        return judge_stop(stop, predicted, farthest(direction), iterations, before) == MET_LOOSELY

    assert is_met(5e-4, 5, 1e-3)
    assert not is_met(5e-4, 4, 1e-3), "too early"
    assert not is_met(5e-4, 5, 1e-2), "it converges well"
    assert not is_met(1e-3, 5, 2e-3), "the error is more than thirty times as large"
    assert not is_met(5e-4, 5, 1e-3, 1e3 * small), "a node is far off"
    never = replace(options, slow_patience=NEVER).stop_at(x)
    assert judge_stop(never, 5e-4, farthest(small), 11, 1e-3) == GOES_ON


@pytest.mark.parametrize("pause", [1, 8])
def test_after_a_failure_the_exact_hessian_waits(pause, monkeypatch):
    _, x, energies, system, timer = bent_sheet()
    options = NewtonOptions(energy=0.0, distance=0.0, max_iterations=12, exact_pause=pause)
    newton = Newton(Potential(len(x), energies, None, timer), system, options)
    directions = newton.directions
    expand, attempts = directions._expand, []

    def indefinite(pose, obstacles, *, exact):
        attempts.extend([directions.iterations] if exact else [])
        expansion, solution = expand(pose, obstacles, exact=False)
        return expansion, None if exact else solution

    monkeypatch.setattr(directions, "_expand", indefinite)
    newton.minimise(x, np.zeros((0, 3)), np.zeros(len(x), np.int32), hold=False)
    assert attempts == ([1, 3, 6, 11] if pause == 1 else [1, 10])


def test_too_few_iterations_are_reported():
    _, x, energies, system, timer = bent_sheet()
    potential = Potential(len(x), energies, None, timer)
    newton = Newton(potential, system, NewtonOptions(energy=1e-18, distance=1e-10, max_iterations=2))
    outcome = newton.minimise(x, np.zeros((0, 3)), np.zeros(len(x), np.int32), hold=False)
    assert outcome.ending is Ending.NOT_CONVERGED
    assert outcome.iterations == 2


def plate_problem(room: float):
    """The sheet on a fixed floor while a plate comes down to `room` [m] above the floor."""
    mesh, x, energies, _, timer = bent_sheet()
    points, faces = plane((0.2, 0.2))
    points = points - points.mean(axis=0)
    x = x - x.mean(axis=0)
    floor, lid = points - np.array([0.0, 0.0, 2e-3]), points + np.array([0.0, 0.0, 4e-3])
    count = mesh.node_count
    obstacle_faces = np.concatenate([faces + count, faces + count + len(points)])
    part = np.repeat([0, 1, 2], [count, len(points), len(points)]).astype(np.int32)
    rest = np.concatenate([mesh.node_rest, floor, lid])
    surface = make_surface(
        mesh.face_nodes,
        rest,
        dynamic_count=count,
        obstacle_faces=obstacle_faces,
        node_part=part,
        part_thickness=np.array([1e-4, 0.0, 0.0]),
        dhat=5e-4,
    )
    nodes = np.arange(count, dtype=np.int32).reshape(-1, 1)
    mass = np.asarray(mesh.node_area) * 0.08
    energies = [make_nodal(nodes, x, mass / 1e-4), *energies[1:]]
    system = NewtonSystem(count, [energy.stencil for energy in energies], make_solver(), timer)
    start = np.concatenate([x, floor, lid])
    step_contact = StepContact(surface, 1e5, start, timer)
    step_contact.start_friction(start, start, step=0.01, slip_speed=0.01)
    target = np.concatenate([floor, points + np.array([0.0, 0.0, room - 2e-3])])
    potential = Potential(count, energies, step_contact, timer)
    newton = Newton(potential, system, NewtonOptions(energy=1e-10, distance=1e-4))
    return newton, surface, start, target, part


def test_obstacles_arrive_and_nothing_is_penetrated():
    newton, surface, start, target, part = plate_problem(room=1e-3)
    outcome = newton.minimise(start, target, part, hold=False)
    assert outcome.ending is Ending.CONVERGED
    assert not outcome.held
    assert np.array_equal(outcome.x[surface.dynamic_count :], target)
    assert 0.0 < outcome.min_gap < 5e-4
    assert not has_intersections(surface, outcome.x)


@pytest.mark.parametrize("hold", [False, True])
def test_an_obstacle_without_room_is_noticed_or_held(hold):
    newton, surface, start, target, part = plate_problem(room=-1e-3)
    outcome = newton.minimise(start, target, part, hold=hold)
    assert not has_intersections(surface, outcome.x)
    if hold:
        assert 2 in outcome.held
        lid = outcome.x[part == 2]
        assert lid[:, 2].min() > outcome.x[part == 0, 2].max(), "the lid stays above the sheet"
    else:
        assert outcome.ending in (Ending.NO_ROOM, Ending.NOT_ARRIVED)


def rubbing_sheet(aside: float):
    """A sheet that is pressed on a rough floor and pushed `aside` [m]: Newton's method, its potential and start."""
    mesh, x, energies, system, timer = bent_sheet()
    points, faces = plane((0.2, 0.2))
    floor = points - points.mean(axis=0) + [0.03, 0.02, x[:, 2].min() - 3e-4]
    count = mesh.node_count
    surface = make_surface(
        mesh.face_nodes,
        np.concatenate([mesh.node_rest, floor]),
        dynamic_count=count,
        obstacle_faces=faces + count,
        node_part=np.repeat([0, 1], [count, len(floor)]).astype(np.int32),
        part_thickness=np.array([1e-4, 0.0]),
        friction=0.5,
        dhat=5e-4,
    )
    nodes = np.arange(count, dtype=np.int32).reshape(-1, 1)
    target = x + np.linspace(0.2, 1.0, count)[:, None] * [aside, 0.0, 0.0] - [0.0, 0.0, 1e-3]
    energies = [make_nodal(nodes, target, np.asarray(mesh.node_area) * 1e7), *energies[1:]]
    start = np.concatenate([x, floor])
    step_contact = StepContact(surface, 1e5, start, timer)
    step_contact.start_friction(start, start, step=0.01, slip_speed=1e-4)
    potential = Potential(count, energies, step_contact, timer)
    return Newton(potential, system, NewtonOptions(1e-15, 1e-8, 400)), potential, start, surface.node_part


@pytest.mark.parametrize("aside", [5e-3, 6e-3, 1.2e-2, 2.4e-2])
def test_friction_is_followed_by_its_own_curvature(aside, monkeypatch):
    """Where contacts begin to slide, the quadratic above friction takes many iterations to the same place; friction
    stays as it was frozen."""
    monkeypatch.setattr(Lag, "is_active", False)
    outcomes, values = [], []
    for wait in (0, 10**6):
        newton, potential, start, part = rubbing_sheet(aside)
        newton.directions._slips = Backoff(wait, 1)
        found = newton.minimise(start, start[potential.free_count :], part, hold=False)
        assert found.ending is Ending.CONVERGED
        outcomes.append(found.iterations)
        values.append(potential.value(make_pose(found.x)))
    assert outcomes[0] <= 12
    assert outcomes[1] >= 2 * outcomes[0]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-12)


@dataclass(frozen=True)
class Told(Energy):
    """An energy `slope` · z of each node that tells the gradient `told` instead."""

    stencil: np.ndarray
    slope: float
    told: float

    def evaluate(self, x, order, project, value, gradient, hessian):
        value[:] = self.slope * x[self.stencil[:, 0], 2]
        if order > 0:
            gradient[:] = [0.0, 0.0, self.told]
        if order > 1:
            hessian[:] = np.eye(3)


@pytest.mark.parametrize(
    ("told", "ending"), [(np.nan, Ending.NOT_FINITE), (np.inf, Ending.NOT_FINITE), (1.0, Ending.NO_DESCENT)]
)
def test_energies_that_are_broken_are_noticed(told, ending):
    """A force that is not finite, or that does not belong to its energy, ends the step; x stays finite."""
    x = np.zeros((4, 3))
    broken = Told(np.arange(4, dtype=np.int32).reshape(-1, 1), -1.0, told)
    system = NewtonSystem(4, [broken.stencil], make_solver(), PhaseTimer())
    newton = Newton(Potential(4, [broken], None, PhaseTimer()), system, NewtonOptions(energy=1e-9, distance=1e-9))
    outcome = newton.minimise(x, np.zeros((0, 3)), np.zeros(4, np.int32), hold=False)
    assert outcome.ending is ending
    assert np.isfinite(outcome.x).all()


def test_obstacles_that_are_still_on_their_way_are_reported():
    newton, _, start, target, part = plate_problem(room=1e-3)
    newton.directions.options = NewtonOptions(energy=1e-10, distance=1e-4, max_iterations=1)
    outcome = newton.minimise(start, target, part, hold=False)
    assert outcome.ending is Ending.NOT_ARRIVED
    assert outcome.iterations == 1


def test_every_failure_says_why():
    assert not Ending.CONVERGED.value
    assert all(ending.value for ending in Ending if ending is not Ending.CONVERGED)
