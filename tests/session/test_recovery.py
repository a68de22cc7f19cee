"""A session in which every step fails gets out of it."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.cli.playing import load_sheet
from crumple.runtime.errors import SimulationError
from crumple.session.recovery import recover
from crumple.session.simulation import Simulation

FRAME = 1 / 60


@pytest.fixture
def session(monkeypatch) -> Simulation:
    """A sheet that was lifted for six frames, each a place to go back to; steps fail from a height `too_high` on."""
    sim = Simulation(load_sheet("note", ["sheets[0].shape.size=0.05"]))
    take = sim.engine.advance

    def advance(*arguments):
        if sim.state.x[:, 2].max() > sim.too_high:
            raise SimulationError("too high")
        return take(*arguments)

    sim.too_high = np.inf
    monkeypatch.setattr(sim.engine, "advance", advance)
    hand = sim.grab((0.14, 0.14))
    for k in range(6):
        sim.move(hand, (0.065, 0.065, 0.01 * (k + 1)))
        sim.advance(FRAME)
    return sim


def test_it_goes_back_to_where_it_can_go_on(session):
    session.too_high = 0.025
    before = session.time
    assert recover(session, FRAME) > 0
    assert not session.hands
    assert session.state.x[:, 2].max() < 0.03
    assert 2 * FRAME < session.time < before
    session.advance(FRAME)
    assert {"undo", "calm", "release"} <= {action.method for action in session.script().actions}


def test_where_it_can_go_on_it_stays(session):
    before = session.time
    assert recover(session, FRAME, session.hands) == 0
    assert session.time == pytest.approx(before + FRAME)
    assert len(session.hands) == 1


def test_where_nothing_helps_it_begins_anew(session):
    session.too_high = -1.0
    assert recover(session, FRAME) == -1
    assert session.time == 0.0
    assert session.undo_count == 0
