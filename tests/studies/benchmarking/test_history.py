"""Runs of the benchmarks are kept, found again and compared."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.runtime.errors import InputError
from crumple.studies.benchmarking import (
    Report,
    append_entry,
    compare,
    differences,
    find_entry,
    make_entry,
    read_history,
    suite,
)


def report(milliseconds: float, **others: float) -> Report:
    records = [{"state": "flat", "faces": 100, "ms": milliseconds}]
    records += [{"state": name, "faces": 200, "ms": value} for name, value in others.items()]
    return Report("speed", tuple(records), ("state", "faces"), ("ms", "iterations"))


def test_the_last_run_of_the_same_length_is_compared(tmp_path):
    path = tmp_path / "history.jsonl"
    for value, quick in ((1.0, False), (2.0, False), (9.0, True)):
        append_entry(path, make_entry({"one": report(value)}, {"cores": "2"}, quick=quick))
    history = read_history(path)
    assert len(history) == 3
    found = find_entry(history, "one", quick=False)
    assert found is not None
    assert compare(report(3.0), found.records["one"]) == [{"state": "flat", "faces": 100, "ms ×": 1.5}]
    assert find_entry(history, "another", quick=False) is None


def test_rows_and_costs_that_only_one_run_has():
    rows = compare(report(2.0, new=1.0), report(1.0, gone=1.0).records)
    assert rows == [
        {"state": "flat", "faces": 100, "ms ×": 2.0},
        {"state": "new", "faces": 200, "only": "new"},
        {"state": "gone", "faces": 200, "only": "not measured"},
    ]
    assert compare(report(2.0), report(float("nan")).records) == [{"state": "flat", "faces": 100}]


def test_torn_lines_are_left_out_and_files_without_any_are_refused(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_text('{"records": {"one": 3}}\n[]\nnothing\n')
    with pytest.raises(InputError, match="--history"):
        read_history(path)
    append_entry(path, make_entry({"one": report(1.0)}, {}, quick=True))
    path.write_bytes(path.read_bytes() + b'{"date": "20')
    assert [entry.quick for entry in read_history(path)] == [True]


def test_machines_differ_in_what_is_not_the_same():
    assert differences({"cores": "2", "mkl": "1"}, {"cores": "4", "numba": "0.6"}) == {
        "cores": "2 → 4",
        "mkl": "1 → –",
        "numba": "– → 0.6",
    }


def test_bench_compares_with_its_own_history(tmp_path, monkeypatch):
    speeds = iter([4.0, 6.0])
    monkeypatch.setitem(suite.QUICK_BENCHMARKS, "twist", lambda: report(next(speeds)))
    kept = str(tmp_path / "history.jsonl")
    first = CliRunner().invoke(app, ["bench", "twist", "--quick", "--history", kept])
    assert first.exit_code == 0, first.output
    second = CliRunner().invoke(app, ["bench", "twist", "--quick", "--history", kept, "--against", kept, "--json"])
    said = json.loads(second.output)
    assert said["records"]["twist"][0]["ms"] == 6.0
    assert said["against"]["twist"]["records"] == [{"state": "flat", "faces": 100, "ms ×": 1.5}]
    assert len(read_history(tmp_path / "history.jsonl")) == 2
