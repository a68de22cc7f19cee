"""Small sheets: the parts of `solving.compact` against the general solver, from the same states."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from crumple.contract import ENERGIES
from crumple.energies.bending_hinge import BendingHinge
from crumple.energies.examples import PATCH, patch_poses
from crumple.model.derived import SMALL, Derived
from crumple.runtime.timing import PhaseTimer
from crumple.scenes import build
from crumple.simulation.engine import PhysicsEngine
from crumple.solving import system
from crumple.solving.outcome import Outcome
from crumple.solving.pose import make_pose
from crumple.solving.potential import Potential
from crumple.solving.step_contact import StepContact
from crumple.stepping import integration
from crumple.tearing import trials

QUICK = {"demo": 2, "student-crush": 4, "tear-flat": 1, "flag": 1, "box": 1, "squeeze": 1, "student-floppy": 1}
"""Frames of scenes with obstacles at rest, dense contact, statics and tearing, air, constraints on creases, obstacles
that move, and explicit steps."""
ALL = {
    "drop": 12, "letter": 15, "miura": 10, "moebius": 3, "cylinder": 10, "stuff": 4, "sizes": 6, "recrumple": 10,
    "student-damped": 10, "student-plastic": 10, "student-sphere": 10, "demo": 20, "tear-folded": 2,
}  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """The outcomes of one stage by the small and by the general solver, and the potential at both ends [J]."""

    small: Outcome
    general: Outcome
    energies: tuple[float, float]


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> list[Pair]:
    """Every stage that is solved while this is used, by both solvers; the small one's result is the one that counts."""
    solve, found = integration.solve_stage, list[Pair]()
    monkeypatch.setattr(system, "LOOSE_FRACTION", 0.0)  # the general solver's directions are exact, too

    def both(derived, stage, obstacle_x, half_turn, multipliers=None, **options):
        small = solve(derived, stage, obstacle_x, half_turn, multipliers, **options)
        model = derived.model
        general_model = replace(model, solver=replace(model.solver, linear_solver="superlu"))
        other = Derived(general_model, stage.state, PhaseTimer(), derived.terms)
        assert derived.is_small
        assert not other.is_small
        general = solve(other, stage, obstacle_x, half_turn, multipliers, **options)
        energies = _potential(other, stage, small, multipliers), _potential(other, stage, general, multipliers)
        found.append(Pair(small, general, energies))
        return small

    monkeypatch.setattr(integration, "solve_stage", both)
    monkeypatch.setattr(trials, "solve_stage", both)
    return found


def _potential(derived, stage, outcome, multipliers) -> float:
    """Elastic energy, inertia and barrier where a solve has ended [J]."""
    surface, contact = derived.surface(stage.time), None
    if surface is not None:
        contact = StepContact(surface, derived.model.contact.stiffness, outcome.x, PhaseTimer())
    energies = [integration._inertia(derived, stage), *derived.over(stage)]
    potential = Potential(len(stage.start), energies, contact, PhaseTimer(), turn_count=derived.turn_count)
    if multipliers:
        potential.resume_multipliers(multipliers)
    return potential.value(make_pose(outcome.x, outcome.half_turn))


def _compare(name: str, frames: int, pairs: list[Pair]) -> None:
    built = build(name, quick=True)
    engine = PhysicsEngine(built.model, built.state)
    assert engine.state.mesh.face_count < SMALL
    for _ in range(frames):
        engine.advance_frame()
    assert len(pairs) > 3
    for pair in pairs:
        assert pair.small.iterations == pair.general.iterations
        assert pair.small.ending is pair.general.ending
        assert pair.small.held == pair.general.held
        assert pair.small.loose == pair.general.loose
    error = np.array([abs(a - b) / abs(b) for a, b in (pair.energies for pair in pairs)])
    # rounding grows with the iterations of a long solve, and where that stops is no closer to the minimum than it asks
    assert np.median(error) <= 1e-11
    assert np.quantile(error, 0.8) <= 1e-9
    assert error.max() <= 1e-4


@pytest.mark.parametrize("name", QUICK)
def test_both_solvers_take_the_same_iterations_to_the_same_energy(name, pairs):
    _compare(name, QUICK[name], pairs)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_both_solvers_agree_on_small_scenes(name, pairs):
    _compare(name, ALL[name], pairs)


@pytest.mark.parametrize("name", ENERGIES)
def test_an_energy_that_is_ready_says_what_it_says_otherwise(name):
    example = ENERGIES[name](np.random.default_rng(0))
    energy, ready = example.energy, example.energy.ready()
    x = next(iter(example.poses.values()))
    half_turn, free = example.half_turn, len(x) - 1
    turns = max(len(half_turn) - 1, 0)
    value = float(np.sum(energy.value(x, half_turn)))
    assert ready.value(x, half_turn) == pytest.approx(value, rel=1e-12, abs=1e-15)
    for project in (True, False):
        gradient, moments = np.zeros((free, 3)), np.zeros(turns)
        ready.expand(x, half_turn, project, gradient, moments)
        found = energy.derivatives(x, half_turn, project)
        expected, turning = np.zeros((len(x), 3)), np.zeros(len(half_turn))
        np.add.at(expected, energy.stencil, found.vectors)
        np.add.at(turning, energy.turns, found.moments)
        np.testing.assert_allclose(gradient, expected[:free], rtol=1e-12, atol=1e-12 * np.abs(expected).max(initial=0))
        np.testing.assert_allclose(moments, turning[:turns], rtol=1e-12, atol=1e-12 * np.abs(turning).max(initial=0))
        np.testing.assert_array_equal(ready.blocks, found.blocks)
        if energy.turns.shape[1]:
            np.testing.assert_array_equal(ready.mixed, found.mixed)
            np.testing.assert_array_equal(ready.own, found.own)


def test_springs_at_the_same_hinges_are_one():
    rng = np.random.default_rng(3)
    nodes = PATCH.hinges.nodes
    first, second = (BendingHinge(nodes, rng.uniform(0, 1e-3, len(nodes)), rng.normal(size=len(nodes))) for _ in "ab")
    second.stiffness[0] = first.stiffness[0] = 0.0
    joined = first.ready().joined(second.ready())
    assert joined is not None
    others = BendingHinge(nodes[:-1], first.stiffness[:-1], first.rest_angle[:-1])
    assert first.ready().joined(others.ready()) is None
    x = patch_poses(rng)["random"]
    assert joined.value(x, np.zeros(0)) == pytest.approx(float(first.value(x).sum() + second.value(x).sum()), rel=1e-12)
    for project in (True, False):
        gradient, expected = np.zeros_like(x), np.zeros_like(x)
        joined.expand(x, np.zeros(0), project, gradient, np.zeros(0))
        parts = [one.gradient_hessian(x, project) for one in (first, second)]
        for vectors, _ in parts:
            np.add.at(expected, nodes, vectors)
        np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
        blocks = parts[0][1] + parts[1][1]
        np.testing.assert_allclose(joined.blocks, blocks, rtol=1e-9, atol=1e-12 * np.abs(blocks).max())


def test_the_solver_follows_from_the_scene_alone():
    built = build("demo", quick=True)
    assert Derived(built.model, built.state).is_small
    for name in ("superlu", "pardiso"):
        model = replace(built.model, solver=replace(built.model.solver, linear_solver=name))
        assert not Derived(model, built.state).is_small


def test_every_solver_takes_the_same_step():
    built, ends = build("demo", quick=True), {}
    for name in ("superlu", "fronts", "auto"):
        solver = replace(built.model.solver, linear_solver=name)
        engine = PhysicsEngine(replace(built.model, solver=solver), built.state)
        engine.advance_frame()
        ends[name] = engine.state.x
    for name in ("fronts", "auto"):
        np.testing.assert_allclose(ends[name], ends["superlu"], atol=1e-9)
