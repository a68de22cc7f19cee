"""Numbers over frames, followed as the log grows."""

from __future__ import annotations

import json

from crumple.studio.series import SeriesReader


def line(frame: int, **more) -> str:
    end = {"frame": frame, "faces": 10 * frame, "contacts_max": frame, "iterations": 3, "seconds": 0.5,
           "phases": {"contact": 0.1}, "energies": {"bending": 1.0, "kinetic": None}, **more}  # fmt: skip
    return json.dumps({"frame": frame, "frame_end": end}) + "\n"


def test_follows_a_log_that_grows_and_leaves_out_what_is_torn_or_broken(tmp_path):
    path = tmp_path / "log.jsonl"
    reader = SeriesReader(path)
    assert reader.series()["frame"] == []
    path.write_text(json.dumps({"frame": 1}) + "\n" + line(1) + line(2)[:-20])
    assert reader.series()["frame"] == [1]
    path.write_text(json.dumps({"frame": 1}) + "\n" + line(1) + line(2) + '{"frame_end": 3}\nnonsense "frame_end"\n')
    series = reader.series()
    assert (series["frame"], series["faces"], series["contacts"]) == ([1, 2], [10, 20], [1, 2])
    assert series["energies"] == {"bending": [1.0, 1.0], "kinetic": [None, None]}
    assert series["phases"] == {"contact": [0.1, 0.1]}


def test_reads_a_log_that_was_replaced_from_its_beginning(tmp_path):
    path = tmp_path / "log.jsonl"
    reader = SeriesReader(path)
    path.write_text("".join(line(frame) for frame in range(1, 6)))
    assert reader.series()["frame"] == [1, 2, 3, 4, 5]
    path.write_text(line(1))
    assert reader.series()["frame"] == [1]
    path.write_text("".join(line(frame, seconds=0.25) for frame in range(1, 8)))
    assert reader.series()["seconds"] == [0.25] * 7


def test_a_phase_that_comes_later_has_gaps_before(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(line(1) + line(2, phases={"contact": 0.2, "remeshing": 0.3}))
    assert SeriesReader(path).series()["phases"] == {"contact": [0.1, 0.2], "remeshing": [None, 0.3]}
