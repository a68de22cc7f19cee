"""Cracks run within steps, at the force that tearing takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crumple.boundary import Handle
from crumple.boundary.motions import Rate, make_motion
from crumple.contact import has_intersections
from crumple.materials import Material
from crumple.mesh import validate_mesh
from crumple.model.derived import Derived, contact_surface
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.options.tearing import Tearing
from crumple.recording.frame import decode_frame, encode_frame, state_digest
from crumple.scenes import build, scene_from_tables
from crumple.session.session import run
from crumple.shapes import rectangle
from crumple.simulation.frame import advance_once
from crumple.simulation.observers import Statistics
from crumple.state import Pins, State, initial_state, no_tips
from crumple.stepping.advance import SHORTENINGS
from crumple.stepping.integration import StepPath
from crumple.studies.validation.strip import moved_pins, settle
from crumple.studies.validation.torn_sheet import tearing_material, tearing_model
from crumple.studies.validation.trouser import tear_trouser
from crumple.tearing import growth as tearing
from crumple.tearing import phases
from crumple.tearing.growth import Tear
from crumple.tearing.slits import slit_open
from crumple.tearing.tip_load import PROCESS_ZONE, spare_tips, tip_size
from crumple.tearing.trials import Step

FILM = Material.isotropic(
    "film", young=1e9, poisson=0.3, thickness=1e-4, density=0.1, damping=1e-3, tear_energy=(2e3, 2e3)
)


def pulled_film() -> tuple[Model, State]:
    """A film with a slit in its lower border, pulled apart sideways by its lower corners, remeshed, in motion."""
    mesh, x = rectangle(0.06, 0.05, 0.01, kind="equilateral")
    state = slit_open(initial_state(mesh, x, step_size=2e-3), np.array([[0.03, 0.0], [0.03, 0.02]]))
    low = state.mesh.u[:, 1] < 0.0101
    sides = low & (state.mesh.u[:, 0] < 0.0101), low & (state.mesh.u[:, 0] > 0.0499)
    nodes = [state.mesh.vertex_node[side] for side in sides]
    node = np.concatenate(nodes).astype(np.int32)
    handle = np.repeat(np.arange(2, dtype=np.int32), [len(side) for side in nodes])
    pull = [make_motion(name, rate=Rate(velocity=(speed, 0.0, 0.0))) for name, speed in (("l", -0.03), ("r", 0.03))]
    model = Model(
        (FILM,),
        handles=tuple(Handle(motion.name, motion, stiffness=1e5, grips=False) for motion in pull),
        gravity=(0.0, 0.0, 0.0),
        contact=ContactOptions(activation=3e-4, sheet_thickness=(1e-4,), friction=np.full((1, 1), 0.3)),
        remeshing=RemeshingOptions(SizingOptions(size_min=5e-3, size_max=0.02)),
        tearing=Tearing(initiation=False),
        frame_time=0.01,
        duration=0.05,
    )
    return model, state.replaced(pins=Pins(node, handle, np.ascontiguousarray(state.x[node])))


def test_a_trouser_tears_at_the_force_that_it_takes() -> None:
    rows = tear_trouser("alternating", 5e-3, 2e-3)
    force = 2.0 * np.array([row.force[2] for row in rows])
    assert force[1:].mean() == pytest.approx(1.0, abs=0.1)
    assert rows[-1].work == pytest.approx(rows[-1].tip[1] - 0.03, rel=1e-9)  # G_c t = 1 N
    assert not any(row.crossings for row in rows)


@pytest.mark.slow
def test_a_film_in_motion_tears_straight_and_is_resumed_bit_by_bit(tmp_path: Path) -> None:
    model, start = pulled_film()
    half = run(model, start, frames=2)
    whole = run(model, half, frames=4)
    assert whole.torn.length() > 5e-3
    assert whole.fracture_work == pytest.approx(0.2 * whole.torn.length(), rel=1e-9)
    assert np.abs(whole.torn.points[:, 0] - 0.03).max() < 2e-3
    assert not validate_mesh(whole.mesh, whole.x)
    assert not has_intersections(contact_surface(model, whole, whole.time), whole.x)
    (tmp_path / "frame").write_bytes(encode_frame(half))
    assert state_digest(run(model, decode_frame(tmp_path / "frame"), frames=4)) == state_digest(whole)


@pytest.mark.parametrize("criterion", ["griffith", "strength"])
def test_a_strip_breaks_where_it_is_narrow(criterion: str) -> None:
    mesh, _ = rectangle(0.1, 0.06, 0.008, kind="delaunay", seed=1)
    u = mesh.u.copy()
    u[:, 1] = 0.03 + (u[:, 1] - 0.03) * (1.0 - 0.35 * np.exp(-(((u[:, 0] - 0.05) / 0.015) ** 2)))
    rest = np.concatenate([u, np.zeros((len(u), 1))], axis=1)
    mesh = replace(mesh, u=u, node_rest=rest)
    ends = [np.flatnonzero(np.abs(u[:, 0] - end) < 1e-9) for end in (0.0, 0.1)]
    node = np.concatenate(ends).astype(np.int32)
    handle = np.repeat(np.arange(2, dtype=np.int32), [len(end) for end in ends])
    model = tearing_model(tearing_material(0.1, tensile_strength=2e7), contact=False)
    model = replace(model, tearing=Tearing(criterion=criterion))  # type: ignore[arg-type]
    state = initial_state(mesh, rest, pins=Pins(node, handle, rest[node].copy()), step_size=1.0)

    def stretched(state: State, way: float) -> State:
        anchor = rest[node] + np.where(handle == 0, -way, way)[:, None] * np.array([1.0, 0.0, 0.0])
        return settle(model, state.replaced(pins=moved_pins(state.pins, anchor)), frames=1)

    sound = stretched(state, 2e-4)
    assert not len(sound.torn.points)
    torn = stretched(sound, 6e-4)
    assert torn.torn.length() > 0.035
    assert not len(torn.tips.node)
    assert np.abs(torn.torn.points[:, 0] - 0.05).max() < (0.005 if criterion == "griffith" else 0.02)


def test_what_yields_around_a_tip_is_no_fold() -> None:
    model, state = pulled_film()
    bent = state.replaced(crease=state.crease + np.array([1.0, 0.0, 0.0]))
    spared = spare_tips(state, bent, model)
    tip = state.mesh.u[state.mesh.vertex_node == state.tips.node[0]][0]
    way = np.linalg.norm(state.mesh.u[state.mesh.faces].mean(axis=1) - tip, axis=1)
    near = way < PROCESS_ZONE * tip_size(model, state)
    assert 0 < np.count_nonzero(near) < len(near)
    assert np.array_equal(spared.crease[near], state.crease[near])
    assert np.array_equal(spared.crease[~near], bent.crease[~near])
    whole = state.replaced(tips=no_tips())
    assert spare_tips(whole, bent.replaced(tips=no_tips()), model).crease is bent.crease


def test_a_step_with_a_stuck_crack_is_halved_and_then_the_crack_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    model, state = pulled_film()
    calls: list[float] = []

    def stuck(moved: State, derived: Derived, step_path: StepPath, before: State) -> Tear:
        calls.append(moved.time)
        return Tear(moved, derived, 0, "1 crack(s) could not run on", is_stuck=len(calls) != 3)

    monkeypatch.setattr(phases, "tear", stuck)
    derived = Derived(model, state)
    moved, report, _ = advance_once(state, derived, model.frame_time)
    assert len(calls) == 3
    assert calls[1] == pytest.approx(0.5 * calls[0])
    assert moved.time == pytest.approx(0.25 * calls[0])
    assert report.retries == 2
    calls[:] = [0.0] * 10
    waited, report, _ = advance_once(state, derived, model.frame_time)
    assert len(calls) == 10 + SHORTENINGS + 1
    assert waited.time == pytest.approx(calls[10])
    assert "could not run on" in report.note


def test_a_crack_that_cannot_run_on_tells_why(monkeypatch: pytest.MonkeyPatch) -> None:
    model, state = pulled_film()
    monkeypatch.setattr(tearing, "open_ahead", lambda *_, **__: None)
    statistics = Statistics()
    torn = run(replace(model, remeshing=None), state, frames=3, observers=[statistics])
    assert torn.torn.length() == state.torn.length()
    notes = [report.note for report in statistics.steps if report.note]
    assert notes
    assert all("no edge ahead of it can be cut" in note for note in notes)
    assert len(statistics.steps) < 40


def test_tips_that_are_far_apart_run_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two films that are pulled apart: as long cracks as one after the other, by fewer solves."""
    film = {
        "shape": {"kind": "rectangle", "width": 0.06, "height": 0.05, "size": 0.006},
        "material": {"preset": "paper80", "tear_energy": 2e3},
        "cuts": [{"line": [[0.03, -0.01], [0.03, 0.02]]}],
    }
    tables = {
        "run": {"frame_time": 0.01, "duration": 0.06},
        "solver": {"mode": "static", "max_step": 0.01},
        "contact": {"enabled": False},
        "environment": {"gravity": [0, 0, 0]},
        "tearing": {"tip_size": 5e-3, "initiation": False},
        "sheets": [film | {"transform": {"translate": [x, 0, 0]}} for x in (0.0, 0.1)],
        "handles": [
            {
                "name": f"{side}-{1000 * x:.0f}",
                "sheet": f"sheet{round(10 * x)}",
                "select": {
                    "kind": "box",
                    "low": [x + sign * 0.025 - 0.006, -0.026, -1],
                    "high": [x + sign * 0.025 + 0.006, -0.014, 1],
                },
                "stiffness": 1e6,
                "motion": side,
            }
            for side, sign in (("left", -1), ("right", 1))
            for x in (0.0, 0.1)
        ],
        "motions": {
            side: {"rate": {"velocity": [speed, 0, 0]}} for side, speed in (("left", -0.005), ("right", 0.005))
        },
    }
    model, state, _ = build(scene_from_tables(tables))
    solve, solves = Step.solved, [0]

    def counted(*args: object, **options: object) -> object:
        solves[0] += 1
        return solve(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Step, "solved", counted)
    together = run(model, state, frames=6)
    assert len(together.tips.node) == 2
    few, solves[0] = solves[0], 0
    monkeypatch.setattr(tearing, "tips_apart", lambda _, worst, *__: [worst])
    apart = run(model, state, frames=6)
    assert apart.torn.length() > 4e-3
    assert together.torn.length() == pytest.approx(apart.torn.length(), rel=0.1)
    assert few < solves[0]


def pulled_strip(size: float, strength: float) -> list[float]:
    """Forces [N] of the grip after each of 2 % of the way to twice the `strength` [Pa], until a strip breaks."""
    wide, long = 0.015, 0.06
    strain = 2.0 * strength / 3.54e9
    tables = {
        "run": {"frame_time": 0.02, "duration": 1.0},
        "solver": {"mode": "static", "max_step": 0.02},
        "environment": {"gravity": [0, 0, 0]},
        "tearing": {},
        "sheets": [
            {
                "shape": {"kind": "rectangle", "width": long, "height": wide, "size": size},
                "material": {"preset": "paper80", "tensile_strength": strength},
            }
        ],
        "handles": [
            {"name": "left", "select": {"kind": "side", "side": "left"}, "stiffness": 1e6},
            {"name": "right", "select": {"kind": "side", "side": "right"}, "stiffness": 1e6, "motion": "pull"},
        ],
        "motions": {"pull": {"rate": {"velocity": [strain * long, 0, 0]}}},
    }
    model, state, _ = build(scene_from_tables(tables))
    statistics = Statistics()
    run(model, state, [statistics], frames=60)
    forces = [report.handles["right"].force[0] for report in statistics.steps]
    breaks = (k for k, force in enumerate(forces) if k and force < 0.1 * forces[k - 1])
    broken = next(breaks, len(forces))
    assert max(forces[broken:], default=0.0) < 1e-3  # it is in two
    return forces[:broken]


@pytest.mark.slow
@pytest.mark.parametrize("size", [4e-3, 2.5e-3])
def test_a_strip_breaks_at_its_tensile_strength_on_any_mesh(size: float) -> None:
    strength = 30e6
    assert pulled_strip(size, strength)[-1] == pytest.approx(strength * 0.015 * 105e-6, rel=0.05)


def test_a_strip_that_stores_too_little_does_not_break_at_its_strength() -> None:
    strength = 12e6  # stores 1.2 kJ/m² per cross-section where tearing takes 6
    stress = pulled_strip(5e-3, strength)[-1] / (0.015 * 105e-6)
    assert 0.5 * stress**2 / 3.54e9 * 0.06 > 0.9 * 6e3
