"""Hands: they hold where they grab, never pull harder than they may, and what they did can be done again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.contact import find_intersections
from crumple.model.derived import Derived
from crumple.recording import Recording, state_digest
from crumple.runtime.errors import InputError, SimulationError
from crumple.scenes import scene_from_tables
from crumple.session.script import Script
from crumple.session.simulation import Simulation

FRAME = 1.0 / 60.0


def napkin(size: float = 0.03) -> Simulation:
    tables = {
        "run": {"frame_time": FRAME, "duration": 60.0},
        "solver": {"integrator": "implicit-euler"},
        "sheets": [
            {
                "material": "paper80",
                "shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": size},
                "transform": {"translate": [0, 0, 0.002]},
            }
        ],
        "obstacles": [{"name": "table", "shape": {"kind": "plane", "width": 0.4, "height": 0.4}}],
    }
    return Simulation(scene_from_tables(tables, source="napkin"))


def fold_over(sim: Simulation, frames: int = 8) -> str:
    hand = sim.grab((0.098, 0.098))
    start = sim.hand_position(hand)
    for k in range(1, frames + 1):
        sim.move(hand, start + np.array([-0.04, -0.04, 0.03]) * k / frames)
        sim.advance(FRAME, keep=False)
    return hand


def scripted(method: str, **arguments: float) -> Script:
    return Script.from_plain({"crumple_script": 1, "actions": [[method, arguments]]})


def test_a_hand_holds_the_point_that_it_grabs():
    sim = napkin()
    place = sim.pick((0.02, 0.01, 1.0), (0.0, 0.0, -2.0))
    assert place is not None
    np.testing.assert_allclose(place.position[:2], [0.02, 0.01], atol=1e-12)
    hand = sim.grab(place.u)
    np.testing.assert_allclose(sim.hand_position(hand), place.position, atol=1e-12)
    for k in range(1, 13):
        sim.move(hand, place.position + np.array([0.0, 0.0, 0.05 * k / 12]))
        sim.advance(FRAME, keep=False)
    for _ in range(30):
        sim.advance(FRAME, keep=False)
    after = sim.pick((0.02, 0.01, 1.0), (0.0, 0.0, -1.0))
    assert after is not None
    assert np.linalg.norm(after.position - place.position - [0, 0, 0.05]) < 2e-3


def test_the_sheet_wins_over_the_hand():
    """A hand that is sent through the table presses with its largest force, and the sheet stays above."""
    sim = napkin()
    hand = sim.grab((0.05, 0.05), largest=2.0)
    for _ in range(10):
        sim.move(hand, (0.0, 0.0, -0.2))
        sim.advance(FRAME, keep=False)
    assert np.linalg.norm(sim.forces(hand)) == pytest.approx(2.0, rel=1e-3)
    assert sim.state.x[:, 2].min() > 0.0
    surface = Derived(sim.model, sim.state).surface(sim.time)
    assert surface is not None
    assert len(find_intersections(surface, np.concatenate([sim.state.x, sim.state.obstacle_x]))) == 0


def test_what_was_done_can_be_done_again_to_the_bit(tmp_path):
    sim = napkin()
    hand = fold_over(sim)
    sim.release(hand)
    sim.advance(FRAME)
    sim.undo()
    sim.advance(FRAME)
    sim.script().save(tmp_path / "script.json")
    again = napkin()
    with pytest.raises(InputError, match="another scene"):
        napkin(0.04).play(Script.load(tmp_path / "script.json"))
    again.play(Script.load(tmp_path / "script.json"))
    assert state_digest(again.state) == state_digest(sim.state)
    assert again.script() == sim.script()


def test_hands_are_used_again_and_recordings_resume(tmp_path):
    sim = napkin()
    sim.record(tmp_path / "r")
    sim.release(fold_over(sim, 3))
    second, third = sim.grab((0.002, 0.002)), sim.grab((0.098, 0.002))
    assert (second, third) == ("hand1", "hand2")
    sim.advance(FRAME)
    sim.close()
    resumed = Simulation.resume(tmp_path / "r")
    resumed.advance(FRAME)
    sim.advance(FRAME)
    assert state_digest(resumed.state) == state_digest(sim.state)
    resumed.close()
    earlier = Simulation.resume(tmp_path / "r", frame=1)  # with one hand, where the last model has two
    assert earlier.handles == ("hand1", "hand2")
    earlier.close()
    assert Recording(tmp_path / "r").frames[-1] == 1


def test_undo_gives_back_what_a_hand_held():
    sim = napkin()
    hand = sim.grab((0.05, 0.05))
    sim.release(hand)
    assert sim.hands == ()
    sim.undo()
    assert sim.hands == (hand,)
    sim.move(hand, (0, 0, 0.01))
    sim.undo()
    assert sim.hands == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda sim: sim.grab((0.5, 0.5)), "is not on the sheet"),
        (lambda sim: sim.grab((np.nan, 0.0)), "two finite numbers"),
        (lambda sim: sim.grab((0.05, 0.05), sheet=3), "there are sheets 0 to 0"),
        (lambda sim: sim.grab((0.05, 0.05), largest=-1.0), "must be > 0, in N"),
        (lambda sim: (sim.grab((0.05, 0.05)), sim.grab((0.05, 0.05))), "is held there already"),
        (lambda sim: sim.move("hand7", (0, 0, 0)), "there are none"),
        (lambda sim: sim.pick((0, 0, 0), (0, 0, 0)), "must not be zero"),
        (lambda sim: sim.play(scripted("__init__")), "must be one of"),
        (lambda sim: sim.play(scripted("advance", dt=0.01, x=1)), "unexpected"),
    ],
)  # fmt: skip
def test_nonsense_is_refused(call, message):
    sim = napkin(0.05)
    with pytest.raises(InputError, match=message):
        call(sim)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"crumple_script": 2, "actions": []}', '{"crumple_script": 1, "actions": [1]}']
)
def test_what_is_no_script_is_refused(text, tmp_path):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(InputError, match=r"script|must be"):
        Script.load(tmp_path / "s.json")


def test_a_state_that_was_replaced_has_no_script():
    sim = napkin(0.05)
    sim.state = sim.state.replaced(v=sim.state.v + 1.0)
    with pytest.raises(InputError, match="replaced by hand"):
        sim.script()


def test_scripts_are_plain_json(tmp_path):
    sim = napkin(0.05)
    sim.grab(np.array([0.05, 0.05]))
    sim.script().save(tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text())["actions"] == [["grab", {"u": [0.05, 0.05]}]]


def test_a_script_is_replayed_from_the_command_line(tmp_path, monkeypatch):
    """What fails in it is told, and the rest is recorded."""
    script, out = tmp_path / "s.json", tmp_path / "r"
    script.write_text(json.dumps({"crumple_script": 1, "actions": [["advance", {"dt": FRAME}], ["calm", {}]]}))
    monkeypatch.setattr(Simulation, "calm", lambda self: (_ for _ in ()).throw(SimulationError("too much")))
    command = ["play", "note", "--set", "sheets[0].shape.size=0.05", "--replay", str(script)]
    assert CliRunner().invoke(app, command).exit_code == 2, "it needs a folder"
    told = CliRunner().invoke(app, [*command, "--out", str(out)])
    assert told.exit_code == 0, told.stderr
    assert "1 steps failed" in told.stderr
    assert "too much" in told.stderr
    assert Recording(out).frames == [0, 1]
