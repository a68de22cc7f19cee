"""The benchmarks measure what they say; how fast the machine is does not matter here."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from crumple.mesh import make_sheet_mesh, validate_mesh
from crumple.runtime.errors import InputError
from crumple.scenes import build, load_scene
from crumple.shapes import rectangle
from crumple.stepping.reports import FrameReport
from crumple.studies.benchmarking import BENCHMARKS, describe_machine, run_benchmarks
from crumple.studies.benchmarking.creases import measure_creases
from crumple.studies.benchmarking.developable import measure_developable
from crumple.studies.benchmarking.episodes import measure_episodes
from crumple.studies.benchmarking.folded import subdivide
from crumple.studies.benchmarking.iteration import _advance, _flat_state
from crumple.studies.benchmarking.live import measure_live
from crumple.studies.benchmarking.report import PHASES, iteration_costs, scaling_exponent
from crumple.studies.benchmarking.starting import measure_start
from crumple.studies.benchmarking.stuffing import measure_stuffing
from crumple.studies.benchmarking.tearing import measure_tearing, uniform
from crumple.studies.benchmarking.tracing import measure_traced
from crumple.studies.benchmarking.twist import measure_twist


@pytest.mark.parametrize("divisions", [1, 2, 3])
def test_subdivision_is_the_same_surface(divisions):
    mesh, flat = rectangle(0.1, 0.07, 0.03, kind="delaunay")
    x = flat + np.random.default_rng(1).normal(0.0, 0.01, flat.shape)
    u, faces = subdivide(mesh.u, mesh.faces, divisions)
    fine = make_sheet_mesh(u, faces)
    points, again = subdivide(x, mesh.faces, divisions)
    assert np.array_equal(faces, again)
    assert validate_mesh(fine, points) == []
    assert len(faces) == divisions**2 * mesh.face_count
    assert fine.node_count == len(np.unique(np.round(u, 9), axis=0))
    assert np.abs(fine.face_area).sum() == pytest.approx(0.007)


def test_costs_add_up_to_the_whole_iteration():
    phases = {"preparation": 1.0, "energy": 0.2, "factorisation": 0.5, "solve": 0.1, "analysis": 0.2}
    frame = FrameReport(1, 0.04, 100, 3, 10, 0, 3.0, phases)
    costs = iteration_costs([frame, frame])
    assert costs["ms"] == pytest.approx(200.0)
    assert costs["ms"] == pytest.approx(sum(float(costs[phase]) for phase in (*PHASES, "other")))
    assert costs["ratio"] == pytest.approx(2.0 / 0.6)
    assert costs["ratio with analysis"] == pytest.approx(2.0 / 0.8)


def test_phases_of_a_real_run_are_known_and_nearly_complete():
    frames = _advance(*_flat_state(1), 4)
    named = set(PHASES) | {"preparation", "remeshing", "projection", "plasticity"}
    assert set().union(*(frame.phases for frame in frames)) <= named
    assert sum(frame.iterations for frame in frames) >= 4
    costs = iteration_costs(frames)
    assert all(float(costs[phase]) > 0.0 for phase in ("energy", "assembly", "factorisation", "solve", "line search"))


def test_scaling_exponent():
    assert scaling_exponent([1e3, 1e4, 1e5], [2.0, 2e1 * 10**0.5, 2e3]) == pytest.approx(1.5)
    assert np.isnan(scaling_exponent([1e3], [1.0]))


def test_twist_reports_its_steps():
    (record,) = measure_twist((8,), 3).records
    assert record["steps"] == 3
    assert record["turned [°]"] == pytest.approx(9.0)
    assert float(record["ms/step"]) >= float(record["ms/iteration"]) * float(record["iterations/step"]) * 0.3


def test_unknown_benchmark_is_refused():
    with pytest.raises(InputError, match="iteration"):
        run_benchmarks(["nothing"])
    assert set(BENCHMARKS) == {
        "iteration",
        "twist",
        "start",
        "stuffing",
        "episodes",
        "energies",
        "creases",
        "tearing",
        "developable",
        "live",
    }


def test_steps_of_episodes_are_counted():
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'crumple[learn]'")
    script, chance = measure_episodes((40,), 1).records
    assert (script["policy"], chance["policy"]) == ("script", "chance")
    assert chance["steps"] == 20
    assert 5 <= int(script["steps"]) <= 20
    assert float(script["steps/s"]) == pytest.approx(1e3 / float(script["ms/step"]))


def test_without_gymnasium_the_report_says_so(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("crumple.studies.envs")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    (record,) = measure_episodes((40,), 1).records
    assert record["policy"] == "not measured"
    assert "pip install 'crumple[learn]'" in str(record["why"])


def test_traced_energies_are_those_by_hand():
    records = measure_traced(0.05).records
    assert [(row["energy"], row["asked for"]) for row in records] == [
        ("hinge", "Hessian"), ("hinge", "value"), ("membrane", "Hessian"), ("membrane", "value"),
    ]  # fmt: skip
    for row in records:
        assert float(row["difference"]) < 1e-12
        assert float(row["ratio"]) == pytest.approx(float(row["traced [µs]"]) / float(row["by hand [µs]"]))


def test_machine_is_named():
    machine = describe_machine()
    assert machine["processor"]
    assert int(machine["cores"]) >= 1
    assert machine["numba"]


@pytest.mark.slow
def test_dense_stage_of_a_coarse_sheet():
    coarse = ("sheets[0].shape.size=0.03", "motions.shrink.keys[1].time=0.6", "run.duration=0.7")
    approach, dense, tighter = measure_stuffing(2, coarse).records
    assert approach["frames"] > 5
    assert dense["frames"] == tighter["frames"] == 2
    assert float(tighter["tolerance"]) == float(dense["tolerance"]) / 4
    assert float(dense["radius [m]"]) < 0.1
    assert float(dense["contact force [N]"]) > 0.0


@pytest.mark.long
def test_cold_start_takes_longer_than_warm_start():
    cold, warm, compilation = measure_start(1).records
    assert float(cold["first step [s]"]) > float(warm["first step [s]"])
    assert float(compilation["whole scene [s]"]) > 0.0


@pytest.mark.slow
def test_creases_are_measured_against_the_same_steps_without():
    (record,) = measure_creases(16, 2, 4).records
    assert record["faces"] == 2 * 16 * 15
    assert record["rows"] == 4 * (10 + 2 * 9 + 2 * 9)
    assert float(record["worst angle [°]"]) <= 0.1
    assert float(record["ratio"]) > 0.0


def test_meshes_of_the_tearing_benchmark_have_about_as_many_faces_as_they_say():
    for wanted in (500, 3000):
        _, state, _ = build(load_scene("tear-flat", uniform(wanted)))
        assert state.mesh.face_count == pytest.approx(wanted, rel=0.15)


@pytest.mark.slow
def test_developable_paper_is_measured_beside_the_tables():
    record, fine = measure_developable(("figure 1",), 3).records
    assert record["paper: faces"] == 118
    assert 150 <= float(fine["faces"]) > float(record["faces"])
    assert float(record["largest"]) <= 0.1
    assert 0.0 < float(record["CPU ms/frame"]) <= float(record["99 %"])


def test_a_live_session_is_measured_with_both_solvers():
    small, general = measure_live((60,), 1.0).records  # single frames differ, as rounding decides where they stop
    assert (small["solver"], general["solver"]) == ("small sheets", "general")
    assert small["faces"] == general["faces"]
    assert 0.0 < float(small["CPU ms/frame"]) <= float(small["99 %"])
    assert small["iterations/frame"] == pytest.approx(general["iterations/frame"], rel=0.2)


@pytest.mark.slow
def test_tearing_is_measured_beside_the_paper():
    (record,) = measure_tearing((500,), 3).records
    assert record["frames"] == 3
    assert float(record["torn [mm]"]) > 0.0
    assert float(record["s in the paper"]) == pytest.approx(3.05 * 3 / 25)
    assert record["intersections"] == 0
