"""Constraints inside Newton's method: met up to their tolerance, never beyond their strength, as a heavy penalty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crumple.energies.bending_hinge import BendingHinge
from crumple.energies.constraint_angle import ConstraintAngle
from crumple.energies.constraint_line import ConstraintLine, bend_weights, chord_normals
from crumple.energies.nodal import make_nodal
from crumple.geometry.hinge import dihedral_angles
from crumple.linalg import make_solver
from crumple.runtime.timing import PhaseTimer
from crumple.solving.newton import Newton
from crumple.solving.newton_options import NewtonOptions
from crumple.solving.outcome import Ending
from crumple.solving.potential import Potential
from crumple.solving.system import NewtonSystem

POINTS = np.array([[0.0, 0, 0], [0, 1, 0], [-1, 0.5, 0], [1, 0.5, 0.0]])
HINGE = np.array([[0, 1, 2, 3]], np.int32)
NODES = np.arange(4, dtype=np.int32)
TOLERANCE = 1e-3


def held(target, *, strength=10.0, side=0.0, weight=50.0, multiplier=0.0):
    one = np.ones(1)
    return ConstraintAngle(
        HINGE, target * one, side * one, np.full((1, 1), multiplier), weight * one, strength * one, TOLERANCE * one
    )


def solve(constraint, *, stiffness=1.0, enforce=True, rest=0.0):
    """Where a hinge with a spring and four nodes that are held softly come to rest."""
    spring = BendingHinge(HINGE, np.full(1, stiffness), np.full(1, rest))
    anchors = make_nodal(NODES, POINTS, np.array([10.0, 10.0, 1e-3, 1e-3]))
    timer = PhaseTimer()
    edges = make_nodal(NODES[2:], POINTS[2:], np.zeros(2))
    keep = BendingHinge(HINGE, np.zeros(1), np.zeros(1))
    potential = Potential(4, [anchors, spring, keep, edges, constraint], None, timer)
    system = NewtonSystem(4, [NODES.reshape(-1, 1), HINGE], make_solver("superlu"), timer)
    newton = Newton(potential, system, NewtonOptions(1e-14, 1e-9, 300), enforce=enforce)
    outcome = newton.minimise(POINTS.copy(), np.zeros((0, 3)), np.zeros(4, np.int32), hold=False)
    return outcome, float(dihedral_angles(outcome.x, HINGE)[0])


def test_an_equality_is_met_and_bears_the_moment_of_the_spring():
    outcome, angle = solve(held(0.5))
    assert outcome.ending is Ending.CONVERGED
    assert angle == pytest.approx(0.5, abs=TOLERANCE)
    assert outcome.multipliers[0][0, 0] == pytest.approx(-0.5, rel=0.02)  # balances κ θ; anchors are soft


def test_a_heavy_penalty_agrees():
    outcome, angle = solve(held(0.5))
    penalised, other = solve(held(0.5, weight=1e5, strength=1e9), enforce=False)
    assert angle == pytest.approx(other, abs=TOLERANCE)
    np.testing.assert_allclose(outcome.multipliers[0][0, 0], penalised.multipliers[0][0, 0], rtol=5e-3)


def test_a_light_penalty_does_not():
    """So the multipliers do the work: with the same weight, the penalty alone misses by more than the tolerance."""
    _, angle = solve(held(0.5), enforce=False)
    assert abs(angle - 0.5) > 5 * TOLERANCE


def test_strength_is_never_exceeded_and_the_solve_converges():
    outcome, angle = solve(held(1.0, strength=0.2))
    assert outcome.ending is Ending.CONVERGED
    assert outcome.multipliers[0][0, 0] == pytest.approx(-0.2)
    assert angle == pytest.approx(0.2, rel=0.02)  # moment over stiffness of the spring


@pytest.mark.parametrize(("side", "rest", "expected"), [(1, 0.8, 0.8), (1, 0.1, 0.4), (-1, 0.8, 0.4), (-1, 0.1, 0.1)])
def test_inequalities_hold_on_one_side_only(side, rest, expected):
    outcome, angle = solve(held(0.4, side=side), rest=rest)
    assert outcome.ending is Ending.CONVERGED
    assert angle == pytest.approx(expected, abs=2e-3)
    assert (outcome.multipliers[0][0, 0] != 0.0) == (expected == 0.4)


def test_contradictory_rows_converge_at_their_strength():
    pair = replace(
        held(0.0),
        stencil=np.repeat(HINGE, 2, axis=0),
        target=np.array([0.3, 0.5]),
        side=np.zeros(2),
        multiplier=np.zeros((2, 1)),
        weight=np.full(2, 50.0),
        strength=np.full(2, 2.0),
        tolerance=np.full(2, TOLERANCE),
    )
    outcome, angle = solve(pair)
    assert outcome.ending is Ending.CONVERGED
    assert 0.3 - TOLERANCE <= angle <= 0.5 + TOLERANCE
    assert np.abs(outcome.multipliers[0]).max() == pytest.approx(2.0)


def test_a_line_is_held_straight_up_to_its_moment():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    nodes, stencil = np.arange(3, dtype=np.int32), np.array([[0, 1, 2]], np.int32)
    one = np.ones(1)
    line = ConstraintLine(
        stencil, bend_weights(one, one), chord_normals(x, stencil), np.zeros((1, 2)), 10 * one, 2 * one, TOLERANCE * one
    )
    for force, straight in ((1.9, True), (2.1, False)):
        pull = make_nodal(nodes, x, np.array([1e4, 1e4, 1.0]), np.array([[0, 0, 0], [0, 0, 0], [0, 0, force]]))
        timer = PhaseTimer()
        system = NewtonSystem(3, [nodes.reshape(-1, 1), stencil], make_solver("superlu"), timer)
        newton = Newton(Potential(3, [pull, line], None, timer), system, NewtonOptions(1e-14, 1e-9, 300), enforce=True)
        outcome = newton.minimise(x.copy(), np.zeros((0, 3)), np.zeros(3, np.int32), hold=False)
        assert outcome.ending is Ending.CONVERGED
        assert (abs(outcome.x[2, 2]) < 0.01) == straight
        moment = np.linalg.norm(outcome.multipliers[0])
        assert moment == pytest.approx(min(force, 2.0), rel=1e-3)
