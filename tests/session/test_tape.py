"""What was done in a session is kept in little memory, comes out as it went in, and has a bound that is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crumple.recording import state_digest
from crumple.runtime.errors import InputError
from crumple.scenes import scene_from_tables
from crumple.session import tape
from crumple.session.script import Script
from crumple.session.simulation import Simulation
from crumple.session.tape import Action, Playback, Tape

TABLES = {
    "run": {"frame_time": 0.02, "duration": 100.0},
    "environment": {"gravity": [0.0, 0.0, 0.0]},
    "sheets": [{"shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.05}, "material": "cotton"}],
}


def simulation() -> Simulation:
    return Simulation(scene_from_tables(TABLES, source="test"))


def moves(count: int) -> list[Action]:
    random = np.random.default_rng(3)
    return [Action("move", {"hand": "hand1", "position": random.normal(size=3).tolist()}) for _ in range(count)]


@pytest.mark.parametrize("count", [0, 1, tape.BLOCK, 2 * tape.BLOCK - 1, 2 * tape.BLOCK, 5 * tape.BLOCK + 7])
def test_actions_come_out_as_they_were_put_in(count):
    actions = moves(count)
    kept = Tape(actions)
    assert len(kept) == count
    assert list(kept) == actions
    assert kept == actions
    assert tuple(actions) == kept
    assert [kept[k] for k in (0, count // 2, -1)] == [actions[k] for k in (0, count // 2, -1)] if count else True
    assert kept[3:9] == actions[3:9]
    for wrong in (count, -count - 1):
        with pytest.raises(IndexError):
            kept[wrong]
    playback, done = Playback(kept), []
    while playback:
        done.append(playback.take())
    assert done == actions


def test_a_minute_of_dragging_takes_a_seventh_of_a_megabyte():
    kept = Tape()
    for move in moves(3600):
        kept.add(move)
        kept.add(Action("advance", {"dt": 1 / 60, "keep": False}))
    assert len(kept) == 7200
    assert kept.packed_bytes < 0.15e6


def test_a_copy_stays_as_it_was():
    kept = Tape(moves(tape.BLOCK + 5))
    copy = kept.copy()
    kept.add(Action("undo", {}))
    for _ in range(2 * tape.BLOCK):
        kept.add(Action("redo", {}))
    assert list(copy) == moves(tape.BLOCK + 5)


def test_of_goals_in_a_row_the_last_is_kept_and_the_bits_are_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr(tape, "BLOCK", 4)
    sim = simulation()
    first, second = sim.grab((0.01, 0.01)), sim.grab((0.09, 0.09))
    for k in range(8):
        for part in (0.3, 0.7, 1.0):
            sim.move(first, (0.0, 0.0, 0.002 * (k + part)), rotation=(0.0, 0.0, 0.1 * part) if part == 0.3 else None)
        sim.move(second, (0.1, 0.1, 0.001 * k))
        with pytest.raises(InputError):
            sim.move("nobody", (0.0, 0.0, 0.0))
        sim.advance(0.02)
    script = sim.script()
    assert [one.method for one in script.actions] == ["grab", "grab", *8 * ["move", "move", "advance"]]
    script.save(tmp_path / "script.json")
    assert json.loads((tmp_path / "script.json").read_text())["crumple_script"] == 1
    again = simulation()
    again.play(Script.load(tmp_path / "script.json"))
    assert state_digest(again.state) == state_digest(sim.state)
    assert Script.load(tmp_path / "script.json") == script


def test_what_is_too_long_to_be_kept_is_told_once_and_ends_with_a_reset(monkeypatch, tmp_path):
    monkeypatch.setattr(tape, "BLOCK", 4)
    monkeypatch.setattr(tape, "MOST_BYTES", 600)
    sim = simulation()
    hand = sim.grab((0.01, 0.01))
    for k in range(12):
        sim.move(hand, np.random.default_rng(k).normal(size=3) * 1e-3)
        sim.advance(0.02)
    assert [event.kind for event in sim.events() if event.kind == "forgotten"] == ["forgotten"]
    assert not sim.events()
    with pytest.raises(InputError, match=r"cannot be replayed; reset"):
        sim.script()
    sim.save(tmp_path / "state")
    sim.reset()
    sim.advance(0.02)
    assert len(sim.script().actions) == 1
