"""The table beside the paper's, from a log that is made up."""

import importlib.util
import sys
from pathlib import Path

import pytest

from crumple.runtime.errors import InputError

FILE = Path(__file__).parents[3] / "benchmarks" / "narain_table1.py"
spec = importlib.util.spec_from_file_location("narain_table1", FILE)
table1 = importlib.util.module_from_spec(spec)
sys.modules["narain_table1"] = table1
spec.loader.exec_module(table1)


def line(frame, faces, seconds, **phases):
    return {"frame": frame, "frame_end": {"frame": frame, "faces": faces, "seconds": seconds, "phases": phases}}


LOG = [
    line(1, 100, 1.0, plasticity=0.1, remeshing=0.2, energy=0.3),
    {"frame": 2, "iterations": 3},
    line(2, 3500, 3.0, contact=0.5, collision=0.25, factorisation=1.0, projection=0.1, plasticity=0.3),
    line(3, 4000, 2.0, contact=0.5, collision=0.75, plasticity=0.2),
]


def test_columns_add_up():
    times = table1.average(table1.frame_ends(LOG))
    assert times.frames == 3
    assert times.faces == pytest.approx(7600 / 3)
    assert times.seconds["collision"] == pytest.approx(2.0 / 3)
    assert times.seconds["plasticity"] == pytest.approx(0.2)
    assert sum(times.seconds.values()) == pytest.approx(times.total) == pytest.approx(2.0)


def test_comparable_frames_only():
    ends = table1.frame_ends(LOG)
    assert [end["frame"] for end in table1.comparable(ends, 3670)] == [2, 3]
    rows = table1.table_rows("fold", ends)
    assert len(rows) == 3
    assert "22.8" in rows[0]
    assert "all 3 frames" in rows[1]
    assert rows[1].endswith("11.4 × as fast")
    assert "comparable 2 frames" in rows[2]
    assert table1.table_rows("tshirt", ends)[2] == "tshirt, comparable: no frames"


@pytest.mark.parametrize("name", table1.PAPER)
def test_paper_adds_up(name):
    paper = table1.PAPER[name]
    assert sum(paper.seconds.values()) == pytest.approx(paper.total, rel=0.02)


def test_unknown_scene():
    with pytest.raises(InputError, match="Table 1 has"):
        table1.main(["ball"])


def test_recording_is_read(tmp_path, capsys):
    import json

    (tmp_path / "frames").mkdir()
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in LOG))
    table1.main([f"fold={tmp_path}"])
    out = capsys.readouterr().out
    assert "cores" in out.splitlines()[0]
    assert "fold, all 3 frames" in out
