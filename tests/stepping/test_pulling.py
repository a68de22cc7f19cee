"""Handles tell the force, the way and the work: checked against Hooke's law and the balance of energies."""

import numpy as np
import pytest

from crumple.model.derived import Derived
from crumple.recording import Recording, create_recording
from crumple.scenes import build, scene_from_tables
from crumple.session.session import run
from crumple.simulation.observers import Statistics
from crumple.stepping.pulling import _work
from crumple.stepping.step import measure_energies

STRETCH, WIDTH, LENGTH, SPEED = 1e3, 0.05, 0.1, 0.01


@pytest.fixture(scope="module")
def pulled(tmp_path_factory):
    """A strip that two handles pull apart slowly, statically; its reports and its recording."""
    tables = {
        "run": {"frame_time": 0.05, "duration": 0.1},
        "solver": {"mode": "static", "fixed_step": 0.0125, "tolerance": 1e-6, "speed_tolerance": 1e-5},
        "contact": {"enabled": False},
        "environment": {"gravity": [0, 0, 0]},
        "sheets": [
            {
                "shape": {"kind": "rectangle", "width": LENGTH, "height": WIDTH, "size": 0.01},
                "material": {"stretch": STRETCH, "bend": 1e-4, "thickness": 1e-4, "density": 0.1},
            }
        ],
        "handles": [
            {"name": "fixed", "select": {"kind": "side", "side": "left"}, "stiffness": 1e7},
            {"name": "moved", "select": {"kind": "side", "side": "right"}, "stiffness": 1e7, "motion": "pull"},
        ],
        "motions": {"pull": {"rate": {"velocity": [SPEED, 0, 0]}}},
    }
    scene = scene_from_tables(tables)
    folder = tmp_path_factory.mktemp("pulled") / "out"
    statistics = Statistics()
    model, state, _ = build(scene)
    run(model, state, observers=[statistics, create_recording(folder, scene)])
    return statistics, Recording(folder)


def test_the_force_is_that_of_hookes_law_and_opposite_on_the_other_side(pulled):
    steps = pulled[0].steps
    for report in steps:
        moved, fixed = report.handles["moved"], report.handles["fixed"]
        way = SPEED * report.time
        np.testing.assert_allclose(moved.displacement, [way, 0.0, 0.0], atol=1e-12)
        np.testing.assert_allclose(fixed.displacement, 0.0, atol=1e-12)
        strain = way / LENGTH
        expected = STRETCH * WIDTH * (strain + 1.5 * strain**2)  # Saint Venant–Kirchhoff, second order
        assert moved.force[0] == pytest.approx(expected, rel=2e-3)
        assert fixed.force[0] == pytest.approx(-moved.force[0], rel=1e-3)
        assert fixed.work == 0.0


def test_the_work_is_the_energy_that_is_stored(pulled):
    statistics, _ = pulled
    work = sum(report.handles["moved"].work for report in statistics.steps)
    energies = statistics.steps[-1].energies
    stored = energies["membrane"] + energies["bending"] + energies["handles"]
    assert work == pytest.approx(stored, rel=5e-3)


def test_tables_of_a_recording_have_force_way_and_work(pulled):
    statistics, recording = pulled
    steps, frames = recording.table(), recording.table("frames")
    np.testing.assert_allclose(
        steps["force_moved_x"], [report.handles["moved"].force[0] for report in statistics.steps]
    )
    np.testing.assert_allclose(steps["displacement_moved"], SPEED * steps["time"], rtol=1e-9)
    assert frames["work_moved"].sum() == pytest.approx(steps["work_moved"].sum(), rel=1e-12)
    np.testing.assert_allclose(frames["displacement_moved"], [0.05 * SPEED, 0.1 * SPEED])


def test_the_work_along_a_crack_is_that_of_the_force_at_which_it_runs():
    """From 0 to 1 with the stiffness that would have led to 10, so over a tenth of the way, and then 1 all along."""
    assert _work(0.0, 10.0, 1.0) == pytest.approx(0.1 * 0.5 + 0.9)
    assert _work(1.0, 3.0, 3.0) == pytest.approx(2.0)  # nothing tears
    assert _work(1.0, 50.0, 0.5) == pytest.approx(0.75)  # the sheet gives way
    assert _work(-1.0, -2.0, -2.0) == pytest.approx(-1.5)


def test_a_table_bears_and_lifts_the_weight_of_a_sheet() -> None:
    """Its force is m g once the sheet lies on it, and its work m g h when it has risen by h."""
    tables = {
        "run": {"frame_time": 0.05, "duration": 2.0},
        "sheets": [
            {
                "shape": {"kind": "rectangle", "width": 0.1, "height": 0.06, "size": 0.02},
                "transform": {"translate": [0, 0, 0.001]},
                "material": "paper80",
            }
        ],
        "obstacles": [
            {
                "name": "table",
                "shape": {"kind": "box", "extent": [0.2, 0.2, 0.02]},
                "transform": {"translate": [0, 0, -0.01]},
            }
            | {"motion": "rise"}
        ],
        "motions": {"rise": {"keys": [{"time": 0.5}, {"time": 1.5, "translate": [0.03, 0, 0.1]}]}},
    }
    model, state, _ = build(scene_from_tables(tables))
    statistics = Statistics()
    run(model, state, [statistics])
    weight = 0.08 * 0.1 * 0.06 * 9.81
    pulls = [report.obstacles["table"] for report in statistics.steps]
    assert pulls[-1].force[2] == pytest.approx(weight, rel=0.01)
    assert pulls[-1].displacement == pytest.approx((0.03, 0.0, 0.1), abs=1e-9)
    assert sum(pull.work for pull in pulls) == pytest.approx(weight * 0.1, rel=0.02)


@pytest.mark.parametrize("remeshing", [None, {"size_min": 5e-3, "size_max": 0.02, "refine_angle": 0.2}])
def test_a_clamp_that_turns_and_pushes_stores_its_work_in_the_strip(remeshing: dict[str, float] | None) -> None:
    """Also where the mesh, and with it the nodes that the clamp holds, is another one in every frame."""
    tables = {
        "run": {"frame_time": 0.05, "duration": 1.0},
        "solver": {"mode": "static", "max_step": 0.05},
        "contact": {"enabled": False},
        "environment": {"gravity": [0, 0, 0]},
        "plasticity": {"rule": "none"},
        "sheets": [
            {
                "shape": {"kind": "rectangle", "width": 0.1, "height": 0.03, "size": 0.01},
                "material": "paper80",
            }
        ],
        "handles": [
            {"name": name, "select": {"kind": "box", "low": [low, -1, -1], "high": [high, 1, 1]}, "stiffness": 1e4}
            | ({"motion": "bend"} if name == "right" else {})
            for name, low, high in (("left", -0.06, -0.035), ("right", 0.035, 0.06))
        ],
        "motions": {
            "bend": {
                "center": [0.05, 0, 0],
                "keys": [
                    {"time": 0},
                    {"time": 1, "translate": [-0.01, 0, 0.01], "rotate": {"angle": -30, "axis": [0, 1, 0]}},
                ],
            }
        },
    }
    if remeshing is not None:
        tables["remeshing"] = remeshing
    model, state, _ = build(scene_from_tables(tables))
    statistics = Statistics()
    last = run(model, state, [statistics])
    work = sum(pull.work for report in statistics.steps for pull in report.handles.values())
    stored = sum(measure_energies(last, Derived(model, last)).values())
    assert work == pytest.approx(stored, rel=0.05)
