"""Metrics by name."""

from __future__ import annotations

import pytest
from sweep_scenes import write_scene

import crumple
from crumple.analysis import analyze_recording
from crumple.analysis.tables import UNITS
from crumple.recording import Recording
from crumple.runtime.errors import InputError
from crumple.studies.sweeping.metrics import DEFAULT, MEASURES, check_metrics, measure, metric_unit


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Recording:
    folder = tmp_path_factory.mktemp("metrics")
    crumple.simulate(write_scene(folder), out=folder / "run", frames=2)
    return Recording(folder / "run")


def test_they_are_those_of_analyze(recording):
    found = measure(recording, [*MEASURES, "energy_bending"])
    summary = analyze_recording(recording, -1).summary()
    shared = set(found) & set(summary)
    assert len(shared) > 15
    for name in shared:
        assert found[name] == summary[name], name
    assert found["energy_bending"] == summary["energies"]["bending"]
    assert found["steps"] >= 2


def test_the_radius_of_gyration_of_a_flat_rectangle_does_not_depend_on_its_mesh(recording):
    exact = ((0.06**2 + 0.04**2) / 12.0) ** 0.5
    assert measure(recording, ["radius_of_gyration@0"])["radius_of_gyration@0"] == pytest.approx(exact, rel=1e-5)


def test_frames(recording):
    found = measure(recording, ["height_min@0", "height_min@1", "height_min@last", "height_min"])
    assert found["height_min@0"] > found["height_min@1"] > found["height_min"] == found["height_min@last"]
    assert measure(recording, ["radius@confined"])["radius@confined"] > 0.0


def test_ones_own(recording):
    assert measure(recording, [], {"frames": lambda r: len(r.frames), "nan": lambda r: float("nan")}) == {
        "frames": 3.0,
        "nan": None,
    }


def test_names_are_checked(recording):
    check_metrics(DEFAULT, recording.model())
    for name, said in (
        ("radios", "did you mean 'radius'"),
        ("radius@x", "after the @ comes"),
        ("radius@", "after the @ comes"),
        ("radius@99", "only 10 frames"),
        ("energy_magic", "there is no such metric"),
    ):
        with pytest.raises(InputError, match=said):
            check_metrics([name], recording.model())
    with pytest.raises(InputError, match="twice"):
        check_metrics(["radius", "radius"])


def test_the_ledger_is_measured_tabled_and_logged_alike(recording):
    names = [name for name in MEASURES if name.startswith("ledger_")]
    found = measure(recording, names)
    summary = analyze_recording(recording, -1).summary()
    last = [line for line in recording.steps() if "frame_end" in line][-1]
    assert len(names) == 17
    assert all(metric_unit(name) == UNITS[name] == "J" for name in names)
    assert all(found[name] == summary[name] for name in names)
    assert found["ledger_gravity"] == pytest.approx(last["ledger"]["gravity"], rel=1e-9, abs=1e-15)
    assert last["frame_end"]["ledger"] == last["ledger"]
