"""The numbers of a run as tables, and its pictures in a notebook."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from crumple.recording import Recording
from crumple.runtime.errors import InputError


def test_steps(recorded):
    pytest.importorskip("pandas")
    table = Recording(recorded).table()
    assert len(table) == 8
    assert list(table["frame"]) == [1, 1, 2, 2, 3, 3, 4, 4]
    np.testing.assert_allclose(table["time"], 0.02 * np.arange(1, 9))
    assert table["iterations"].sum() == 40
    assert (table["energy_membrane"] == 1.5).all()
    assert "frame_end" not in table


def test_frames(recorded):
    pytest.importorskip("pandas")
    recording = Recording(recorded)
    table = recording.table("frames")
    assert list(table.index) == [1, 2, 3, 4]
    assert list(table["faces"]) == [recording.load(k).mesh.face_count for k in (1, 2, 3, 4)]
    assert table["phase_factor"].sum() == pytest.approx(0.4)
    assert (table["energy_membrane"] == 1.5).all()  # of the last step, for the frames have none


def test_energies_that_only_some_lines_have(recorded):
    """A column for every energy that occurs, empty where a line lacks it; contact is one of them."""
    pytest.importorskip("pandas")
    recording = Recording(recorded)
    line = {**recording.steps()[-1], "energies": {"contact": 0.25}, "frame": 5, "min_gap": None}
    del line["frame_end"]
    with open(recording.log_path, "a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
    table = recording.table()
    assert table["energy_contact"].iloc[-1] == 0.25
    assert table["energy_contact"].isna().sum() == 8
    assert np.isnan(table["min_gap"].iloc[-1])


def test_no_log_gives_empty_tables(recorded):
    pytest.importorskip("pandas")
    (recorded / "log.jsonl").unlink()
    assert len(Recording(recorded).table()) == 0
    assert len(Recording(recorded).table("frames")) == 0


def test_wrong_rows_and_missing_package(recorded, monkeypatch):
    with pytest.raises(InputError, match="steps or frames"):
        Recording(recorded).table("lines")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'crumple\[notebook\]'"):
        Recording(recorded).table()


def test_show_is_a_picture_of_several_frames(recorded, tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("pyvista")
    pytest.importorskip("matplotlib")
    strip = Recording(recorded).show(4, size=(160, 120), columns=2)
    image = imageio.imread(strip.save(tmp_path / "strip.png"))[..., :3].astype(float)
    assert image.shape == (240, 320, 3)
    assert strip._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"
    parts = [image[y : y + 120, x : x + 160] for y in (0, 120) for x in (0, 160)]
    for part in parts:
        assert np.ptp(part) > 50
    assert np.abs(parts[0] - parts[3]).mean() > 0.5  # another frame
