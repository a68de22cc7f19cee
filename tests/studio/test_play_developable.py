"""Developable paper on the page: hands, pins, undo, replay and save; and pages that ask for what it cannot do."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

pytest.importorskip("aiohttp")
from packets import decode_packet

from crumple.cli.playing import load_sheet, replay_script
from crumple.developable import DevelopableEngine
from crumple.mesh.validate import validate_mesh
from crumple.recording import Recording, state_digest
from crumple.runtime.errors import InputError
from crumple.session.script import Script
from crumple.session.simulation import Simulation
from crumple.studio.actions import obey
from crumple.studio.play_process import simulate
from crumple.studio.player import Player
from crumple.studio.sheets import SHEETS, sheet_tables

UNSUITED = {"miura": "creases", "dart": "flat"}


def session(name: str = "note") -> Simulation:
    return Simulation(load_sheet(name), engine="developable")


def down(x: float, y: float, hand: int = 0) -> dict[str, Any]:
    return {"do": "grab", "page": 1, "hand": hand, "origin": [x, y, 1.0], "direction": [0.0, 0.0, -1.0]}


def move(position: list[float], hand: int = 0) -> dict[str, Any]:
    return {"do": "move", "page": 1, "hand": hand, "position": position}


def strain(sim: Simulation) -> float:
    assert isinstance(sim.engine, DevelopableEngine)
    return float(np.abs(sim.engine.paper.isometry.strain(sim.state.x)).max())


@pytest.mark.parametrize("name", SHEETS)
def test_sheets_that_lie_flat_can_be_taken_and_others_say_why_not(name):
    if name in UNSUITED:
        with pytest.raises(InputError, match=UNSUITED[name]):
            session(name)
        return
    one = Player(session(name))
    side = 0.45 * SHEETS[name].sides[0]
    obey(one, down(side, 0.0))
    obey(one, move([side, 0.0, 0.1]))
    for _ in range(3):
        one.frame()
    values, arrays = decode_packet(one.packet(1, 0))
    assert values["hands"]["1:0"][2] > 0.02
    assert set(values["refused"]) >= {"flatten"}
    assert {"x", "normal", "u", "faces", "lines", "points", "region"} <= set(arrays)
    assert len(arrays["normal"]) == len(arrays["x"]) == len(arrays["u"])
    assert np.allclose(np.linalg.norm(arrays["normal"], axis=1), 1.0, atol=1e-5)
    assert len(arrays["region"]) == len(arrays["faces"])
    known = decode_packet(one.packet(1, values["topology"]))[1]
    assert {"x", "normal"} <= set(known)


def test_what_the_engine_refuses_changes_nothing():
    """A page may send whatever it likes."""
    one = Player(session())
    one.frame()
    before = state_digest(one.session.state)
    for command in (
        {"do": "iron", "fraction": 1.0},
        {"do": "drive", "group": "zigzags", "percent": 10},
        {"do": "push", "page": 1, "hand": 0, "obstacle": "floor", "position": [0, 0, 0]},
        {"do": "grab", "page": 1, "hand": 0, "origin": [0, 0, 1], "direction": [0, 0, 0]},
    ):
        with pytest.raises(InputError):
            obey(one, command)
    assert state_digest(one.session.state) == before
    assert one.session.undo_count == 0
    obey(one, {"do": "wind", "velocity": [3.0, 0.0, 0.0]})
    obey(one, {"do": "gravity"})
    obey(one, {"do": "floor"})
    for _ in range(3):
        one.frame()
    assert "trouble" not in [event["kind"] for event in decode_packet(one.packet(1, 0))[0]["events"]]


def test_a_second_hand_at_the_same_place_is_refused_and_leaves_no_vertex_behind():
    sim = session()
    sim.grab((0.061, 0.083))
    before, count = state_digest(sim.state), sim.undo_count
    with pytest.raises(InputError, match="held there"):
        sim.grab((0.061, 0.083))
    assert state_digest(sim.state) == before
    assert sim.undo_count == count


def test_a_page_asks_for_a_sheet_that_the_engine_does_not_take():
    player = Player(simulate(sheet_tables("note"), "developable"))
    with pytest.raises(InputError, match="creases"):
        simulate(sheet_tables("miura"), player.session.engine_name)
    with pytest.raises(InputError, match="physics, developable"):
        simulate(sheet_tables("note"), "magic")


def test_a_finger_inside_becomes_a_vertex_that_undo_takes_away():
    sim = session()
    assert isinstance(sim.engine, DevelopableEngine)
    u = np.array([0.061, 0.083])
    hand = sim.grab(u)
    held = [vertex for vertex in sim.engine.paper.structure.vertices.values() if vertex.is_held]
    assert [vertex.u for vertex in held] == [tuple(u)]
    np.testing.assert_allclose(sim.hand_position(hand)[:2], u - 0.075, atol=1e-4)
    sim.undo()
    assert not any(vertex.is_held for vertex in sim.engine.paper.structure.vertices.values())
    sim.redo()
    assert sim.hands == (hand,)


@pytest.mark.slow
def test_random_hands_do_no_harm_and_a_replay_has_the_same_bits():
    rng, one = np.random.default_rng(4), Player(session())
    for k in range(24):
        if k % 10 == 0:
            obey(one, {"do": rng.choice(["release", "pin", "undo", "redo", "unpin"]), "page": 1, "hand": 0})
            with suppress(InputError):  # the sheet may be held there already
                obey(one, down(*rng.uniform(-0.07, 0.07, 2), hand=int(rng.integers(3))))
        obey(one, move(rng.uniform([-0.1, -0.1, -0.02], [0.1, 0.1, 0.12]).tolist(), hand=int(rng.integers(3))))
        one.frame()
        values, arrays = decode_packet(one.packet(1, 0))
        assert np.isfinite(arrays["x"]).all()
        assert "trouble" not in [event["kind"] for event in values["events"]]
        assert strain(one.session) <= 1e-3
        assert validate_mesh(one.session.state.mesh) == []
    again = session()
    again.play(one.session.script())
    assert state_digest(again.state) == state_digest(one.session.state)
    obey(one, {"do": "replay"})
    while one.replaying:
        one.frame()
    assert one.session.time == again.time


def test_the_same_script_runs_in_both_engines(tmp_path):
    """Hands are known by the point that they have grabbed, wherever the nodes of an engine are."""
    sim = Simulation(load_sheet("note", ["sheets[0].shape.size=0.05"]))
    hand = sim.grab((0.148, 0.148))
    start = sim.hand_position(hand)
    for k in range(8):
        sim.move(hand, start + np.array([0.0, 0.0, 0.005 * (k + 1)]))
        sim.advance(1 / 60, keep=False)
    script = sim.script()
    script.save(tmp_path / "script.json")
    other = session()
    other.play(Script.load(tmp_path / "script.json"), check=False)
    for one in (sim, other):
        np.testing.assert_allclose(one.hand_position(hand), start + np.array([0.0, 0.0, 0.04]), atol=1e-9)
        corner = one.view().x[np.argmin(np.linalg.norm(one.view().u - 0.15, axis=1))]
        assert corner[2] > 0.025
    for shown in (False, True):
        folder = tmp_path / f"shown-{shown}"
        replay_script(load_sheet("note"), tmp_path / "script.json", folder, False, engine="developable", shown=shown)
        recording = Recording(folder)
        assert recording.frames == list(range(9))
        assert ("shown_normal" in recording.load(8).own) == shown
    assert json.loads((tmp_path / "script.json").read_text())["actions"][1][0] == "move"


def test_a_recording_of_what_is_shown_only_goes_on(tmp_path):
    sim = session()
    sim.record(tmp_path / "film", shown=True)
    sim.advance(1 / 60)
    with pytest.raises(InputError, match="only goes on"):
        sim.undo()
    sim.close()
    sim.undo()
