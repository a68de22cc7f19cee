"""Every column of every table has a unit and a meaning, and the page that lists them is theirs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from crumple.analysis import analyze_recording
from crumple.analysis.columns import LOG, QUANTITIES, TABLES, describe_column
from crumple.analysis.comparison import compare
from crumple.analysis.tables import tables
from crumple.recording import Recording
from crumple.scenes import scene_from_tables
from crumple.session.simulation import simulate
from crumple.studies.sweeping.metrics import MEASURES, metric_unit

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Recording:
    """Two frames of a sheet that can tear, with a crease, a handle and an obstacle, so that all tables are there."""
    sheet = {
        "shape": {"kind": "rectangle", "width": 0.06, "height": 0.04, "size": 0.015},
        "material": "paper80",
        "transform": {"translate": [0, 0, 0.01]},
        "creases": [{"line": [[0.03, 0], [0.03, 0.04]], "drive": "spring", "angle": 20}],
    }
    scene = {
        "run": {"duration": 0.02, "frame_time": 0.01},
        "sheets": [sheet],
        "tearing": {},
        "obstacles": [{"name": "floor", "shape": {"kind": "plane", "width": 1.0, "height": 1.0}}],
        "handles": [{"name": "grip", "select": {"kind": "side", "side": "left"}}],
    }
    folder = tmp_path_factory.mktemp("columns") / "run"
    simulate(scene_from_tables(scene), out=folder)
    return Recording(folder)


def test_every_number_of_an_analysis_is_described(recording):
    analysis = analyze_recording(recording)
    assert analysis.tears is not None
    for name in compare([analysis]):
        assert describe_column(name) is not None, name
    for table, (head, rows) in tables(analysis).items():
        assert list(head) == list(TABLES[table]), table
        assert all(len(row) == len(head) for row in rows), table
    unwritten = set(TABLES) - set(tables(analysis))
    assert unwritten == {"mass_size", "mileage", "confinement"}, "which only several recordings, or crumples, have"


def test_every_metric_and_every_column_of_the_log_is_described(recording):
    pytest.importorskip("pandas")
    for name in MEASURES:
        assert name in QUANTITIES, name
        assert metric_unit(f"{name}@confined") == QUANTITIES[name].unit
    found = {*recording.table("steps").columns, *recording.table("frames").columns}
    assert {"force_grip_x", "work_floor", "ledger_start", "phase_contact", "min_gap"} <= found
    for name in found:
        assert describe_column(name) is not None, name
    assert set(LOG) - {"frame"} <= found, "nothing is described that is not there"


def test_meanings_are_sentences_without_an_end_and_units_are_known():
    columns = [*QUANTITIES.items(), *LOG.items(), *(item for table in TABLES.values() for item in table.items())]
    units = {"", "s", "m", "m²", "kg", "t", "1/m", "rad", "°", "J", "J/m²", "J/m³", "N", "Pa"}
    for name, (unit, meaning) in columns:
        assert unit in units, name
        assert len(meaning) > 5, name
        assert not meaning.endswith("."), name


def test_the_page_is_that_of_the_code():
    spec = importlib.util.spec_from_file_location("columns_page", DOCS / "columns.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "columns.md").read_text(encoding="utf-8") == module.page(), "run: python docs/columns.py"
