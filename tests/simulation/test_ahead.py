"""Cracks run ahead of a step that they will run in, and are drawn back where they have run too far."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crumple.contact import has_intersections
from crumple.mesh import validate_mesh
from crumple.recording.frame import decode_frame, encode_frame, state_digest
from crumple.scenes import build, scene_from_tables
from crumple.simulation import frame
from crumple.simulation.ahead import CAUTION, Ahead, hand_motion, run_ahead
from crumple.simulation.derived import Derived, contact_surface
from crumple.simulation.model import Model
from crumple.simulation.run import run
from crumple.state import State

SPEED, SIZE = 0.1, 6e-3
TORN = 11
"""Frames after which the crack of `torn_paper` runs."""


def torn_paper(**tearing: object) -> tuple[Model, State]:
    """A small sheet with a slit whose two legs are pulled apart, one up, one down."""
    legs = {"up": (-0.026, -0.004), "down": (0.004, 0.026)}
    tables = {
        "run": {"frame_time": 0.02, "duration": 0.4},
        "solver": {"mode": "static", "max_step": 0.01},
        "contact": {"friction": 0.3, "activation": 0.3e-3},
        "environment": {"gravity": [0, 0, 0]},
        "tearing": {"tip_size": SIZE, "initiation": False} | tearing,
        "sheets": [
            {
                "shape": {"kind": "rectangle", "width": 0.05, "height": 0.08, "size": SIZE},
                "material": {"preset": "paper80", "tear_energy": 1e3},
                "cuts": [{"line": [[0.025, -0.01], [0.025, 0.02]]}],
                "jitter": {"amplitude": 1e-5, "seed": 1},
            }
        ],
        "handles": [
            {
                "name": name,
                "select": {"kind": "box", "low": [low, -0.041, -1], "high": [high, -0.035, 1]},
                "stiffness": 1e4,
                "motion": name,
            }
            for name, (low, high) in legs.items()
        ],
        "motions": {
            name: {"rate": {"velocity": [0, SPEED, speed]}} for name, speed in (("up", SPEED), ("down", -SPEED))
        },
    }
    return build(scene_from_tables(tables))


@pytest.fixture(scope="module")
def running() -> tuple[Model, State]:
    """The sheet while its crack runs."""
    model, start = torn_paper()
    return model, run(model, start, frames=TORN)


def test_a_crack_at_rest_near_its_limit_runs_ahead_with_the_hands(running: tuple[Model, State]) -> None:
    model, state = running
    assert state.torn.length() > 0.0
    assert state.crack_pace > 0.0  # it has been measured
    state = state.replaced(crack_pace=1.0)
    derived = Derived(model, state).prepared()
    assert hand_motion(state, derived, 0.01) == pytest.approx(0.01 * SPEED * np.sqrt(2.0))
    ahead = run_ahead(state, derived, 0.01)
    assert len(ahead.tips) == 1
    way = ahead.state.torn.length() - state.torn.length()
    assert way == pytest.approx(CAUTION * state.crack_pace * 0.01 * SPEED * np.sqrt(2.0), rel=0.2)
    assert ahead.state.fracture_work - state.fracture_work == pytest.approx(
        model.materials[0].thickness * 1e3 * way, rel=1e-6
    )
    assert not validate_mesh(ahead.state.mesh, ahead.state.x)
    assert not has_intersections(contact_surface(model, ahead.state, state.time), ahead.state.x)


def test_nothing_runs_ahead_that_is_not_loaded_or_breaks_by_strength(running: tuple[Model, State]) -> None:
    model, start = torn_paper()
    derived = Derived(model, start).prepared()
    assert run_ahead(start, derived, 0.01).state is start
    _, state = running
    by_strength, _ = torn_paper(criterion="strength")
    assert run_ahead(state, Derived(by_strength, state).prepared(), 0.01).state is state


def test_cracks_run_as_far_as_those_that_wait_in_fewer_iterations(
    running: tuple[Model, State], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, state = running
    ahead = run(model, state, frames=TORN + 3)
    monkeypatch.setattr(frame, "run_ahead", lambda before, derived, _: Ahead(before, derived))
    waited = run(model, state, frames=TORN + 3)
    assert waited.torn.length() > state.torn.length() + 5e-3
    assert ahead.torn.length() == pytest.approx(waited.torn.length(), abs=0.5 * SIZE)
    assert ahead.iterations < waited.iterations


def test_a_crack_that_has_run_too_far_ahead_is_drawn_back(running: tuple[Model, State]) -> None:
    model, state = running
    derived = Derived(model, state).prepared()
    end = state.time + 0.01
    right, *_ = frame.advance_once(state, derived, end, False)
    hasty, *_ = frame.advance_once(state.replaced(crack_pace=2.0), derived, end, False)
    far = run_ahead(state.replaced(crack_pace=2.0), derived, 0.01).state.torn.length()
    assert far > right.torn.length() + 3e-4
    assert hasty.torn.length() < far - 3e-4
    assert hasty.torn.length() == pytest.approx(right.torn.length(), abs=3e-4)
    assert hasty.fracture_work == pytest.approx(
        state.fracture_work + 1e3 * model.materials[0].thickness * (hasty.torn.length() - state.torn.length()), rel=1e-6
    )


def test_the_pace_is_kept_and_a_run_is_resumed_bit_by_bit(running: tuple[Model, State], tmp_path: Path) -> None:
    model, state = running
    (tmp_path / "frame").write_bytes(encode_frame(state))
    resumed = decode_frame(tmp_path / "frame")
    assert resumed.crack_pace == state.crack_pace
    assert state_digest(run(model, resumed, frames=TORN + 1)) == state_digest(run(model, state, frames=TORN + 1))
